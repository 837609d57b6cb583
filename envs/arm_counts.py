"""How many arms a module needs for a rate: every arm of a draft adds to what it delivers.

In: the machines of a draft and who feeds whom. Out: the same groups of arms with their numbers,
for one of the rates at which some group or machine is exactly used up. By constant swing times;
the exact rate of a reference is verified later. Jax-free.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from envs.catalogue import CHEST_CYCLE_TICKS, RECIPES, TASK_MACHINE, TICKS_PER_S
from envs.families import Family
from envs.random_draw import chosen

MAX_ARMS = 3
"""Most arms of one group: a side of a machine has three cells."""

BELT_PICK_TICKS = 66
"""Ticks of one swing from a belt that stands; 64 to 72 occur (consequences of R35)."""

SLACK = 1e-9
"""Rates this close, relatively, are the same."""


@dataclass(frozen=True)
class ArmGroup:
    """Arms side by side with one task.

    Attributes:
        giver: number of the machine they take from, None for a belt network.
        taker: number of the machine they hand to, None for a belt network.
        network: number of the belt network; None where both ends are machines.
        items: what they carry.
        count: number of arms.
        share: items carried per item of the product that the module delivers.
    """

    giver: int | None
    taker: int | None
    network: int | None
    items: tuple[str, ...]
    count: int = 1
    share: float = 1.0

    def items_per_s(self, count: int) -> float:
        """Products per second that so many arms of the group can keep up with."""
        ticks = CHEST_CYCLE_TICKS if self.giver is not None else BELT_PICK_TICKS
        return count * TICKS_PER_S / ticks / self.share


def draw_arm_counts(
    rng: np.random.Generator,
    family: Family,
    machines: Sequence[int],
    groups: Sequence[ArmGroup],
) -> tuple[ArmGroup, ...]:
    """The groups with their shares and with numbers of arms for one of the useful rates."""
    shared = [replace(group, share=_share(family, machines, groups, group)) for group in groups]
    most = min(_most_of_stage(family, machines, shared, slot) for slot in set(machines))
    needs_all = max(
        (
            _most_of_stage(family, machines, shared, slot) * (count - 1) / count
            for slot in set(machines)
            if (count := list(machines).count(slot)) > 1
        ),
        default=0.0,
    )
    fewest = min(group.items_per_s(1) for group in shared)
    levels = {most, *(group.items_per_s(n) for group in shared for n in range(1, MAX_ARMS))}
    lowest = max(min(fewest, most) * (1 - SLACK), needs_all * (1 + SLACK))
    rate = chosen(rng, sorted(level for level in levels if lowest <= level <= most))
    return tuple(replace(group, count=_arms_for(group, rate)) for group in shared)


def _most_of_stage(
    family: Family, machines: Sequence[int], groups: Sequence[ArmGroup], slot: int
) -> float:
    """Products per second that the machines of a stage and the arms around them can keep up with.

    Proportional to the number of machines, since they share the work evenly.
    """
    name = family.recipes[slot]
    recipe = RECIPES[name]
    crafts_per_s = TICKS_PER_S / recipe.craft_ticks(TASK_MACHINE) * list(machines).count(slot)
    crafting = crafts_per_s * recipe.products_per_craft / _demand(family)[name]
    ends = [number for number, of in enumerate(machines) if of == slot]
    arms = [group.items_per_s(MAX_ARMS) for group in groups if {group.giver, group.taker} & {*ends}]
    return min(crafting, *arms)


def _arms_for(group: ArmGroup, rate: float) -> int:
    return next(
        count for count in range(1, MAX_ARMS + 1) if group.items_per_s(count) >= rate * (1 - SLACK)
    )


@lru_cache
def _demand(family: Family) -> dict[str, float]:
    """Items of every stage's product per item that the module delivers."""
    demand = dict.fromkeys(family.recipes, 0.0)
    demand[family.product] = 1.0
    for name in reversed(family.recipes):
        recipe = RECIPES[name]
        for item, amount in recipe.ingredients:
            if item in demand:
                demand[item] += demand[name] * amount / recipe.products_per_craft
    return demand


def _share(
    family: Family, machines: Sequence[int], groups: Sequence[ArmGroup], group: ArmGroup
) -> float:
    """Items that a group carries per product delivered, machines of a stage sharing evenly."""
    demand = _demand(family)
    if group.taker is None:
        assert group.giver is not None
        slot = machines[group.giver]
        return demand[family.recipes[slot]] / list(machines).count(slot)
    slot = machines[group.taker]
    name = family.recipes[slot]
    amounts = dict(RECIPES[name].ingredients)
    crafts = demand[name] / RECIPES[name].products_per_craft / list(machines).count(slot)
    # Several machines may insert the same item into one.
    beside = sum(other.taker == group.taker and other.items == group.items for other in groups)
    return crafts * sum(amounts[item] for item in group.items) / beside
