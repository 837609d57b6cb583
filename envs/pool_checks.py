"""Checks of a task that a pool file holds, which another program may have written. Jax-free.

In: an unpacked task with its incomplete layouts. Out: nothing, or ValueError: what is built on
tasks of a pool relies on their cells, names and figures being possible, and on references being
layouts.
"""

import math
from collections.abc import Sequence

from envs.layout import validate
from envs.solved import Difficulty, Solved, Variant
from envs.task_checks import WARNING, naming, numbers, placing
from envs.task_spec import layout_of


def check_task(solved: Solved, difficulty: Difficulty, variants: Sequence[Variant]) -> None:
    """Raises ValueError, with the reason, where the task is impossible or its reference none."""
    for check in (placing, naming, numbers):
        for fault in check(solved.spec):
            if not fault.startswith(WARNING):
                raise ValueError(fault)
    validate(layout_of(solved.spec, solved.placements))
    if len(solved.placements) != difficulty.placements:
        raise ValueError(f"its reference has {difficulty.placements} placements, no record so many")
    for _, score in variants:
        if not (math.isfinite(score) and 0 <= score <= 1):
            raise ValueError(f"an incomplete layout has the score {score}")
