"""Undoes the cut of a plan into parts, so that tests can look at a layout as one piece.

In: a plan as `compile_layout` makes it, and the states of its parts. Out: a plan that has one
part, and one state. Chains are numbered as R14 says, arms as R34 says, machines row by row, sinks
as in the layout.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from envs.verifier.records import (
    ARM_STATE,
    CHAIN_STATE,
    CONTINUE,
    MACHINE_STATE,
    NONE,
    PART,
    Plan,
    RecordArray,
    State,
)


class Numbers(NamedTuple):
    """Where a plan's records go: their place in the merged plan, by place in the cut plan."""

    chain: np.ndarray
    arm: np.ndarray
    machine: np.ndarray


def part_ranges(plan: Plan, kind: str) -> list[slice]:
    """The places of each part's chains, arms, machines or sinks."""
    ends = [0, *(int(end) for end in plan.parts[kind])]
    return [slice(first, end) for first, end in pairwise(ends)]


def merged_numbers(plan: Plan) -> Numbers:
    """The numbers that the records have in the merged plan."""
    chains = np.lexsort((plan.chains["front"], plan.chains["is_loop"]))
    return Numbers(
        np.argsort(chains),
        np.argsort(np.argsort(-plan.arms["tile"])),
        np.argsort(np.argsort(plan.machines["tile"])),
    )


def _renumbered(local: np.ndarray, first: int, numbers: np.ndarray) -> np.ndarray:
    """Numbers that count from the first record of a part, in the merged plan; NONE stays."""
    found = np.full(len(local), NONE, np.int32)
    found[local != NONE] = numbers[first + local[local != NONE]]
    return found


def _placed(records: RecordArray, numbers: np.ndarray) -> RecordArray:
    """Records at their places in the merged plan."""
    result = np.empty_like(records)
    result[numbers] = records
    return result


def _number_lanes(plan: Plan, numbers: Numbers) -> RecordArray:
    """Lanes with the merged numbers of their chains."""
    lanes = plan.lanes.copy()
    behind = {
        int(lane["target"]): number
        for number, lane in enumerate(lanes)
        if lane["length"] and lane["link"] == CONTINUE
    }
    for place, chain in enumerate(plan.chains):
        first, lane = int(chain["front"]), int(chain["front"])
        while True:
            lanes[lane]["chain"] = numbers.chain[place]
            lane = behind.get(lane, first)
            if lane == first:
                break
    return lanes


def _bases(plan: Plan) -> list[int]:
    """Where each part's item arrays begin in the merged ones."""
    return [0, *(int(end) for end in np.cumsum(plan.parts["capacity"]))]


def merged_plan(plan: Plan, sinks: int) -> Plan:
    """The plan as one part, with sinks numbered as in the layout."""
    numbers, bases = merged_numbers(plan), _bases(plan)
    chains, arms, pickers = plan.chains.copy(), plan.arms.copy(), plan.pickers.copy()
    order = plan.order.copy()
    ranges = (part_ranges(plan, kind) for kind in ("chains", "arms", "machines", "sinks"))
    for part, (c, a, m, s) in enumerate(zip(*ranges, strict=True)):
        chains["base"][c] += bases[part]
        chains["sink"][c] = _renumbered(chains["sink"][c], s.start, plan.sinks)
        arms["to_sink"][a] = _renumbered(arms["to_sink"][a], s.start, plan.sinks)
        for end in ("from_machine", "to_machine"):
            arms[end][a] = _renumbered(arms[end][a], m.start, numbers.machine)
        order[c] = numbers.chain[c.start + plan.order[c]]
        for chain in chains[c]:
            listed = slice(chain["first_picker"], chain["first_picker"] + chain["picker_count"])
            pickers[listed] = numbers.arm[a.start + plan.pickers[listed]]
    one = np.zeros(1, PART)
    one[0] = len(chains), len(arms), len(plan.machines), sinks, bases[-1]
    return Plan(
        _number_lanes(plan, numbers),
        _placed(chains, numbers.chain),
        order,
        _placed(arms, numbers.arm),
        pickers,
        _placed(plan.machines, numbers.machine),
        _placed(plan.needs, numbers.machine),
        np.arange(sinks, dtype=np.int32),
        one,
        plan.items,
    )


def merged_state(plan: Plan, states: list[State], sinks: int) -> State:
    """The states of a plan's parts as the state of the merged plan."""
    numbers, bases = merged_numbers(plan), _bases(plan)
    delivered = np.zeros((sinks, int(plan.items[0])), np.int64)
    for part, (state, rows) in enumerate(zip(states, part_ranges(plan, "sinks"), strict=True)):
        np.add.at(delivered, plan.sinks[rows], state.delivered)
        state.chains["first"] += bases[part]
        state.chains["squeezed"][state.chains["squeezed"] != NONE] += bases[part]
        state.arms["index"] += bases[part]

    def joined(name: str, empty: RecordArray) -> RecordArray:
        return np.concatenate([empty[:0], *(getattr(state, name) for state in states)])

    words = np.empty(0, np.int32)
    return State(
        _placed(joined("chains", np.empty(0, CHAIN_STATE)), numbers.chain),
        joined("position", words),
        joined("item", words),
        joined("moves", words),
        _placed(joined("arms", np.empty(0, ARM_STATE)), numbers.arm),
        _placed(joined("machines", np.empty(0, MACHINE_STATE)), numbers.machine),
        _placed(joined("stock", np.empty((0, plan.needs.shape[1]), np.int32)), numbers.machine),
        delivered,
    )
