"""Certain zeros without a simulation: can an item get from the sources to a sink at all (R48)?

Sets of items, one bit each, are carried over links, arms and machines until nothing changes. Time
and room are ignored, so the sets are never too small: an item missing at a sink never arrives.
"""

import numpy as np

from envs.verifier.jit import allocating, outlined
from envs.verifier.records import CONTINUE, NONE, SIDELOAD

LAST_BIT = 62
"""Item numbers from here on share a bit, which can only make sets larger."""


@outlined
def _bit(item):
    return np.int64(1) << np.int64(min(item, LAST_BIT))


@outlined
def _add(sets, index, items):
    """Adds items to a set; whether it has grown."""
    grown = sets[index] | items
    if grown == sets[index]:
        return False
    sets[index] = grown
    return True


@outlined
def _ingredients(plan, machine):
    wanted = np.int64(0)
    for slot in range(plan.machines[machine].needs):
        wanted |= _bit(plan.needs[machine, slot].item)
    return wanted


@outlined
def _flow(plan, on_lane):
    """What is on a lane reaches the lane it leads to; whether any set has grown."""
    grown = False
    for lane in range(len(plan.lanes)):
        link = plan.lanes[lane].link
        if link in (CONTINUE, SIDELOAD):
            grown |= _add(on_lane, plan.lanes[lane].target, on_lane[lane])
    return grown


@outlined
def _carry(plan, on_lane, in_machine, in_sink):
    """What an arm can pick up reaches its drop; whether any set has grown."""
    grown = False
    for number in range(len(plan.arms)):
        arm = plan.arms[number]
        if arm.from_lane != NONE:
            items = on_lane[arm.from_lane] | on_lane[arm.from_lane + 1]
        elif arm.from_machine == NONE:
            items = _bit(arm.from_item) if arm.from_item != NONE else np.int64(0)
        else:
            wanted = _ingredients(plan, arm.from_machine)
            makes = wanted != 0 and in_machine[arm.from_machine] == wanted
            items = _bit(plan.machines[arm.from_machine].product) if makes else np.int64(0)
        if arm.to_lane != NONE:
            grown |= _add(on_lane, arm.to_lane, items)
        elif arm.to_sink != NONE:
            grown |= _add(in_sink, arm.to_sink, items)
        else:
            wanted = _ingredients(plan, arm.to_machine)
            grown |= _add(in_machine, arm.to_machine, items & wanted)
    return grown


@allocating
def can_reach(plan, sink, item):
    """False only if the item can never arrive at the sink of a part."""
    on_lane = np.zeros(len(plan.lanes), np.int64)
    in_machine = np.zeros(len(plan.machines), np.int64)
    in_sink = np.zeros(len(plan.sinks), np.int64)
    for number in range(len(plan.chains)):
        chain = plan.chains[number]
        if chain.source_item != NONE:
            on_lane[chain.source_lane] = _bit(chain.source_item)
    grown = True
    while grown:
        grown = _flow(plan, on_lane)
        grown |= _carry(plan, on_lane, in_machine, in_sink)
    for number in range(len(plan.chains)):
        chain = plan.chains[number]
        if chain.sink != NONE:
            in_sink[chain.sink] |= on_lane[chain.front]
    return (in_sink[sink] & _bit(item)) != 0
