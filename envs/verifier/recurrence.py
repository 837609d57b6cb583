"""Runs a layout until its state recurs: exact transient, period and counts (R45-R47).

States at geometrically spaced ticks are kept as marks, and each later state is compared with all
of them: first by signature, then whole. A mark m that recurs at tick m + p gives the least period
p, for every state since the mark was compared; and the mark before it did not recur, so the
transient ends between the two. Two runs p ticks apart, started at marks, find where.
Where the transient is not asked for, the time in which machines only fill up is skipped. Every
part of a layout is run for itself.
"""

from typing import NamedTuple

import numpy as np

from envs.verifier.engine import advance
from envs.verifier.filling import skip_filling
from envs.verifier.jit import allocating, entry, inlined, outlined, source_stamp
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

MAX_MARKS = 512
MIN_SPACING = 32
SPACING_SHIFT = 5
"""Marks lie 1/32 of the ticks run so far apart, at least 32 ticks."""

FILTER_SIZE = 4096
FILTER_SHIFT = np.uint64(52)
"""A signature's highest 12 bits say in which place of a filter it leaves its trace."""


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


class Marks(NamedTuple):
    """Kept states.

    Attributes:
        ticks: `[MAX_MARKS]` int64.
        signatures, but_products: `[MAX_MARKS]` uint64, with and without product counts.
        starts: `[MAX_MARKS + 1]` int64, where each state's words begin.
        seen: `[2, FILTER_SIZE]` uint8, nonzero where a signature of either kind left its trace.
    """

    ticks: np.ndarray
    signatures: np.ndarray
    but_products: np.ndarray
    starts: np.ndarray
    seen: np.ndarray


@allocating
def _same(words, first, other):
    """Whether `other` is what stands in `words` from `first` on."""
    i = 0
    while i < len(other) and words[first + i] == other[i]:
        i += 1
    return i == len(other)


@allocating
def _append(words, used, packed, delivered):
    """`words` with a packed state and its counters behind the used ones, enlarged if need be."""
    more = len(packed) + delivered.size
    if used + more > len(words):
        larger = np.empty(2 * (used + more), np.int32)
        for i in range(used):
            larger[i] = words[i]
        words = larger
    for i in range(len(packed)):
        words[used + i] = packed[i]
    at = used + len(packed)
    for sink in range(delivered.shape[0]):
        for item in range(delivered.shape[1]):
            words[at] = delivered[sink, item]
            at += 1
    return words


@outlined
def _find(signatures, first, count, current):
    """The first mark from `first` on with the present signature; `count` if there is none."""
    for m in range(first, count):
        if signatures[m] == current:
            return m
    return count


@inlined
def _find_mark(marks, kind, first, count, current):
    """`_find` among signatures of a kind, which looks at the filter before the marks."""
    if marks.seen[kind, current >> FILTER_SHIFT] == 0:
        return count
    return _find(marks.signatures if kind == 0 else marks.but_products, first, count, current)


@allocating
def _confirm(plan, marks, m, count, words, state, current):
    """The first mark from `m` on that equals the present state as a whole, `count` if none."""
    while m < count:
        size = marks.starts[m + 1] - marks.starts[m] - state.delivered.size
        if size == packed_size(state) and _same(words, marks.starts[m], pack(plan, state)):
            return m
        m = _find(marks.signatures, m + 1, count, current)
    return m


@allocating
def _delivered_since(words, end, delivered):
    """Items delivered since the mark whose words end at `end`."""
    counts = np.empty(delivered.shape, np.int64)
    at = end - delivered.size
    for sink in range(delivered.shape[0]):
        for item in range(delivered.shape[1]):
            counts[sink, item] = delivered[sink, item] - words[at]
            at += 1
    return counts


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
            if size == packed_size(late) and _same(pack(plan, early), 0, pack(plan, late)):
                return tick
        advance(plan, targets, early)
        advance(plan, targets, late)
        tick += 1


@allocating
def _run_part(plan, targets, tick_cap, with_transient):
    """One part: ticks simulated, transient (-1 if not asked for), period, window, counts, totals."""
    state = start(plan)
    ticks, starts = np.zeros(MAX_MARKS, np.int64), np.zeros(MAX_MARKS + 1, np.int64)
    signatures, but_products = np.empty(MAX_MARKS, np.uint64), np.empty(MAX_MARKS, np.uint64)
    marks = Marks(ticks, signatures, but_products, starts, np.zeros((2, FILTER_SIZE), np.uint8))
    words = np.empty(4096, np.int32)
    half, count = state.delivered.copy(), 0
    tick, steps, mark_due, may_skip, first = 0, 0, 0, not with_transient, 0
    while tick <= tick_cap:
        if tick == tick_cap // 2:
            half = state.delivered.copy()
        partial = signature_but_products(state)
        current = partial + products_signature(state)
        m = _find_mark(marks, 0, 0, count, current)
        if m < count:
            m = _confirm(plan, marks, m, count, words, state, current)
        if m < count:
            period, transient = tick - ticks[m], -1
            if with_transient:
                transient = _find_transient(plan, targets, words, marks, m, period)
            counts = _delivered_since(words, starts[m + 1], state.delivered)
            return steps, transient, period, period, counts, state.delivered
        if steps >= mark_due and count < MAX_MARKS:
            packed = pack(plan, state)
            words = _append(words, starts[count], packed, state.delivered)
            starts[count + 1] = starts[count] + len(packed) + state.delivered.size
            signatures[count], but_products[count], ticks[count] = current, partial, tick
            marks.seen[0, current >> FILTER_SHIFT] = marks.seen[1, partial >> FILTER_SHIFT] = 1
            mark_due = steps + max(MIN_SPACING, steps >> SPACING_SHIFT)
            count, may_skip = count + 1, not with_transient
        m = _find_mark(marks, 1, first, count, partial) if may_skip else count
        period = tick - ticks[m] if m < count else 0
        if 0 < period < tick_cap - tick:
            passed = skip_filling(plan, targets, state, period)
            tick, steps = tick + passed, steps + period
            mark_due, may_skip, first = steps, False, count
        else:
            advance(plan, targets, state)
            tick, steps = tick + 1, steps + 1
    counts = state.delivered - half
    return steps - 1, -1, 0, tick_cap - tick_cap // 2, counts, state.delivered


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
