"""The highest conceivable rate of a task, and the least that a layout of some rate takes. Jax-free.

In: a task and the room that its grid has. Out: machines, placements and cells that no layout does
without, and the exact rate that no layout exceeds. Both err on the side of possible: how pieces
fit together is not looked at, only how many there have to be.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from envs.catalogue import MACHINE_SIZE, RECIPES, TASK_MACHINE, TICKS_PER_S
from envs.layout import DIRECTION_VECTORS
from envs.task_room import BELT_ITEMS_PER_S, LANE_ITEMS_PER_S, Room
from envs.task_spec import TaskSpec

BELT_SWING_TICKS = 56
"""Fewer ticks than an inserter takes for an item of a belt: by the targets of R22 it is 58 or
more."""

MACHINE_SWING_TICKS = 70
"""Ticks that an inserter takes for an item of a machine at least: two half turns (R20-R23)."""

_WALK_THROUGH_MACHINE = 2 * MACHINE_SIZE - 1
"""Most cells of a machine on a shortest way through it."""


@dataclass(frozen=True)
class Demand:
    """What one item of the target takes, recipes of the task used down to what ports give.

    Attributes:
        crafts: of each recipe that is needed.
        supplied: items that ports have to give.
    """

    crafts: Mapping[str, Fraction]
    supplied: Mapping[str, Fraction]


def demand_of(spec: TaskSpec) -> Demand:
    """The demand of a task whose recipes are known; an item that a port gives is not made."""
    given = {item for port in spec.ports if not port.is_sink for item in (port.left, port.right)}
    crafts: dict[str, Fraction] = {}
    supplied: dict[str, Fraction] = {}
    waiting = [(spec.target_item, Fraction(1))]
    while waiting:
        item, amount = waiting.pop()
        if item in given or item not in spec.recipes:
            supplied[item] = supplied.get(item, Fraction(0)) + amount
            continue
        made = amount / RECIPES[item].products_per_craft
        crafts[item] = crafts.get(item, Fraction(0)) + made
        waiting += [(used, made * count) for used, count in RECIPES[item].ingredients]
    return Demand(crafts, supplied)


@dataclass(frozen=True)
class Need:
    """The least that a layout of some rate has: machines, placements, cells under them."""

    machines: int
    placements: int
    cells: int


def least_need(spec: TaskSpec, room: Room, demand: Demand, rate: Fraction) -> Need:
    """The least that a layout which delivers `rate` items per second has."""
    machines = arms = ends_on_belts = 0
    for stage in _stages(spec, demand):
        of_stage = max(1, math.ceil(rate * stage.machines))
        giving = max(of_stage, math.ceil(rate * stage.giving))
        taking = max(of_stage, math.ceil(rate * stage.taking)) if stage.taking else 0
        machines += of_stage
        arms += giving + taking
        ends_on_belts += giving if stage.is_last else 0
        ends_on_belts += taking if stage.takes_from_belts else 0
    # Of an arm that takes what ports give, or gives the product, one end is a belt or a port. A
    # belt has four cells beside it; one of them leads to where its items come from or go to, and
    # so takes one of the cells beside that belt or port too. That leaves two for each belt.
    belts = max(0, math.ceil(Fraction(ends_on_belts - _beside_ports(spec, room), 2)))
    # On its way an item becomes each product once at most, so it passes one machine a recipe.
    way = max((_way(spec, item) for item in demand.supplied), default=0)
    singles = max(arms + belts, way - _WALK_THROUGH_MACHINE * len(demand.crafts))
    return Need(machines, machines + singles, MACHINE_SIZE**2 * machines + singles)


def fits(spec: TaskSpec, room: Room, need: Need) -> bool:
    """Whether the room and the placement limit hold a need."""
    return need.placements <= spec.placement_limit and need.cells <= len(room.joined)


def highest_rate(spec: TaskSpec, room: Room, demand: Demand) -> Fraction:
    """Items per second of the target that no layout exceeds; 0 where none fits at all.

    The least of: what the sink's belt carries, what the sources' lanes give, and what machines,
    inserters and belts deliver if as many as fit work all the time. The task's own target rate is
    not looked at.
    """
    top = BELT_ITEMS_PER_S
    for item, amount in demand.supplied.items():
        if item not in spec.recipes:
            top = min(top, lanes_with(spec, item) * LANE_ITEMS_PER_S / amount)
    # Between two of these rates every number of pieces stays the same.
    steps = {top}
    for stage in _stages(spec, demand):
        for per_item in filter(None, (stage.machines, stage.giving, stage.taking)):
            steps.update(count / per_item for count in range(1, math.ceil(top * per_item)))
    ordered = sorted(steps)
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) // 2
        if fits(spec, room, least_need(spec, room, demand, ordered[middle])):
            low = middle + 1
        else:
            high = middle
    return ordered[low - 1] if low else Fraction(0)


def lanes_with(spec: TaskSpec, item: str) -> int:
    """Lanes of sources that give an item."""
    return sum(
        lane == item for port in spec.ports if not port.is_sink for lane in (port.left, port.right)
    )


@dataclass(frozen=True)
class _Stage:
    """The pieces of a recipe, each as a number for one item per second of the target.

    Attributes:
        machines: of the recipe.
        taking: inserters that put what ports give into them.
        giving: inserters that take its product out of them.
        takes_from_belts: whether `taking` can take from belts and ports only.
        is_last: whether the recipe makes the target.
    """

    machines: Fraction
    taking: Fraction
    giving: Fraction
    takes_from_belts: bool
    is_last: bool


def _stages(spec: TaskSpec, demand: Demand) -> Iterator[_Stage]:
    for name, crafts in demand.crafts.items():
        recipe = RECIPES[name]
        given = [(item, count) for item, count in recipe.ingredients if item in demand.supplied]
        taken, given_off = crafts * sum(count for _, count in given), recipe.products_per_craft
        yield _Stage(
            machines=crafts * recipe.craft_ticks(TASK_MACHINE) / TICKS_PER_S,
            taking=taken * BELT_SWING_TICKS / TICKS_PER_S,
            giving=crafts * given_off * MACHINE_SWING_TICKS / TICKS_PER_S,
            # What is given and made may also come straight from a machine.
            takes_from_belts=not any(item in spec.recipes for item, _ in given),
            is_last=name == spec.target_item,
        )


def _beside_ports(spec: TaskSpec, room: Room) -> int:
    """Free cells beside ports, one that is beside two of them twice."""
    return sum(
        (port.x + dx, port.y + dy) in room.free
        for port in spec.ports
        for dx, dy in DIRECTION_VECTORS
    )


def _way(spec: TaskSpec, item: str) -> int:
    """Cells between the sink and the nearest source of an item; 0 where none gives it."""
    steps = [
        abs(port.x - spec.sink.x) + abs(port.y - spec.sink.y)
        for port in spec.ports
        if not port.is_sink and item in (port.left, port.right)
    ]
    return min(steps, default=1) - 1
