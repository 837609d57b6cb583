"""The entities of a blueprint as rectangles of tiles. Jax-free.

In: the JSON object of one blueprint. Out: pieces on a grid whose (0, 0) is the top left of all
that may move items; what has no effect on items lies around it. Positions in a blueprint are
centres and may be negative (R50).
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

from envs.blueprint.game import (
    CHESTS,
    FIRST_OF_2_0,
    IGNORED,
    SUPPORTED,
    TRACKS,
    TURN_UNITS,
    TURN_UNITS_BEFORE_2_0,
    UNSUPPORTED,
    Touch,
)
from envs.blueprint.text import BlueprintError, shown
from envs.catalogue import MACHINES
from envs.layout import MAX_SIZE

MAX_COORDINATE = 2_000_000
"""Largest coordinate that is read; the game's map ends at 1,000,000."""

MAX_ENTITIES = 100_000
"""Most entities that are read; each takes about 50 microseconds and 3 kB."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One entity of a blueprint.

    Attributes:
        name: the game's name.
        x, y: top-left tile.
        width, height: footprint in tiles as it stands.
        direction: 0..3 for N, E, S, W as the blueprint says it (an inserter's pickup side).
        fields: the entity's other fields, as they are.
    """

    name: str
    x: int
    y: int
    width: int
    height: int
    direction: int
    fields: Mapping[str, Any] = field(repr=False)

    def tiles(self) -> Iterable[tuple[int, int]]:
        """(x, y) of every tile of the footprint."""
        return ((self.x + dx, self.y + dy) for dy in range(self.height) for dx in range(self.width))

    @property
    def counts(self) -> bool:
        """Whether it may hold, move or make items."""
        return self.name not in IGNORED and self.name not in TRACKS


@dataclass(frozen=True, slots=True)
class Pieces:
    """A blueprint's entities; `width` x `height` tiles hold every piece that counts."""

    width: int
    height: int
    pieces: tuple[Piece, ...]
    before_2_0: bool


def read_pieces(blueprint: Mapping[str, Any]) -> Pieces:
    """The pieces of a blueprint.

    Raises BlueprintError for entities without a name or place, off the grid of tiles, turned in
    between, overlapping, too far apart, or where 1.1 and 2.0 cannot be told apart.
    """
    entities = blueprint.get("entities")
    if not isinstance(entities, list) or not entities:
        raise BlueprintError("the blueprint holds no entities")
    if len(entities) > MAX_ENTITIES:
        raise BlueprintError(
            f"the blueprint holds {len(entities):,} entities; at most {MAX_ENTITIES:,} are read"
        )
    for entity in entities:
        if not isinstance(entity, Mapping) or not isinstance(entity.get("name"), str):
            raise BlueprintError("an entity of the blueprint is not an object with a name")
    units = _turn_units(blueprint.get("version"), entities)
    pieces = [_piece(entity, units) for entity in entities]
    counting = [piece for piece in pieces if piece.counts]
    if not counting:
        raise BlueprintError("the blueprint holds nothing that moves or makes items")
    left, top = min(piece.x for piece in counting), min(piece.y for piece in counting)
    width = max(piece.x + piece.width for piece in counting) - left
    height = max(piece.y + piece.height for piece in counting) - top
    if width > MAX_SIZE or height > MAX_SIZE:
        raise BlueprintError(
            f"the blueprint spans {width} x {height} tiles; each side may have {MAX_SIZE}"
        )
    moved = tuple(replace(piece, x=piece.x - left, y=piece.y - top) for piece in pieces)
    _check_overlap(piece for piece in moved if piece.counts)
    return Pieces(width, height, moved, units == TURN_UNITS_BEFORE_2_0)


def _check_overlap(pieces: Iterable[Piece]) -> None:
    owner: dict[tuple[int, int], Piece] = {}
    for piece in pieces:
        for tile in piece.tiles():
            other = owner.setdefault(tile, piece)
            if other is not piece:
                raise BlueprintError(
                    f"{shown(piece.name)} and {shown(other.name)} overlap at tile "
                    f"{tile} counted from the top left"
                )


def _is_whole(value: object) -> TypeGuard[int]:
    return type(value) is int


def _is_directed(name: str) -> bool:
    """Whether a wrong direction would send items elsewhere."""
    if name in UNSUPPORTED:
        return UNSUPPORTED[name].touch in (Touch.LINE, Touch.SWING)
    return SUPPORTED.get(name) in ("belt", "inserter")


def _turn_units(version: object, entities: list[Mapping[str, Any]]) -> int:
    """Units of `direction` in a full turn: by `version`, else by the directions themselves.

    Belts and inserters look north, east, south or west. 2 and 6 are east and west only before
    2.0, 8 and 12 only since; 0 is north in both. With nothing but 0 and 4 (which is south before
    2.0, east since) a blueprint without version is refused.
    """
    if version is not None and (not _is_whole(version) or not 0 <= version < 1 << 64):
        raise BlueprintError(
            f"the blueprint's version is {shown(version)}; "
            "it is a whole number, major << 48 | minor << 32 | patch << 16"
        )
    if version:
        return TURN_UNITS if version >= FIRST_OF_2_0 else TURN_UNITS_BEFORE_2_0
    used = {
        entity.get("direction", 0)
        for entity in entities
        if _is_directed(entity["name"]) and _is_whole(entity.get("direction", 0))
    }
    old, new = used & {2, 6}, used & {8, 12}
    if bool(old) == bool(new) and used - {0}:
        raise BlueprintError(
            "the blueprint has no version, and its directions do not tell 1.1 from 2.0; "
            'add "version": 281479278886912 (1.1) or 562949953421312 (2.0)'
        )
    return TURN_UNITS_BEFORE_2_0 if old else TURN_UNITS


def _piece(entity: Mapping[str, Any], units: int) -> Piece:
    name = entity["name"]
    x, y = _centre(entity)
    direction = _direction(entity, units)
    width, height = _footprint(name)
    if direction % 2:
        width, height = height, width
    left, top = x - width / 2, y - height / 2
    on_grid = left % 1 == 0 and top % 1 == 0
    if not on_grid and (name in SUPPORTED or name in CHESTS or name in UNSUPPORTED):
        raise BlueprintError(
            f"{shown(name)} at ({x:g}, {y:g}) is not on the grid of tiles; "
            f"the centre of {width} x {height} tiles is meant"
        )
    return Piece(name, math.floor(left), math.floor(top), width, height, direction, entity)


def _footprint(name: str) -> tuple[int, int]:
    if name in UNSUPPORTED:
        return UNSUPPORTED[name].width, UNSUPPORTED[name].height
    if name in MACHINES:
        return MACHINES[name].size, MACHINES[name].size
    return IGNORED.get(name) or TRACKS.get(name) or (1, 1)


def _centre(entity: Mapping[str, Any]) -> tuple[float, float]:
    position = entity.get("position")
    position = position if isinstance(position, Mapping) else {}
    x, y = position.get("x"), position.get("y")
    for value in (x, y):
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise BlueprintError(f"{shown(entity['name'])} has no position with numbers x and y")
        if not -MAX_COORDINATE <= value <= MAX_COORDINATE:
            raise BlueprintError(
                f"{shown(entity['name'])} is at {shown(value)}; "
                f"coordinates go up to {MAX_COORDINATE:,}"
            )
    assert x is not None
    assert y is not None
    return float(x), float(y)


def _direction(entity: Mapping[str, Any], units: int) -> int:
    """0..3; between two of them only for what does not turn with the flow."""
    name, value = entity["name"], entity.get("direction", 0)
    if not _is_whole(value) or not 0 <= value < TURN_UNITS:
        raise BlueprintError(f"{shown(name)} has direction {shown(value)}, which is none")
    quarter = units // 4
    if _is_directed(name) and (value % quarter or value >= units):
        game = "2.0" if units == TURN_UNITS else "1.1"
        raise BlueprintError(
            f"{shown(name)} has direction {value}; in version {game} it is one of "
            f"0, {quarter}, {2 * quarter} and {3 * quarter}"
        )
    return value // quarter % 4
