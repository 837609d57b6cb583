"""Why a layout misses its target: one kind for each, from what can arrive where. Jax-free.

In: a task, what was built for it, its exact rate. Out: a kind. Of a layout that delivers nothing
the first link that is missing counts, from the inputs on; of one that delivers too little, whether
its machines could do it at all.
"""

from collections.abc import Sequence
from fractions import Fraction

from envs.catalogue import RECIPES, TASK_MACHINE, TICKS_PER_S
from envs.task_bound import demand_of
from envs.task_spec import MACHINE, Placement, TaskSpec
from factorio_rl.arrivals import arrivals

NO_EXACT_RATE = "no exact rate"
NO_MACHINE = "a recipe has no machine"
NOT_FED = "a machine is not fed"
NOT_DELIVERED = "the product does not reach the sink"
JAMMED = "wrong lane or jam"
FEW_MACHINES = "too few machines"
TOO_SLOW = "too few or slow inserters"

KINDS = (NO_MACHINE, NOT_FED, NOT_DELIVERED, JAMMED, FEW_MACHINES, TOO_SLOW, NO_EXACT_RATE)
"""In the order in which a layout gets past them."""


def failure_kind(spec: TaskSpec, placements: Sequence[Placement], rate: Fraction | None) -> str:
    """Why a layout of this rate (items/s, None if not exact) does not solve its task.

    "wrong lane or jam" is a layout in which everything could arrive if lanes never filled up: the
    exact simulation says that nothing does.
    """
    if rate is None:
        return NO_EXACT_RATE
    crafts = demand_of(spec).crafts
    if rate > 0:
        return FEW_MACHINES if _lacks_machines(spec, placements) else TOO_SLOW
    found = arrivals(spec, placements)
    if any(recipe not in found.lacking for recipe in crafts):
        return NO_MACHINE
    if any(found.lacking[recipe] for recipe in crafts):
        return NOT_FED
    return JAMMED if found.delivered else NOT_DELIVERED


def _lacks_machines(spec: TaskSpec, placements: Sequence[Placement]) -> bool:
    """Whether the machines of a recipe are slower than the target asks, even if always at work."""
    for recipe, crafts in demand_of(spec).crafts.items():
        count = sum(
            put.kind == MACHINE and spec.recipes[put.rotation] == recipe for put in placements
        )
        crafts_per_s = Fraction(count * TICKS_PER_S, RECIPES[recipe].craft_ticks(TASK_MACHINE))
        if crafts_per_s < crafts * spec.target_rate:
            return True
    return False
