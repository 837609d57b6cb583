"""A layout: ports and entities on a grid, and its JSON form (R3-R5). Jax-free.

`Layout` is what the verifier reads, the renderer draws and files hold. Entities supported by
this version: belt, source, sink, inserter, asm (assembling machine 1).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from envs.catalogue import MACHINE_SIZE, RECIPES
from envs.errors import UserError

NORTH, EAST, SOUTH, WEST = 0, 1, 2, 3
DIRECTION_NAMES = "NESW"
DIRECTION_VECTORS: tuple[tuple[int, int], ...] = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""(dx, dy) of N, E, S, W; y grows downwards (R5)."""

DEFAULT_SIZE = 12

MAX_SIZE = 1_000
"""Longest side of a grid, tiles; tables grow with the area."""

KINDS = ("belt", "source", "sink", "inserter", "asm")
_TYPES = {"inserter": ("inserter",), "asm": ("assembling-machine-1",)}


class LayoutError(UserError):
    """A layout that breaks R3 or R4: no rate can be reported."""


@dataclass(frozen=True, slots=True)
class Entity:
    """One entity. `x`, `y`: its tile, for an asm the top-left of its 3x3 tiles.

    Attributes:
        kind: one of `KINDS`.
        direction: flow of a belt, source or sink; drop side of an inserter; None for an asm.
        recipe: product made by an asm, None if it has no recipe (R41).
        item: scored item of a sink.
        left, right: items fed into the lanes of a source, None for an empty lane (R17).
    """

    kind: str
    x: int
    y: int
    direction: int | None = None
    recipe: str | None = None
    item: str | None = None
    left: str | None = None
    right: str | None = None

    @property
    def size(self) -> int:
        """Side of the square footprint in tiles."""
        return MACHINE_SIZE if self.kind == "asm" else 1

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


def validate(layout: Layout) -> None:
    """Raises LayoutError, naming the entity, where the layout breaks R4."""
    if not (1 <= layout.width <= MAX_SIZE and 1 <= layout.height <= MAX_SIZE):
        raise LayoutError(
            f"the grid is {layout.width} x {layout.height} tiles; "
            f"each side must be from 1 to {MAX_SIZE}"
        )
    owner: dict[tuple[int, int], Entity] = {}
    for entity in layout.entities:
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


def entity_from_json(obj: Mapping[str, Any]) -> Entity:
    """One entity of the JSON format; unknown fields are ignored (R3). Raises LayoutError."""
    kind = obj.get("k")
    if kind not in KINDS:
        raise LayoutError(f"unknown entity kind {kind!r}; this version knows {', '.join(KINDS)}")
    where = f"{kind} {dict(obj)}"
    x, y = obj.get("x"), obj.get("y")
    if type(x) is not int or type(y) is not int:
        raise LayoutError(f"{where}: x and y must be whole numbers")
    entity = Entity(kind, x, y)
    if kind in _TYPES and obj.get("t", _TYPES[kind][0]) not in _TYPES[kind]:
        raise LayoutError(
            f"{where}: type {obj['t']!r} is not known; this version knows {', '.join(_TYPES[kind])}"
        )
    if kind == "asm":
        recipe = obj.get("recipe")
        if recipe is not None and (not isinstance(recipe, str) or recipe not in RECIPES):
            raise LayoutError(
                f"{where}: {recipe!r} is no recipe of an assembling machine; "
                f"known are {', '.join(RECIPES)}"
            )
        return replace(entity, recipe=recipe)
    direction = obj.get("d")
    if not isinstance(direction, str) or direction not in tuple(DIRECTION_NAMES):
        raise LayoutError(f"{where}: direction d must be one of N, E, S, W")
    entity = replace(entity, direction=DIRECTION_NAMES.index(direction))
    for name in {"source": ("left", "right"), "sink": ("item",)}.get(kind, ()):
        item = obj.get(name)
        if item is not None and not isinstance(item, str):
            raise LayoutError(f"{where}: {name} must be an item name or null")
        entity = replace(entity, **{name: item})
    return entity


def entity_to_json(entity: Entity) -> dict[str, Any]:
    """The JSON form of one entity (R3)."""
    obj: dict[str, Any] = {"k": entity.kind, "x": entity.x, "y": entity.y}
    if entity.direction is not None:
        obj["d"] = DIRECTION_NAMES[entity.direction]
    if entity.kind == "asm":
        obj["recipe"] = entity.recipe
    elif entity.kind == "source":
        obj |= {"left": entity.left, "right": entity.right}
    elif entity.kind == "sink":
        obj["item"] = entity.item
    return obj


def layout_from_json(obj: Mapping[str, Any]) -> Layout:
    """A validated layout from the JSON format (R3). Raises LayoutError."""
    if not isinstance(obj, Mapping) or not isinstance(obj.get("entities"), list):
        raise LayoutError("a layout is a JSON object with a list named 'entities'")
    size = {name: obj.get(name, DEFAULT_SIZE) for name in ("width", "height")}
    for name, value in size.items():
        if type(value) is not int:
            raise LayoutError(f"{name} is {value!r}; it must be a whole number")
    for entry in obj["entities"]:
        if not isinstance(entry, Mapping):
            raise LayoutError(f"an entity is a JSON object, not {entry!r}")
    layout = Layout(**size, entities=tuple(entity_from_json(entry) for entry in obj["entities"]))
    validate(layout)
    return layout


def layout_to_json(layout: Layout) -> dict[str, Any]:
    """The JSON form of a layout (R3)."""
    return {
        "width": layout.width,
        "height": layout.height,
        "entities": [entity_to_json(entity) for entity in layout.entities],
    }


def read_layout(path: Path) -> Layout:
    """Reads one layout from a JSON file. Raises LayoutError, also for a missing or broken file."""
    try:
        return layout_from_json(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise LayoutError(
            f"cannot read {path}: {error.strerror}; give a layout JSON file"
        ) from None
    except RecursionError:
        raise LayoutError(f"{path} is nested too deeply; give a layout JSON file") from None
    except LayoutError:
        raise
    except ValueError as error:
        raise LayoutError(f"{path} is not JSON: {error}; give a layout JSON file") from None
