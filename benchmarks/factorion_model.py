"""The flow model of beyarkay/factorion 0.7.1 (MIT), called on layouts that it can express.

In: a `Layout`. Out: the world tensor that its Rust extension takes, and from that items per second
at each sink. Only the installed `factorion-server` wheel is called; `load` returns None without it.

Its sources and sinks are markers that behave like unlimited inserters and fill or drain the belt
that they face, so each of our ports becomes a belt with markers beyond its end. A marker must not
touch anything else: it stands in a margin around the grid or on free tiles that no belt, arm or
machine reaches, and a layout without such room is left out. So is one with entities, recipes or
items that the model does not know. Poles come from the model's own function.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from envs.catalogue import MACHINES, RECIPES, TASK_MACHINE, TICKS_PER_S
from envs.layout import DIRECTION_VECTORS, Entity, Layout

PACKAGE, VERSION = "factorion-server", "0.7.1"

INSTALL = f"pip install --no-deps {PACKAGE}=={VERSION}"
"""Without its dependencies: the flow model needs only numpy, the rest of the wheel torch."""

MARGIN = 2
"""Free tiles around the grid for markers."""

CHANNELS = 6
ENTITY, DIRECTION, ITEM, BUILDABLE = 0, 1, 2, 4
"""Channels of a world that are written; the others stay 0."""

SOURCE, SINK, BELT = "stack_inserter", "bulk_inserter", "transport_belt"
"""Its names for markers and belts."""

KNOWN_KINDS = ("belt", "source", "sink", "inserter", "asm")
KNOWN_PROTOTYPES = ("transport-belt", "inserter", "long-handed-inserter", TASK_MACHINE.prototype)

Tile = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Put:
    """Something put on a tile of its world: `direction` N, E, S, W = 0..3 or None."""

    tile: Tile
    name: str
    direction: int | None = None
    item: str | None = None


@dataclass(frozen=True, slots=True)
class World:
    """A layout as the model takes it.

    Attributes:
        tensor: int64 `[width, height, 6]`.
        sinks: tile of each sink's marker, as the model reports it, and our sink.
    """

    tensor: np.ndarray
    sinks: dict[Tile, Entity]


def load() -> Any | None:
    """The Rust extension of the wheel, None where the wheel is not installed.

    Raises RuntimeError for another version than the one that is measured.
    """
    try:
        found = version(PACKAGE)
    except PackageNotFoundError:
        return None
    if found != VERSION:
        raise RuntimeError(f"{PACKAGE} {found} is installed; {VERSION} is measured: {INSTALL}")
    return import_module("factorion_rs")


def world_of(model: Any, layout: Layout) -> World | None:
    """The world of a layout, None where the model cannot express it."""
    numbers = {entry["name"]: number for number, entry in model.py_items().items()}
    if not all(_is_known(model, numbers, entity) for entity in layout.entities):
        return None
    puts = [put for entity in layout.entities for put in _own_tiles(entity)]
    kept_clear = {put.tile for put in puts} | {
        tile for entity in layout.entities for tile in _reached(entity)
    }
    sinks: dict[Tile, Entity] = {}
    for port in layout.entities:
        markers = _markers(port)
        if not all(_has_room(layout, put.tile) for put in markers) or any(
            put.tile in kept_clear for put in markers
        ):
            return None
        kept_clear |= {put.tile for put in markers}
        puts += markers
        if port.kind == "sink":
            x, y = markers[0].tile
            sinks[x + MARGIN, y + MARGIN] = port
    tensor = model.py_place_poles(_tensor(layout, numbers, puts))
    return None if tensor is None else World(tensor, sinks)


def deliveries(model: Any, world: World) -> dict[tuple[int, int, str], float]:
    """Items per second of each sink's item, by our (x, y, item); 0 where it reports no sink."""
    found = {(x, y): rate for x, y, _, rate in model.py_sink_deliveries(world.tensor)}
    return {
        (sink.x, sink.y, str(sink.item)): found.get(tile, 0.0) for tile, sink in world.sinks.items()
    }


def _is_known(model: Any, numbers: dict[str, int], entity: Entity) -> bool:
    """Whether the model has the entity, its items, and its recipe with the same figures."""
    if entity.kind not in KNOWN_KINDS or entity.prototype not in KNOWN_PROTOTYPES:
        return False
    if entity.kind == "sink" and entity.item is None:
        return False
    if any(item and _theirs(item) not in numbers for item in (entity.left, entity.right)):
        return False
    if entity.item and _theirs(entity.item) not in numbers:
        return False
    if entity.recipe is None:
        return True
    recipe = RECIPES[entity.recipe]
    theirs = model.py_recipes().get(_theirs(entity.recipe))
    seconds = recipe.craft_ticks(MACHINES[entity.prototype]) * TASK_MACHINE.speed_quarters
    return theirs is not None and (
        theirs["consumes"] == {_theirs(item): amount for item, amount in recipe.ingredients}
        and theirs["produces"] == {_theirs(recipe.product): recipe.products_per_craft}
        and theirs["crafting_time"] == seconds / (4 * TICKS_PER_S)
    )


def _own_tiles(entity: Entity) -> Iterator[Put]:
    """The entity itself; a port is the belt that it stands on."""
    name = _theirs(entity.prototype)
    for tile in entity.tiles():
        yield Put(tile, name, entity.direction, entity.recipe)


def _reached(entity: Entity) -> Iterator[Tile]:
    """Tiles around an entity on which a marker would take part in its flow."""
    if entity.kind == "asm":
        for x, y in entity.tiles():
            yield from ((x + dx, y + dy) for dx, dy in DIRECTION_VECTORS)
    elif entity.kind == "inserter":
        yield from (_ahead(entity, entity.reach), _ahead(entity, -entity.reach))
    elif entity.kind == "belt" or entity.kind == "source":
        yield _ahead(entity, 1)


def _markers(port: Entity) -> list[Put]:
    """What stands beyond a port's end: a sink's marker, or what fills a source's lanes.

    A marker in line fills both lanes. Lanes that differ are filled from the two sides of one more
    belt, which an empty belt behind it keeps straight.
    """
    if port.kind == "sink":
        return [Put(_ahead(port, 1), SINK, port.direction, port.item)]
    if port.kind != "source" or port.direction is None:
        return []
    if port.left == port.right:
        return [Put(_ahead(port, -1), SOURCE, port.direction, port.left)]
    x, y = _ahead(port, -1)
    puts = [Put((x, y), BELT, port.direction), Put(_ahead(port, -2), BELT, port.direction)]
    for item, turn in ((port.left, 3), (port.right, 1)):
        if item is not None:
            dx, dy = DIRECTION_VECTORS[(port.direction + turn) % 4]
            puts.append(Put((x + dx, y + dy), SOURCE, (port.direction - turn) % 4, item))
    return puts


def _ahead(entity: Entity, tiles: int) -> Tile:
    dx, dy = DIRECTION_VECTORS[entity.direction or 0]
    return entity.x + tiles * dx, entity.y + tiles * dy


def _has_room(layout: Layout, tile: Tile) -> bool:
    return (
        -MARGIN <= tile[0] < layout.width + MARGIN and -MARGIN <= tile[1] < layout.height + MARGIN
    )


def _tensor(layout: Layout, numbers: dict[str, int], puts: list[Put]) -> np.ndarray:
    tensor = np.zeros((layout.width + 2 * MARGIN, layout.height + 2 * MARGIN, CHANNELS), np.int64)
    tensor[:, :, BUILDABLE] = 1
    for put in puts:
        cell = tensor[put.tile[0] + MARGIN, put.tile[1] + MARGIN]
        cell[ENTITY] = numbers[put.name]
        cell[DIRECTION] = 0 if put.direction is None else put.direction + 1
        cell[ITEM] = 0 if put.item is None else numbers[_theirs(put.item)]
    return tensor


def _theirs(name: str) -> str:
    """The model's spelling of a name."""
    return name.replace("-", "_")
