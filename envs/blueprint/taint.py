"""What the entities that are not simulated make unknown. Jax-free.

In: a blueprint's structure. Out: the numbers of the entities whose items an entity that is not
simulated may change. Back-pressure travels against the flow, so that everything joined to one by
belts, arms and machines in either direction is unknown.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from envs.blueprint.game import BEACON_TILES, Touch
from envs.blueprint.pieces import Piece
from envs.blueprint.structure import Omitted, Structure, swing_ends
from envs.item_flow import Tile, arm_ends, reached, tile_ahead
from envs.layout import BELT_KINDS, DIRECTION_VECTORS, MACHINE_KINDS, Entity


@dataclass(frozen=True, slots=True)
class Taint:
    """Entity numbers.

    Attributes:
        unknown: entities whose items may be changed by something that is not simulated.
        fed: belts onto which something that is not simulated may put items.
    """

    unknown: frozenset[int]
    fed: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Places:
    """Entity numbers by tile: standing there, arms that end there, belts that point there."""

    entities: Sequence[Entity]
    at: dict[Tile, int]
    arms: dict[Tile, list[int]]
    pointing: dict[Tile, list[int]]


def find_taint(structure: Structure, changed: Iterable[int] = ()) -> Taint:
    """Follows every entity that is not simulated; `changed` are further entity numbers of them."""
    places = _places(structure.entities)
    if any(one.touch is None for one in structure.omitted):
        belts = [n for n, one in enumerate(structure.entities) if one.kind in BELT_KINDS]
        return Taint(frozenset(range(len(structure.entities))), frozenset(belts))
    start = {*structure.objections, *changed}
    fed: set[int] = set()
    for one in structure.omitted:
        start |= _touched(one, places)
        fed |= _fed(one, places)
    for track in structure.tracks:
        start |= _arms_at(track.tiles(), places)
    return Taint(frozenset(_joined(start, places)), frozenset(fed))


def _places(entities: Sequence[Entity]) -> _Places:
    at = {tile: number for number, entity in enumerate(entities) for tile in entity.tiles()}
    arms: dict[Tile, list[int]] = defaultdict(list)
    pointing: dict[Tile, list[int]] = defaultdict(list)
    for number, entity in enumerate(entities):
        if entity.kind == "inserter":
            for tile in arm_ends(entity):
                arms[tile].append(number)
        elif entity.kind in BELT_KINDS:
            pointing[tile_ahead(entity)].append(number)
    return _Places(entities, at, dict(arms), dict(pointing))


def _arms_at(tiles: Iterable[Tile], places: _Places) -> set[int]:
    return {number for tile in tiles for number in places.arms.get(tile, ())}


def _standing(tiles: Iterable[Tile], places: _Places, kinds: Sequence[str]) -> set[int]:
    """Entities of some kinds on these tiles."""
    found = {places.at[tile] for tile in tiles if tile in places.at}
    return {number for number in found if places.entities[number].kind in kinds}


def _touched(one: Omitted, places: _Places) -> set[int]:
    """Entities that an omitted piece acts on at once."""
    tiles = list(one.piece.tiles())
    touched = _arms_at(tiles, places)
    if one.touch in (Touch.LINE, Touch.EDGE):
        touched |= {number for tile in tiles for number in places.pointing.get(tile, ())}
    if one.touch is Touch.LINE:
        touched |= _standing(_front(one.piece), places, BELT_KINDS)
    elif one.touch is Touch.EDGE:
        kinds = (*BELT_KINDS, *MACHINE_KINDS, "chest_src", "chest_sink")
        touched |= _standing(_edge(one.piece, 1), places, kinds)
    elif one.touch is Touch.AREA:
        touched |= _standing(_edge(one.piece, BEACON_TILES), places, MACHINE_KINDS)
    elif one.touch is Touch.SWING:
        touched |= {places.at[tile] for tile in swing_ends(one.piece) if tile in places.at}
    return touched


def _fed(one: Omitted, places: _Places) -> set[int]:
    """Belts onto which an omitted piece may put items, itself or through an inserter."""
    own = set(one.piece.tiles())
    arms = [places.entities[number] for number in _arms_at(own, places)]
    drops = [drop for pickup, drop in map(arm_ends, arms) if pickup in own]
    return _standing(drops, places, BELT_KINDS) | _fed_directly(one, places)


def _fed_directly(one: Omitted, places: _Places) -> set[int]:
    if one.touch is Touch.SWING:
        return _standing(swing_ends(one.piece)[1:], places, BELT_KINDS)
    if one.touch is Touch.LINE:
        return _standing(_front(one.piece), places, BELT_KINDS)
    if one.touch is not Touch.EDGE:
        return set()
    leading_in = {number for tile in one.piece.tiles() for number in places.pointing.get(tile, ())}
    return _standing(_edge(one.piece, 1), places, BELT_KINDS) - leading_in


def _front(piece: Piece) -> list[Tile]:
    """Tiles that a belt-like piece moves items onto; none at the entrance of an underground."""
    if piece.fields.get("type") == "input":
        return []
    dx, dy = DIRECTION_VECTORS[piece.direction]
    own = set(piece.tiles())
    return [(x + dx, y + dy) for x, y in own if (x + dx, y + dy) not in own]


def _edge(piece: Piece, tiles: int) -> list[Tile]:
    """Tiles around a piece up to `tiles` away; at distance 1 without the corners."""
    xs = range(piece.x - tiles, piece.x + piece.width + tiles)
    ys = range(piece.y - tiles, piece.y + piece.height + tiles)
    own_x = range(piece.x, piece.x + piece.width)
    own_y = range(piece.y, piece.y + piece.height)
    return [(x, y) for y in ys for x in xs if tiles > 1 or (x in own_x) != (y in own_y)]


def _joined(start: set[int], places: _Places) -> set[int]:
    """Everything joined to these entities by belts and arms, whatever way items go."""
    neighbours: dict[int, list[int]] = defaultdict(list)
    for number, entity in enumerate(places.entities):
        tiles: Sequence[Tile] = ()
        if entity.kind == "inserter":
            tiles = arm_ends(entity)
        elif entity.kind in BELT_KINDS:
            tiles = (tile_ahead(entity),)
        for other in (places.at[tile] for tile in tiles if tile in places.at):
            if entity.kind == "inserter" or places.entities[other].kind in BELT_KINDS:
                neighbours[number].append(other)
                neighbours[other].append(number)
    return reached(neighbours, start)
