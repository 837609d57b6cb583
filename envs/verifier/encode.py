"""Layout -> rows of integers for the compiler, and the catalogue as integer tables.

Item numbers are positions in `catalogue.ITEMS`; names that no recipe knows follow behind.
"""

from typing import NamedTuple

import numpy as np

from envs.catalogue import ITEMS, RECIPES
from envs.layout import KINDS, Entity, Layout, LayoutError, validate
from envs.verifier.records import NONE

KIND, X, Y, DIRECTION, RECIPE, LEFT, RIGHT = range(7)
"""Columns of a row; LEFT is also the scored item of a sink."""

MAX_NEEDS = max(len(recipe.ingredients) for recipe in RECIPES.values())

_KIND = {kind: number for number, kind in enumerate(KINDS)}
_ITEM = {item: number for number, item in enumerate(ITEMS)}
_RECIPE = {product: number for number, product in enumerate(RECIPES)}


class Rows(NamedTuple):
    """A layout as integers.

    Attributes:
        entities: `[n, 7]` int32.
        items: item names by number.
        sinks: the sinks in row-major order, which numbers them.
    """

    entities: np.ndarray
    items: tuple[str, ...]
    sinks: tuple[Entity, ...]


def recipe_tables() -> tuple[np.ndarray, np.ndarray]:
    """int32 `[R, 5]` in the order of MACHINE's fields, and `[R, MAX_NEEDS, 3]` in NEED's."""
    machines = np.empty((len(RECIPES), 5), np.int32)
    needs = np.zeros((len(RECIPES), MAX_NEEDS, 3), np.int32)
    for number, recipe in enumerate(RECIPES.values()):
        machines[number] = (
            _ITEM[recipe.product],
            recipe.craft_ticks,
            recipe.products_per_craft,
            recipe.stack_size,
            len(recipe.ingredients),
        )
        for slot, (item, amount) in enumerate(recipe.ingredients):
            needs[number, slot] = _ITEM[item], amount, recipe.ingredient_limit(amount)
    return machines, needs


def encode(layout: Layout) -> Rows:
    """The rows of a layout. Raises LayoutError where it breaks R4."""
    validate(layout)
    numbers: dict[str | None, int] = {None: NONE, **_ITEM}
    rows = [_row(entity, numbers) for entity in layout.entities]
    sinks = [entity for entity in layout.entities if entity.kind == "sink"]
    return Rows(
        np.array(rows, np.int32).reshape(len(rows), RIGHT + 1),
        tuple(item for item in numbers if item is not None),
        tuple(sorted(sinks, key=lambda sink: (sink.y, sink.x))),
    )


def _row(entity: Entity, numbers: dict[str | None, int]) -> tuple[int, ...]:
    kind = _KIND.get(entity.kind)
    if kind is None:
        raise LayoutError(f"unknown entity kind {entity.kind!r}; known are {', '.join(KINDS)}")
    if entity.kind == "asm":
        recipe = NONE if entity.recipe is None else _RECIPE.get(entity.recipe)
        if recipe is None:
            raise LayoutError(f"unknown recipe {entity.recipe!r}; known are {', '.join(RECIPES)}")
        return kind, entity.x, entity.y, 0, recipe, NONE, NONE
    if entity.direction not in (0, 1, 2, 3):
        raise LayoutError(
            f"{entity.kind} at ({entity.x}, {entity.y}) has direction {entity.direction!r}; "
            "give 0, 1, 2 or 3 for N, E, S or W"
        )
    first, second = (entity.item, None) if entity.kind == "sink" else (entity.left, entity.right)
    left = numbers.setdefault(first, len(numbers) - 1)
    right = numbers.setdefault(second, len(numbers) - 1)
    return kind, entity.x, entity.y, entity.direction, NONE, left, right
