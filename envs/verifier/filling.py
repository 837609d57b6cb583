"""Skips the time in which a machine does nothing but fill up with its product.

An output-limited machine stops only when its product reaches a stack (R40), thousands of periods
after everything else has settled. Nothing reads a product count but two comparisons: an arm asks
whether it is above 0 (R31), the machine whether it is below the stop level (R39). While both keep
their answers, a period that only raised product counts repeats itself exactly. Compiled code only.
"""

import numpy as np

from envs.verifier.engine import advance
from envs.verifier.jit import allocating
from envs.verifier.state import pack

LEAST_PERIODS = 3
"""Periods that must have room before it pays to watch one for what it does."""


@allocating
def _differ_in_products_only(words, first, after, machines, slots):
    """Whether a packed state differs from the words from `first` on in product counts at most."""
    record = 2 + slots
    first_machine = len(after) - machines * record
    for at in range(len(after)):
        is_product = at >= first_machine and (at - first_machine) % record == 1
        if words[first + at] != after[at] and not is_product:
            return False
    return True


@allocating
def is_worth_skipping(plan, words, first, state):
    """Whether since the packed state at `first` only products grew, and can go on to for long."""
    after = pack(plan, state)
    machines, record = len(state.machines), 2 + state.stock.shape[1]
    if first + len(after) > len(words):
        return False
    if not _differ_in_products_only(words, first, after, machines, state.stock.shape[1]):
        return False
    product = first + len(after) - machines * record + 1
    for number in range(machines):
        made = state.machines[number].made
        gained = made - words[product + number * record]
        room = plan.machines[number].stop_level - 1 - made
        if gained < 0 or (gained > 0 and room < LEAST_PERIODS * gained):
            return False
    return True


@allocating
def _periods_alike(plan, state, made, lowest, highest):
    """How many more periods pass like the last one, by what it did to the product counts."""
    alike = -1
    for number in range(len(made)):
        gained = state.machines[number].made - made[number]
        below_stop = plan.machines[number].stop_level - 1 - highest[number]
        if gained < 0 or (gained > 0 and (lowest[number] < 1 or below_stop < 0)):
            return 0
        if gained > 0:
            room = below_stop // gained
            alike = room if alike < 0 else min(alike, room)
    return max(alike, 0)


@allocating
def skip_filling(plan, targets, state, period):
    """Runs `period` ticks, then adds the further periods that are certain to pass alike.

    Returns the ticks that went by: `period` alone where nothing could be skipped.
    """
    before, delivered = pack(plan, state), state.delivered.copy()
    made = np.empty(len(state.machines), np.int32)
    for number in range(len(made)):
        made[number] = state.machines[number].made
    lowest, highest = made.copy(), made.copy()
    for _ in range(period):
        advance(plan, targets, state)
        for number in range(len(made)):
            now = state.machines[number].made
            # What the arms left before the machine's own step is at most one craft less.
            lowest[number] = min(lowest[number], now - plan.machines[number].per_craft)
            highest[number] = max(highest[number], now)
    after = pack(plan, state)
    if len(before) != len(after):
        return period
    if not _differ_in_products_only(before, 0, after, len(made), state.stock.shape[1]):
        return period
    alike = _periods_alike(plan, state, made, lowest, highest)
    for number in range(len(made)):
        state.machines[number].made += alike * (state.machines[number].made - made[number])
    for sink in range(delivered.shape[0]):
        for item in range(delivered.shape[1]):
            gained = state.delivered[sink, item] - delivered[sink, item]
            state.delivered[sink, item] += alike * gained
    return period * (alike + 1)
