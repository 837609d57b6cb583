"""Compares what two trees made of the same search, and traces a difference to its decision.

In: the task, and the record of each tree. Out: whether they agree, parted at a near tie, or one of
them is wrong; by how much their numbers differ; and where they parted.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from benchmarks.near_tie import FINAL
from benchmarks.tree_replay import Record, Replay, Task, replay

LARGEST_WEIGHT_DIFFERENCE = 1e-6
DECISIONS = ("parents", "actions", "visits", "action")
# What the model says, and the trees only keep.
FACTS = ("rewards", "discounts", "raw_values", "prior_logits")


class Parting(NamedTuple):
    """The first decision on which the trees differ; `gap` is between the scores of both actions.

    `bound` is the largest gap of a near tie. `simulation` is 0 for the final action.
    """

    simulation: int
    depth: int
    lean_action: int
    kernel_action: int
    gap: float
    bound: float

    def __str__(self) -> str:
        where = f"simulation {self.simulation}, depth {self.depth}"
        if self.simulation == FINAL:
            where = "the final action"
        return (
            f"parted at {where}: lean took {self.lean_action}, kernel {self.kernel_action}; "
            f"float64 gap {self.gap:.2e}, near ties end at {self.bound:.2e}"
        )


class Comparison(NamedTuple):
    """One search with both trees. The differences are absolute, and None after a parting.

    `lean_weight_error` and `kernel_weight_error` are those of the action weights against float64.
    """

    outcome: Literal["equal", "near tie", "error"]
    errors: list[str]
    parting: Parting | None
    same_bits: bool
    weight_difference: float | None
    root_value_difference: float | None
    value_difference: float | None
    lean_weight_error: float | None
    kernel_weight_error: float | None
    depth: int


def compare(task: Task, lean: Record, kernel: Record) -> Comparison:
    """Judges both searches by replays, and compares them."""
    same_bits = all(_equal(lean, kernel, name) for name in Record._fields)
    of_kernel = replay(task, kernel)
    of_lean = of_kernel if same_bits else replay(task, lean)
    differ = [name for name in DECISIONS if not _equal(lean, kernel, name)]
    parting = find_parting(of_lean, of_kernel) if differ else None
    weights = None if differ else _distance(lean, kernel, "action_weights")

    errors = [f"lean tree: {fault}" for fault in of_lean.faults]
    errors += [f"kernel tree: {fault}" for fault in of_kernel.faults]
    errors += _different_facts(lean, kernel)
    if differ and parting is None:
        errors.append(f"{', '.join(differ)} differ, but no decision does")
    if weights is not None and not weights <= LARGEST_WEIGHT_DIFFERENCE:
        errors.append(
            f"action weights differ by {weights:.2e}; errors against float64: "
            f"lean {of_lean.weight_error}, kernel {of_kernel.weight_error}"
        )
    return Comparison(
        outcome="error" if errors else "near tie" if differ else "equal",
        errors=errors,
        parting=parting,
        same_bits=same_bits,
        weight_difference=weights,
        root_value_difference=None if differ else _distance(lean, kernel, "root_value"),
        value_difference=None if differ else _distance(lean, kernel, "values"),
        lean_weight_error=of_lean.weight_error,
        kernel_weight_error=of_kernel.weight_error,
        depth=max(map(len, of_kernel.walks), default=0),
    )


def find_parting(lean: Replay, kernel: Replay) -> Parting | None:
    """Where the decisions of two replays differ first; None if they never do."""
    for simulation, walks in enumerate(zip(lean.walks, kernel.walks, strict=False), start=1):
        for depth, (of_lean, of_kernel) in enumerate(zip(*walks, strict=False)):
            if of_lean != of_kernel:
                return _parting(lean, kernel, (simulation, depth), of_lean, of_kernel)
    if lean.action != kernel.action:
        return _parting(lean, kernel, (FINAL, 0), lean.action, kernel.action)
    return None


def _parting(
    lean: Replay, kernel: Replay, place: tuple[int, int], of_lean: int, of_kernel: int
) -> Parting:
    """Both trees have the same past there, so their gaps are below the same best score."""
    dissents = [
        dissent
        for dissent in (*lean.dissents, *kernel.dissents)
        if (dissent.simulation, dissent.depth) == place
    ]
    gaps = {dissent.taken: dissent.gap for dissent in dissents}
    return Parting(
        *place,
        lean_action=of_lean,
        kernel_action=of_kernel,
        gap=abs(gaps.get(of_lean, 0.0) - gaps.get(of_kernel, 0.0)),
        bound=max((dissent.bound for dissent in dissents), default=0.0),
    )


def _different_facts(lean: Record, kernel: Record) -> Iterator[str]:
    """Facts that differ at nodes that both trees have in the same place."""
    same = (lean.parents == kernel.parents) & (lean.actions == kernel.actions)
    shared = np.logical_and.accumulate(same)
    for name in FACTS:
        unequal = getattr(lean, name)[shared] != getattr(kernel, name)[shared]
        if unequal.any():
            yield f"{name} differ at node {np.argwhere(unequal)[0][0]}"


def _equal(lean: Record, kernel: Record, name: str) -> bool:
    return np.array_equal(getattr(lean, name), getattr(kernel, name))


def _distance(lean: Record, kernel: Record, name: str) -> float:
    return float(np.abs(getattr(lean, name) - getattr(kernel, name)).max())
