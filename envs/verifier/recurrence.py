"""Runs a layout until its state recurs: exact transient, period and counts (R45-R47).

States at geometrically spaced ticks are kept as marks, and each later state is compared with all
of them. A mark m that recurs at tick m + p gives the least period p, for every state since the
mark was compared; and the mark before it did not recur, so the transient ends between the two.
Two runs p ticks apart, started at marks, find where. Where the transient is not asked for, the
time in which machines only fill up is skipped. Every part of a layout is run for itself.
"""

from typing import NamedTuple

import numpy as np

from envs.verifier.arms import move_arms
from envs.verifier.belts import move_lanes
from envs.verifier.engine import advance, run_machines
from envs.verifier.filling import is_worth_skipping, skip_filling
from envs.verifier.jit import allocating, entry, outlined, source_stamp
from envs.verifier.marks import (
    BUT_PRODUCTS,
    MAX_MARKS,
    MIN_SPACING,
    SPACING_SHIFT,
    WHOLE,
    add_mark,
    confirm,
    delivered_since,
    find_mark,
    new_marks,
    same_words,
)
from envs.verifier.parts import take_part
from envs.verifier.reach import can_reach
from envs.verifier.state import (
    pack,
    packed_size,
    products_signature,
    signature,
    signature_but_products,
    start,
    unpack,
)


class Run(NamedTuple):
    """What runs of a layout's parts found; P parts, S = `len(plan.sinks)`.

    Attributes:
        ticks: `[P]` int64, ticks that went by until the repeat, or to the cap.
        transient: `[P]` int64 (R45), -1 when no repeat was found.
        period: `[P]` int64 (R45), 0 when no repeat was found.
        window: `[P]` int64, ticks over which `counts` were taken: a period, or the last half of
            the run (R47).
        counts: `[S, items]` int64 items delivered in the window.
        totals: `[S, items]` int64 items delivered in the whole run.
    """

    ticks: np.ndarray
    transient: np.ndarray
    period: np.ndarray
    window: np.ndarray
    counts: np.ndarray
    totals: np.ndarray


class SinkRun(NamedTuple):
    """What runs of the parts that can bring an item to a sink found; Q such parts.

    Attributes:
        ticks: `[Q]` int64 ticks simulated; time in which machines only fill up is skipped.
        period: `[Q]` int64, 0 when no repeat was found.
        counts: `[Q]` int64 items delivered in one period.
    """

    ticks: np.ndarray
    period: np.ndarray
    counts: np.ndarray


@allocating
def _find_transient(plan, targets, words, marks, m, period):
    """The least t >= 1 whose state recurs, where mark m does but not those before it (R45)."""
    m = max(m - 1, 0)
    tick, nearest = marks.ticks[m], m
    while nearest + 1 < MAX_MARKS and 0 < marks.ticks[nearest + 1] <= tick + period:
        nearest += 1
    early, late = unpack(plan, words, marks.starts[m]), unpack(plan, words, marks.starts[nearest])
    for _ in range(tick + period - marks.ticks[nearest]):
        advance(plan, targets, late)
    while True:
        if tick > 0 and signature(early) == signature(late):
            size = packed_size(early)
            if size == packed_size(late) and same_words(pack(plan, early), 0, pack(plan, late)):
                return tick
        advance(plan, targets, early)
        advance(plan, targets, late)
        tick += 1


@outlined
def _scan(plan, targets, state, marks, first, count, tick, stop, may_skip):
    """Ticks on to `stop`, or to a state that may be that of a mark.

    Returns the tick, the mark or `count`, and in which way they are alike: `WHOLE`, or, only among
    marks from `first` on and only with `may_skip`, `BUT_PRODUCTS`.
    """
    while tick < stop:
        move_lanes(plan, state)
        move_arms(plan, targets, state)
        run_machines(plan, state)
        tick += 1
        partial = signature_but_products(state)
        m = find_mark(marks, WHOLE, 0, count, partial + products_signature(state))
        if m < count:
            return tick, m, WHOLE
        if may_skip:
            m = find_mark(marks, BUT_PRODUCTS, first, count, partial)
            if m < count:
                return tick, m, BUT_PRODUCTS
    return tick, count, WHOLE


@allocating
def _run_part(plan, targets, tick_cap, with_transient):
    """Ticks simulated, transient (-1 if not asked for), period, window, counts, totals."""
    state, marks = start(plan), new_marks()
    words, middle, half = np.empty(4096, np.int32), tick_cap // 2, state.delivered.copy()
    words = add_mark(plan, marks, 0, words, 0, state)
    tick, steps, mark_due, first, count = 0, 0, MIN_SPACING, 0, 1
    while tick < tick_cap:
        stop = middle if tick < middle else tick_cap
        if count < MAX_MARKS:
            stop = min(stop, tick + mark_due - steps)
        before = tick
        tick, m, kind = _scan(
            plan, targets, state, marks, first, count, tick, stop, not with_transient
        )
        steps += tick - before
        if m < count and kind == WHOLE:
            m = confirm(plan, marks, m, count, words, state)
            if m < count:
                period, transient = tick - marks.ticks[m], -1
                if with_transient:
                    transient = _find_transient(plan, targets, words, marks, m, period)
                counts = delivered_since(words, marks.starts[m + 1], state.delivered)
                return steps, transient, period, period, counts, state.delivered
        elif m < count:
            period = tick - marks.ticks[m]
            worth = is_worth_skipping(plan, words, marks.starts[m], state)
            if worth and period < tick_cap - tick:
                tick += skip_filling(plan, targets, state, period)
                steps += period
                mark_due, first = steps, count
        if tick == middle:
            half = state.delivered.copy()
        if steps >= mark_due and count < MAX_MARKS:
            words = add_mark(plan, marks, count, words, tick, state)
            mark_due = steps + max(MIN_SPACING, steps >> SPACING_SHIFT)
            count += 1
    counts = state.delivered - half
    return steps, -1, 0, tick_cap - middle, counts, state.delivered


def _make_run(stamp: str):
    @entry
    def run(plan, targets, tick_cap):
        _ = stamp
        count = len(plan.parts)
        ticks, transient = np.empty(count, np.int64), np.empty(count, np.int64)
        period, window = np.empty(count, np.int64), np.empty(count, np.int64)
        counts = np.empty((len(plan.sinks), plan.items[0]), np.int64)
        totals = np.empty_like(counts)
        first = 0
        for number in range(count):
            part = take_part(plan, number)
            result = _run_part(part, targets, tick_cap, True)
            ticks[number], transient[number] = result[0], result[1]
            period[number], window[number] = result[2], result[3]
            for row in range(len(part.sinks)):
                counts[first + row] = result[4][row]
                totals[first + row] = result[5][row]
            first += len(part.sinks)
        return ticks, transient, period, window, counts, totals

    return run


def _make_run_sink(stamp: str):
    @entry
    def run_sink(plan, targets, tick_cap, sink, item):
        _ = stamp
        ticks, period = np.empty(len(plan.parts), np.int64), np.empty(len(plan.parts), np.int64)
        counts, found = np.empty(len(plan.parts), np.int64), 0
        for number in range(len(plan.parts)):
            part = take_part(plan, number)
            for row in range(len(part.sinks)):
                if part.sinks[row] != sink or not can_reach(part, row, item):
                    continue
                result = _run_part(part, targets, tick_cap, False)
                ticks[found], period[found] = result[0], result[2]
                counts[found] = result[4][row, item]
                found += 1
        return ticks[:found].copy(), period[:found].copy(), counts[:found].copy()

    return run_sink


run = _make_run(source_stamp())
"""run(plan, targets, tick_cap) -> the fields of `Run`."""

run_sink = _make_run_sink(source_stamp())
"""run_sink(plan, targets, tick_cap, sink, item) -> the fields of `SinkRun`."""
