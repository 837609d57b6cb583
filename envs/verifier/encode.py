"""Layout -> rows of integers for the compiler, and the catalogue as integer tables.

Item numbers are positions in `catalogue.ITEMS`; names that no recipe knows follow behind.
"""

from typing import NamedTuple

import numpy as np

from envs.catalogue import ARMS, ITEMS, MACHINES, RECIPES, SMELTING
from envs.layout import KINDS, MACHINE_KINDS, SINK_KINDS, Entity, Layout, validate
from envs.verifier.records import NONE

KIND, X, Y, DIRECTION, RECIPE, LEFT, RIGHT, PROTOTYPE = range(8)
"""Columns of a row; LEFT is also the item of a sink or chest, RECIPE a row of `recipe_tables`."""

MACHINE_PROTOTYPES = tuple(MACHINES.values())
ARM_PROTOTYPES = tuple(ARMS.values())
"""Prototypes by number."""

_CRAFTS = [
    (machine, recipe)
    for machine in MACHINE_PROTOTYPES
    for recipe in (SMELTING if machine.smelts else RECIPES).values()
]
"""What each kind of machine can make, by number."""

MAX_NEEDS = max(len(recipe.ingredients) for _, recipe in _CRAFTS)

_KIND = {kind: number for number, kind in enumerate(KINDS)}
_ITEM = {item: number for number, item in enumerate(ITEMS)}
_CRAFT = {
    (machine.prototype, recipe.product): number for number, (machine, recipe) in enumerate(_CRAFTS)
}
_PROTOTYPE = {name: number for table in (ARMS, MACHINES) for number, name in enumerate(table)}


class Rows(NamedTuple):
    """A layout as integers.

    Attributes:
        entities: `[n, 8]` int32.
        items: item names by number.
        sinks: the sinks and counting chests in row-major order, which numbers them.
    """

    entities: np.ndarray
    items: tuple[str, ...]
    sinks: tuple[Entity, ...]


def recipe_tables() -> tuple[np.ndarray, np.ndarray]:
    """int32 `[R, 5]` as MACHINE's fields after `tile`, and `[R, MAX_NEEDS, 3]` as NEED's."""
    machines = np.empty((len(_CRAFTS), 5), np.int32)
    needs = np.zeros((len(_CRAFTS), MAX_NEEDS, 3), np.int32)
    for number, (machine, recipe) in enumerate(_CRAFTS):
        machines[number] = (
            _ITEM[recipe.product],
            recipe.craft_ticks(machine),
            recipe.products_per_craft,
            recipe.stack_size,
            len(recipe.ingredients),
        )
        for slot, (item, amount) in enumerate(recipe.ingredients):
            needs[number, slot] = _ITEM[item], amount, recipe.ingredient_limit(amount, machine)
    return machines, needs


def encode(layout: Layout) -> Rows:
    """The rows of a layout. Raises LayoutError where it breaks R4."""
    validate(layout)
    numbers: dict[str | None, int] = {None: NONE, **_ITEM}
    rows = [_row(entity, numbers) for entity in layout.entities]
    sinks = [entity for entity in layout.entities if entity.kind in SINK_KINDS]
    return Rows(
        np.array(rows, np.int32).reshape(len(rows), PROTOTYPE + 1),
        tuple(item for item in numbers if item is not None),
        tuple(sorted(sinks, key=lambda sink: (sink.y, sink.x))),
    )


def _row(entity: Entity, numbers: dict[str | None, int]) -> tuple[int, ...]:
    recipe = NONE
    if entity.kind in MACHINE_KINDS and entity.recipe is not None:
        recipe = _CRAFT[entity.prototype, entity.recipe]
    first, second = (entity.left, entity.right) if entity.kind == "source" else (entity.item, None)
    left = numbers.setdefault(first, len(numbers) - 1)
    right = numbers.setdefault(second, len(numbers) - 1)
    return (
        _KIND[entity.kind],
        entity.x,
        entity.y,
        0 if entity.direction is None else entity.direction,
        recipe,
        left,
        right,
        _PROTOTYPE.get(entity.prototype, 0),
    )
