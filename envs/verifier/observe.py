"""Runs the recurrent part of a layout once more and notes what everything does (R26, R39).

In: a plan and, for each part, how long to run before looking and how long to look. Out: ticks by
activity of every arm and machine, and how many items went where. Compiled code only.
"""

from typing import NamedTuple

import numpy as np

from envs.verifier.arms import move_arms, wants
from envs.verifier.belts import first_above, move_lanes
from envs.verifier.engine import advance, run_machines
from envs.verifier.jit import allocating, entry, inlined, outlined, source_stamp
from envs.verifier.parts import take_part
from envs.verifier.records import CONTINUE, NONE, WAIT_DROP, WAIT_PICK, RecordArray
from envs.verifier.state import start

SWINGING, NO_ITEM, TARGET_FULL, DROP_BLOCKED = range(4)
"""What an arm does in a tick, at its turn; an item on its way to the hand counts as swinging."""

CRAFTING, OUTPUT_FULL, STARVING, NO_RECIPE = range(4)
"""What a machine does in a tick."""


class Observed(NamedTuple):
    """What was seen; A arms, M machines, C chains and L lanes as in the plan, K ingredients.

    Attributes:
        arm_ticks: `[A, 4]` int64 ticks by activity.
        picks: `[A, 2]` int64 items picked from the left lane, and from elsewhere.
        drops: `[A]` int64 items dropped.
        unwanted: `[A]` int32 item that lies before a waiting arm and is not wanted, or NONE.
        machine_ticks: `[M, 4]` int64 ticks by activity.
        missing_ticks: `[M, K]` int64 ticks of starving in which an ingredient was missing.
        crafts: `[M]` int64 crafts begun.
        fed: `[C]` int64 items that sources put on.
        left: `[C]` int64 items that went over the downstream edge, or round once.
        stopped_ticks: `[C]` int64 ticks in which the front item stood at a closed end.
        grown: `[L]` int64 items on each lane at the end less those at the start; over a period 0.
    """

    arm_ticks: np.ndarray
    picks: np.ndarray
    drops: np.ndarray
    unwanted: np.ndarray
    machine_ticks: np.ndarray
    missing_ticks: np.ndarray
    crafts: np.ndarray
    fed: np.ndarray
    left: np.ndarray
    stopped_ticks: np.ndarray
    grown: np.ndarray


@inlined
def _target_is_full(plan, state, info):
    """Whether an arm's target is a machine that wants nothing the arm could bring (R30)."""
    if info.to_machine == NONE:
        return False
    offered = info.from_item
    if info.from_machine != NONE:
        offered = plan.machines[info.from_machine].product
    for slot in range(plan.machines[info.to_machine].needs):
        need = plan.needs[info.to_machine, slot]
        if offered != NONE and offered != need.item:
            continue
        if state.stock[info.to_machine, slot] < need.limit:
            return False
    return True


@inlined
def _arm_activity(plan, state, info, arm):
    if arm.phase == WAIT_DROP:
        return DROP_BLOCKED
    if arm.phase != WAIT_PICK:
        return SWINGING
    return TARGET_FULL if _target_is_full(plan, state, info) else NO_ITEM


@outlined
def _watch_arms(plan, state, seen, first_arm):
    """Adds what arms do in one tick, before machines change what they want."""
    for number in range(len(state.arms)):
        activity = _arm_activity(plan, state, plan.arms[number], state.arms[number])
        seen.arm_ticks[first_arm + number, activity] += 1


@outlined
def _watch_others(plan, state, seen, first_machine, first_chain):
    """Adds what machines and chains do in one tick."""
    for number in range(len(state.machines)):
        machine, info = state.machines[number], plan.machines[number]
        at = first_machine + number
        if info.needs == 0:
            seen.machine_ticks[at, NO_RECIPE] += 1
        elif machine.remaining > 0:
            seen.machine_ticks[at, CRAFTING] += 1
        elif machine.made >= info.stop_level:
            seen.machine_ticks[at, OUTPUT_FULL] += 1
        else:
            seen.machine_ticks[at, STARVING] += 1
            for slot in range(info.needs):
                if state.stock[number, slot] < plan.needs[number, slot].amount:
                    seen.missing_ticks[at, slot] += 1
    for number in range(len(state.chains)):
        if state.chains[number].settled > 0:
            seen.stopped_ticks[first_chain + number] += 1


@outlined
def _count(state, seen, first_arm, first_machine, first_chain, sign):
    """Adds the counters of a state to what was seen, or takes them away."""
    for number in range(len(state.arms)):
        arm = state.arms[number]
        at = first_arm + number
        seen.picks[at, 0] += sign * arm.picked_left
        seen.picks[at, 1] += sign * (arm.picked - arm.picked_left)
        seen.drops[at] += sign * arm.dropped
    for number in range(len(state.machines)):
        seen.crafts[first_machine + number] += sign * state.machines[number].crafts
    for number in range(len(state.chains)):
        seen.fed[first_chain + number] += sign * state.chains[number].fed
        seen.left[first_chain + number] += sign * state.chains[number].left


@outlined
def _count_items(plan, state, behind, counts, weight):
    """Adds `weight` to the count of a lane for each item that is on it."""
    for number in range(len(state.chains)):
        lane, chain = plan.chains[number].front, state.chains[number]
        for index in range(chain.first, chain.first + chain.count):
            while state.position[index] >= plan.lanes[lane].offset + plan.lanes[lane].length:
                lane = behind[lane]
            counts[lane] += weight


@outlined
def _unwanted(plan, state, info, arm):
    """The item furthest upstream before an arm that waits for one it wants, or NONE.

    What came within reach, or came to be wanted, after the arm's turn is not meant.
    """
    if info.from_lane == NONE or _arm_activity(plan, state, info, arm) != NO_ITEM:
        return NONE
    for lane in range(2):
        spot = plan.lanes[info.from_lane + lane]
        chain = state.chains[spot.chain]
        low, high = chain.first, chain.first + chain.count
        index = first_above(state.position, low, high, spot.offset + spot.length - 1) - 1
        if index >= low and state.position[index] >= spot.offset:
            item = state.item[index]
            return NONE if wants(plan, state, info.to_machine, item) else item
    return NONE


@allocating
def _blank(plan):
    """Nothing seen yet."""
    arms, machines, chains = len(plan.arms), len(plan.machines), len(plan.chains)
    unwanted: RecordArray = np.full(arms, NONE, np.int32)
    return Observed(
        np.zeros((arms, 4), np.int64),
        np.zeros((arms, 2), np.int64),
        np.zeros(arms, np.int64),
        unwanted,
        np.zeros((machines, 4), np.int64),
        np.zeros(plan.needs.shape, np.int64),
        np.zeros(machines, np.int64),
        np.zeros(chains, np.int64),
        np.zeros(chains, np.int64),
        np.zeros(chains, np.int64),
        np.zeros(len(plan.lanes), np.int64),
    )


@allocating
def _lanes_behind(lanes):
    """For each lane the one that continues into it, NONE if none does."""
    behind = np.full(len(lanes), NONE, np.int32)
    for lane in range(len(lanes)):
        if lanes[lane].length and lanes[lane].link == CONTINUE:
            behind[lanes[lane].target] = lane
    return behind


def _make_observe(stamp: str):
    @entry
    def observe(plan, targets, warmup, window):
        _ = stamp
        seen, behind = _blank(plan), _lanes_behind(plan.lanes)
        arm = machine = chain = 0
        for number in range(len(plan.parts)):
            part = take_part(plan, number)
            state = start(part)
            for _tick in range(warmup[number]):
                advance(part, targets, state)
            _count(state, seen, arm, machine, chain, -1)
            _count_items(part, state, behind, seen.grown, -1)
            for _tick in range(window[number]):
                move_lanes(part, state)
                move_arms(part, targets, state)
                _watch_arms(part, state, seen, arm)
                run_machines(part, state)
                _watch_others(part, state, seen, machine, chain)
            _count(state, seen, arm, machine, chain, 1)
            _count_items(part, state, behind, seen.grown, 1)
            for a in range(len(part.arms)):
                seen.unwanted[arm + a] = _unwanted(part, state, part.arms[a], state.arms[a])
            end = plan.parts[number]
            arm, machine, chain = end.arms, end.machines, end.chains
        return seen

    return observe


observe = _make_observe(source_stamp())
"""observe(plan, targets, warmup, window) -> `Observed`; warmup and window `[P]` int64 ticks."""
