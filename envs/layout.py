"""A layout: ports and entities on a grid (R3-R6). Jax-free.

`Layout` is what the verifier reads, the renderer draws and files hold (`layout_json`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from envs.catalogue import ARMS, MACHINES, RECIPES, SMELTING, Recipe
from envs.errors import UserError

NORTH, EAST, SOUTH, WEST = 0, 1, 2, 3
DIRECTION_NAMES = "NESW"
DIRECTION_VECTORS: tuple[tuple[int, int], ...] = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""(dx, dy) of N, E, S, W; y grows downwards (R5)."""

DEFAULT_SIZE = 12

MAX_SIZE = 1_000
"""Longest side of a grid, tiles; tables grow with the area."""

PROTOTYPES: dict[str, tuple[str, ...]] = {
    "belt": ("transport-belt",),
    "source": ("transport-belt",),
    "sink": ("transport-belt",),
    "inserter": tuple(ARMS),
    "asm": tuple(name for name, machine in MACHINES.items() if not machine.smelts),
    "furnace": tuple(name for name, machine in MACHINES.items() if machine.smelts),
    "chest_src": ("wooden-chest",),
    "chest_sink": ("wooden-chest",),
}
"""The game's entities for each kind, the default first."""

KINDS = tuple(PROTOTYPES)
BELT_KINDS = ("belt", "source", "sink")
DIRECTED_KINDS = (*BELT_KINDS, "inserter")
MACHINE_KINDS = ("asm", "furnace")
SINK_KINDS = ("sink", "chest_sink")
ITEM_FIELDS = {
    "source": ("left", "right"),
    "sink": ("item",),
    "chest_src": ("item",),
    "chest_sink": ("item",),
}
"""Fields that hold item names, by kind."""


class LayoutError(UserError):
    """A layout that breaks R3 or R4: no rate can be reported."""


@dataclass(frozen=True, slots=True)
class Entity:
    """One entity. `x`, `y`: its tile, for a machine the top-left one of its footprint.

    Attributes:
        kind: one of `KINDS`.
        direction: flow of a belt, source or sink; drop side of an inserter; None for others.
        recipe: product made by a machine, None if it has no recipe (R41).
        item: scored item of a sink or chest_sink; what a chest_src gives.
        left, right: items fed into the lanes of a source, None for an empty lane (R17).
        prototype: the game's name, one of `PROTOTYPES[kind]`; filled in with the default.
    """

    kind: str
    x: int
    y: int
    direction: int | None = None
    recipe: str | None = None
    item: str | None = None
    left: str | None = None
    right: str | None = None
    prototype: str = ""

    def __post_init__(self) -> None:
        if not self.prototype:
            object.__setattr__(self, "prototype", PROTOTYPES.get(self.kind, ("",))[0])

    @property
    def size(self) -> int:
        """Side of the square footprint in tiles."""
        return MACHINES[self.prototype].size if self.prototype in MACHINES else 1

    @property
    def reach(self) -> int:
        """Tiles from an inserter to its pickup and to its drop tile (R6)."""
        return ARMS[self.prototype].reach_tiles

    def tiles(self) -> list[tuple[int, int]]:
        """(x, y) of every tile of the footprint."""
        span = range(self.size)
        return [(self.x + dx, self.y + dy) for dy in span for dx in span]


@dataclass(frozen=True, slots=True)
class Layout:
    """Entities on a grid of `width` x `height` tiles; their order carries no meaning."""

    width: int
    height: int
    entities: tuple[Entity, ...]


def recipes_of(kind: str) -> Mapping[str, Recipe]:
    """The recipes that machines of a kind can make, by name."""
    return SMELTING if kind == "furnace" else RECIPES


def validate(layout: Layout) -> None:
    """Raises LayoutError, naming the entity, where the layout breaks R4."""
    if not (1 <= layout.width <= MAX_SIZE and 1 <= layout.height <= MAX_SIZE):
        raise LayoutError(
            f"the grid is {layout.width} x {layout.height} tiles; "
            f"each side must be from 1 to {MAX_SIZE}"
        )
    owner: dict[tuple[int, int], Entity] = {}
    for entity in layout.entities:
        _check(entity)
        for tile in entity.tiles():
            if not (0 <= tile[0] < layout.width and 0 <= tile[1] < layout.height):
                raise LayoutError(
                    f"{entity.kind} at ({entity.x}, {entity.y}) leaves the grid of "
                    f"{layout.width} x {layout.height} tiles; move it or enlarge the grid"
                )
            if tile in owner:
                raise LayoutError(
                    f"{entity.kind} at ({entity.x}, {entity.y}) overlaps the "
                    f"{owner[tile].kind} at ({owner[tile].x}, {owner[tile].y}); remove one"
                )
            owner[tile] = entity


def _check(entity: Entity) -> None:
    """Raises LayoutError where an entity alone breaks R4."""
    where = f"{entity.kind} at ({entity.x}, {entity.y})"
    if entity.kind not in KINDS:
        raise LayoutError(f"unknown entity kind {entity.kind!r}; known are {', '.join(KINDS)}")
    known = PROTOTYPES[entity.kind]
    if entity.prototype not in known:
        raise LayoutError(
            f"{where}: type {entity.prototype!r} is not known; known are {', '.join(known)}"
        )
    if entity.kind in DIRECTED_KINDS and entity.direction not in (0, 1, 2, 3):
        raise LayoutError(
            f"{where} has direction {entity.direction!r}; give 0, 1, 2 or 3 for N, E, S or W"
        )
    recipes = recipes_of(entity.kind)
    if entity.kind in MACHINE_KINDS and entity.recipe is not None and entity.recipe not in recipes:
        raise LayoutError(
            f"{where}: {entity.recipe!r} is no recipe of {entity.prototype}; "
            f"known are {', '.join(recipes)}"
        )
