"""Random one-machine tasks before they have a target: ports, blocked cells, inserter counts.

Flow: random numbers -> `Draft` -> construction of a reference, which gives the task its target.
All draws use `Generator.random` alone, whose stream numpy keeps. Jax-free.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product as combinations
from typing import TypeVar

import numpy as np

from envs.catalogue import CHEST_CYCLE_TICKS, RECIPES, TASK_MACHINE, TICKS_PER_S, Recipe
from envs.layout import DIRECTION_VECTORS
from envs.task_spec import Port

T = TypeVar("T")

MAX_INSERTERS = 3
"""Most inserters for one source, and most for the product."""

BELT_PICK_TICKS = 66
"""Ticks of one swing from a belt that stands; 64 to 72 occur (consequences of R35)."""

FASTEST_PICK_TICKS = 56
"""Fewer ticks than any swing from a belt takes; 60 is the least known (consequences of R35)."""

INWARD_CHANCE = 0.5
"""Share of sources that flow into the grid and of sinks that flow out; others run along it."""

ONE_LANE_CHANCE = 0.3
"""Share of single-item sources that feed only one of their lanes."""

SHARED_SOURCE_CHANCE = 0.5
"""Share of two-input tasks with one source that carries one item per lane."""


@dataclass(frozen=True)
class Draft:
    """A task without target.

    Attributes:
        recipe: recipe name of the machine.
        ports: sources, then the sink.
        blocked: cells (x, y), sorted.
        amounts: items per craft from each source.
        counts: inserters per source, then inserters for the product.
    """

    recipe: str
    ports: tuple[Port, ...]
    blocked: tuple[tuple[int, int], ...]
    amounts: tuple[int, ...]
    counts: tuple[int, ...]


def below(rng: np.random.Generator, bound: int) -> int:
    """A random integer in 0..bound-1."""
    return int(rng.random() * bound)


def chosen(rng: np.random.Generator, options: Sequence[T]) -> T:
    """One of the options."""
    return options[below(rng, len(options))]


def shuffled(rng: np.random.Generator, options: Sequence[T]) -> list[T]:
    """The options in random order."""
    keys = rng.random(len(options))
    return [options[i] for i in np.argsort(keys, kind="stable")]


def draw_draft(
    rng: np.random.Generator, width: int, height: int, recipes: Sequence[str], max_blocked: int
) -> Draft | None:
    """A random task, or None where two ports came too close to each other."""
    recipe = RECIPES[chosen(rng, recipes)]
    supplies = _draw_supplies(rng, recipe)
    amounts = tuple(amount for _, _, amount in supplies)
    counts = chosen(rng, useful_counts(recipe, amounts))
    ports = [_draw_port(rng, width, height, left, right) for left, right, _ in supplies]
    ports.append(_draw_port(rng, width, height, recipe.product, recipe.product, is_sink=True))
    fronts = [_front(port) for port in ports[:-1]]
    taken = [(port.x, port.y) for port in ports] + fronts
    if len(set(taken)) < len(taken):
        return None
    free = [(x, y) for y in range(height) for x in range(width) if (x, y) not in taken]
    amount = min(below(rng, max_blocked + 1), len(free))
    blocked = sorted(shuffled(rng, free)[:amount]) if amount else []
    return Draft(recipe.product, tuple(ports), tuple(blocked), amounts, counts)


def products_per_s(
    recipe: Recipe, amounts: tuple[int, ...], counts: tuple[int, ...], pick_ticks: int
) -> float:
    """Rate of the slowest part: crafting or one port's swings, `pick_ticks` each from a belt."""
    inputs = [
        TICKS_PER_S / pick_ticks * count / amount
        for count, amount in zip(counts[:-1], amounts, strict=True)
    ]
    output = TICKS_PER_S / CHEST_CYCLE_TICKS * counts[-1]
    return min(
        output,
        min(TICKS_PER_S / recipe.craft_ticks(TASK_MACHINE), *inputs) * recipe.products_per_craft,
    )


@lru_cache
def useful_counts(recipe: Recipe, amounts: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Counts (inserters per source..., for the product) in which every inserter adds to the rate.

    `amounts` are the items per craft from each source. By `products_per_s`; the exact rate of a
    reference is verified later.
    """

    def is_useful(counts: tuple[int, ...]) -> bool:
        rate = products_per_s(recipe, amounts, counts, BELT_PICK_TICKS)
        return all(
            products_per_s(recipe, amounts, without_one(counts, port), BELT_PICK_TICKS) < rate
            for port in range(len(counts))
        )

    options = combinations(range(1, MAX_INSERTERS + 1), repeat=len(amounts) + 1)
    return tuple(counts for counts in options if is_useful(counts))


def without_one(counts: tuple[int, ...], port: int) -> tuple[int, ...]:
    """The counts with one inserter less at a port."""
    return tuple(count - (i == port) for i, count in enumerate(counts))


def _draw_supplies(
    rng: np.random.Generator, recipe: Recipe
) -> list[tuple[str | None, str | None, int]]:
    """(left item, right item, items per craft) of each source."""
    items = shuffled(rng, recipe.ingredients)
    if len(items) == 2 and rng.random() < SHARED_SOURCE_CHANCE:
        return [(items[0][0], items[1][0], items[0][1] + items[1][1])]
    supplies = []
    for item, amount in items:
        lanes = (item, item)
        if rng.random() < ONE_LANE_CHANCE:
            lanes = chosen(rng, ((item, None), (None, item)))
        supplies.append((*lanes, amount))
    return supplies


def _draw_port(
    rng: np.random.Generator,
    width: int,
    height: int,
    left: str | None,
    right: str | None,
    is_sink: bool = False,
) -> Port:
    x, y = chosen(rng, _border(width, height))
    outward = [d for d in range(4) if not _inside(x, y, d, width, height)]
    inward = [(d + 2) % 4 for d in outward]
    along = [d for d in range(4) if d not in outward and d not in inward]
    through = outward if is_sink else inward
    direction = chosen(rng, through if not along or rng.random() < INWARD_CHANCE else along)
    return Port(x, y, direction, is_sink, left, right)


@lru_cache
def _border(width: int, height: int) -> tuple[tuple[int, int], ...]:
    edge_x, edge_y = (0, width - 1), (0, height - 1)
    return tuple((x, y) for y in range(height) for x in range(width) if x in edge_x or y in edge_y)


def _inside(x: int, y: int, direction: int, width: int, height: int) -> bool:
    dx, dy = DIRECTION_VECTORS[direction]
    return 0 <= x + dx < width and 0 <= y + dy < height


def _front(port: Port) -> tuple[int, int]:
    dx, dy = DIRECTION_VECTORS[port.direction]
    return port.x + dx, port.y + dy
