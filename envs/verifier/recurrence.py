"""Runs a layout until its state recurs: exact transient, period and counts (R45-R47).

States at geometrically spaced ticks are kept as marks, and each later state is compared with all
of them: first by signature, then whole. A mark m that recurs at tick m + p gives the least period
p, for every state since the mark was compared; and the mark before it did not recur, so the
transient ends between the two. Two runs p ticks apart, started at the mark before, find where.
Where the transient is not asked for, the time in which machines only fill up is skipped.
"""

from typing import NamedTuple

import numpy as np

from envs.verifier.engine import advance
from envs.verifier.filling import skip_filling
from envs.verifier.jit import allocating, entry, inlined, source_stamp
from envs.verifier.state import (
    pack,
    packed_size,
    products_signature,
    signature,
    signature_but_products,
    start,
    unpack,
)

MAX_MARKS = 256
MIN_SPACING = 32
SPACING_SHIFT = 3
"""Marks lie 1/8 of the ticks run so far apart, at least 32 ticks."""


class Run(NamedTuple):
    """What a run found.

    Attributes:
        ticks: ticks that went by until the repeat, or to the cap.
        transient, period: R45; period 0 when no repeat was found, transient -1 when not asked for.
        window: ticks over which `counts` were taken (a period, or the last half of the run).
        counts: `[sinks, items]` int64 items delivered in the window.
        totals: `[sinks, items]` int64 items delivered in the whole run.
    """

    ticks: int
    transient: int
    period: int
    window: int
    counts: np.ndarray
    totals: np.ndarray


class Marks(NamedTuple):
    """Kept states: ticks, signatures with and without product counts, first words."""

    ticks: np.ndarray
    signatures: np.ndarray
    but_products: np.ndarray
    starts: np.ndarray


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


@inlined
def _find(signatures, first, count, current):
    """The first mark from `first` on with the present signature; `count` if there is none."""
    for m in range(first, count):
        if signatures[m] == current:
            return m
    return count


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
def _find_transient(plan, targets, words, first, tick, period):
    """The least t >= 1 whose state recurs, from the packed state of an earlier tick (R45)."""
    early, late = unpack(plan, words, first), unpack(plan, words, first)
    for _ in range(period):
        advance(plan, targets, late)
    while True:
        if tick > 0 and signature(early) == signature(late):
            size = packed_size(early)
            if size == packed_size(late) and _same(pack(plan, early), 0, pack(plan, late)):
                return tick
        advance(plan, targets, early)
        advance(plan, targets, late)
        tick += 1


def _make_run(stamp: str):
    @entry
    def run(plan, targets, tick_cap, with_transient):
        _ = stamp
        state = start(plan)
        ticks, starts = np.zeros(MAX_MARKS, np.int64), np.zeros(MAX_MARKS + 1, np.int64)
        signatures, but_products = np.empty(MAX_MARKS, np.uint64), np.empty(MAX_MARKS, np.uint64)
        marks = Marks(ticks, signatures, but_products, starts)
        words = np.empty(4096, np.int32)
        half, count = state.delivered.copy(), 0
        tick, steps, mark_due, may_skip, first = 0, 0, 0, not with_transient, 0
        while tick <= tick_cap:
            if tick == tick_cap // 2:
                half = state.delivered.copy()
            partial = signature_but_products(state)
            current = partial + products_signature(state)
            m = _find(signatures, 0, count, current)
            if m < count:
                m = _confirm(plan, marks, m, count, words, state, current)
            if m < count:
                period, transient = tick - ticks[m], -1
                if with_transient:
                    before = max(m - 1, 0)
                    transient = _find_transient(
                        plan, targets, words, starts[before], ticks[before], period
                    )
                counts = _delivered_since(words, starts[m + 1], state.delivered)
                return tick, transient, period, period, counts, state.delivered
            if steps >= mark_due and count < MAX_MARKS:
                packed = pack(plan, state)
                words = _append(words, starts[count], packed, state.delivered)
                starts[count + 1] = starts[count] + len(packed) + state.delivered.size
                signatures[count], but_products[count], ticks[count] = current, partial, tick
                mark_due = steps + max(MIN_SPACING, steps >> SPACING_SHIFT)
                count, may_skip = count + 1, not with_transient
            m = _find(but_products, first, count, partial) if may_skip else count
            period = tick - ticks[m] if m < count else 0
            if 0 < period < tick_cap - tick:
                passed = skip_filling(plan, targets, state, period)
                tick, steps = tick + passed, steps + period
                mark_due, may_skip, first = steps, False, count
            else:
                advance(plan, targets, state)
                tick, steps = tick + 1, steps + 1
        counts = state.delivered - half
        return tick_cap, -1, 0, tick_cap - tick_cap // 2, counts, state.delivered

    return run


run = _make_run(source_stamp())
