"""Which pieces of a blueprint the simulation takes up, and as what. Jax-free.

In: pieces. Out: the entities of a layout whose ports are not known yet, everything left out and
why, and the role of each chest: one that inserters only fill counts what it gets, one that they
only empty never runs out (R42).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from envs.blueprint.game import CHESTS, SUPPORTED, TRACKS, UNSUPPORTED, Touch
from envs.blueprint.pieces import Piece, Pieces
from envs.blueprint.settings import objection, requested_items
from envs.catalogue import ARMS, RECIPES
from envs.item_flow import Tile, arm_ends
from envs.layout import DIRECTION_VECTORS, Entity

_BUFFER = "inserters fill and empty it, and stocks are not simulated"
_NEVER_FILLED = "inserters empty it, and nothing that is simulated fills it"

ON_GROUND = "it hands items over on the ground"
"""Objection to an inserter, as long as nothing stands where another inserter goes on."""


@dataclass(frozen=True, slots=True)
class Omitted:
    """A piece that is not in the layout although items may pass through it."""

    piece: Piece
    touch: Touch | None
    """None: its effect is unknown."""
    reason: str


@dataclass(frozen=True, slots=True)
class Structure:
    """A blueprint's entities before its ports are known.

    Attributes:
        entities: belts, inserters, machines and chests without items, in row-major order.
        names: the game's name of each.
        objections: by entity number, why it is not simulated as it is set.
        omitted: pieces that take part but have no place in a layout.
        tracks: pieces at which inserters may load trains.
        ignored: pieces without effect on items.
        requested: by entity number, items that a chest asks robots for.
        occupied: tiles of all pieces but tracks.
    """

    entities: tuple[Entity, ...]
    names: tuple[str, ...]
    objections: Mapping[int, str]
    omitted: tuple[Omitted, ...]
    tracks: tuple[Piece, ...]
    ignored: tuple[Piece, ...]
    requested: Mapping[int, tuple[str, ...]]
    occupied: frozenset[Tile]


def swing_ends(piece: Piece) -> tuple[Tile, Tile]:
    """(pickup tile, drop tile) of an inserter; its direction points at the pickup (R50)."""
    dx, dy = DIRECTION_VECTORS[piece.direction]
    reach = ARMS[piece.name].reach_tiles if piece.name in ARMS else 1
    return (
        (piece.x + dx * reach, piece.y + dy * reach),
        (piece.x - dx * reach, piece.y - dy * reach),
    )


def read_structure(grid: Pieces) -> Structure:
    """Sorts pieces into those that are simulated, left out, and without effect."""
    pieces = sorted(grid.pieces, key=lambda piece: (piece.y, piece.x))
    kinds, omitted = _chest_kinds(pieces)
    taken = [piece for piece in pieces if piece.name in SUPPORTED or _place(piece) in kinds]
    entities = [_entity(piece, kinds) for piece in taken]
    objections = {
        number: reason
        for number, piece in enumerate(taken)
        if piece.name in SUPPORTED
        if (reason := objection(SUPPORTED[piece.name], piece.fields, grid.before_2_0))
    }
    on_ground = _ground_pairs(entities, {tile for piece in pieces for tile in piece.tiles()})
    for piece in pieces:
        if piece.name in UNSUPPORTED:
            known = UNSUPPORTED[piece.name]
            omitted.append(Omitted(piece, known.touch, known.reason))
        elif piece.counts and piece.name not in SUPPORTED and piece.name not in CHESTS:
            omitted.append(Omitted(piece, None, "its name is not known"))
    left_out = {_place(one.piece) for one in omitted} | kinds.keys()
    idle = [piece for piece in pieces if piece.name in CHESTS and _place(piece) not in left_out]
    without_effect = [piece for piece in pieces if not piece.counts and piece.name not in TRACKS]
    return Structure(
        entities=tuple(entities),
        names=tuple(piece.name for piece in taken),
        objections={**dict.fromkeys(on_ground, ON_GROUND), **objections},
        omitted=tuple(omitted),
        tracks=tuple(piece for piece in pieces if piece.name in TRACKS),
        ignored=(*without_effect, *idle),
        requested={
            number: requested_items(piece.fields)
            for number, piece in enumerate(taken)
            if entities[number].kind == "chest_src"
        },
        occupied=frozenset(
            tile for piece in pieces if piece.name not in TRACKS for tile in piece.tiles()
        ),
    )


def _place(piece: Piece) -> Tile:
    return piece.x, piece.y


def _is_arm(piece: Piece) -> bool:
    if piece.name in UNSUPPORTED:
        return UNSUPPORTED[piece.name].touch is Touch.SWING
    return SUPPORTED.get(piece.name) == "inserter"


def _chest_kinds(pieces: Sequence[Piece]) -> tuple[dict[Tile, str], list[Omitted]]:
    """Kind of each chest that is simulated by its tile, and the chests that are left out."""
    arms = [swing_ends(piece) for piece in pieces if _is_arm(piece)]
    holding = {
        tile for piece in pieces if piece.counts and not _is_arm(piece) for tile in piece.tiles()
    }
    emptied = {pickup for pickup, drop in arms if drop in holding}
    filled = {drop for pickup, drop in arms if pickup in holding}
    kinds: dict[Tile, str] = {}
    omitted = []
    for chest in (piece for piece in pieces if piece.name in CHESTS):
        use, place = CHESTS[chest.name], _place(chest)
        if chest.fields.get("bar") is not None:
            omitted.append(Omitted(chest, Touch.ARMS, "blocked slots are not simulated"))
        elif place in emptied and place in filled:
            omitted.append(Omitted(chest, Touch.ARMS, _BUFFER))
        elif place in emptied and not use.gives:
            omitted.append(Omitted(chest, Touch.ARMS, _NEVER_FILLED))
        elif place in emptied and len(requested_items(chest.fields)) > 1:
            omitted.append(Omitted(chest, Touch.ARMS, "it asks robots for several items"))
        elif place in emptied or place in filled:
            kinds[place] = "chest_src" if place in emptied else "chest_sink"
    return kinds, omitted


def _entity(piece: Piece, kinds: Mapping[Tile, str]) -> Entity:
    if piece.name in CHESTS:
        return Entity(kinds[_place(piece)], piece.x, piece.y)
    kind = SUPPORTED[piece.name]
    entity = Entity(kind, piece.x, piece.y, prototype=piece.name)
    recipe = piece.fields.get("recipe")
    if kind == "asm" and isinstance(recipe, str) and recipe in RECIPES:
        return replace(entity, recipe=recipe)
    if kind == "inserter":
        return replace(entity, direction=(piece.direction + 2) % 4)
    return replace(entity, direction=piece.direction) if kind == "belt" else entity


def _ground_pairs(entities: Sequence[Entity], occupied: set[Tile]) -> list[int]:
    """Arms that drop on, or pick from, a free tile where another arm does the opposite."""
    ends = {
        number: arm_ends(entity)
        for number, entity in enumerate(entities)
        if entity.kind == "inserter"
    }
    picked = {pickup for pickup, _ in ends.values()} - occupied
    dropped = {drop for _, drop in ends.values()} - occupied
    shared = picked & dropped
    return [number for number, (pickup, drop) in ends.items() if {pickup, drop} & shared]


def counted(pieces: Iterable[Piece]) -> tuple[str, ...]:
    """Names with how often they occur, e.g. "4 medium-electric-pole", sorted by name."""
    totals = Counter(piece.name for piece in pieces)
    return tuple(f"{totals[name]} {name}" for name in sorted(totals))
