"""Kept states of a running part, and finding out whether a later state equals one of them (R45).

States are compared first by signature, behind a filter that nearly always says no, then as a
whole. The packed words of all marks stand one behind the other. Compiled code only.
"""

from typing import NamedTuple

import numpy as np

from envs.verifier.jit import allocating, inlined, outlined
from envs.verifier.state import (
    pack,
    packed_size,
    products_signature,
    signature,
    signature_but_products,
)

MAX_MARKS = 512
MIN_SPACING = 32
SPACING_SHIFT = 5
"""Marks lie 1/32 of the ticks run so far apart, at least 32 ticks."""

FILTER_SIZE = 4096
FILTER_SHIFT = np.uint64(52)
"""A signature's highest 12 bits say in which place of a filter it leaves its trace."""

WHOLE, BUT_PRODUCTS = range(2)
"""Kinds of likeness: the whole state, or all but the product counts of machines."""


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
def same_words(words, first, other):
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
def find_mark(marks, kind, first, count, current):
    """`_find` among signatures of a kind, which looks at the filter before the marks."""
    if marks.seen[kind, current >> FILTER_SHIFT] == 0:
        return count
    return _find(marks.signatures if kind == WHOLE else marks.but_products, first, count, current)


@allocating
def confirm(plan, marks, m, count, words, state):
    """The first mark from `m` on that equals the present state as a whole, `count` if none."""
    current = signature(state)
    while m < count:
        size = marks.starts[m + 1] - marks.starts[m] - state.delivered.size
        if size == packed_size(state) and same_words(words, marks.starts[m], pack(plan, state)):
            return m
        m = _find(marks.signatures, m + 1, count, current)
    return m


@allocating
def delivered_since(words, end, delivered):
    """Items delivered since the mark whose words end at `end`."""
    counts = np.empty(delivered.shape, np.int64)
    at = end - delivered.size
    for sink in range(delivered.shape[0]):
        for item in range(delivered.shape[1]):
            counts[sink, item] = delivered[sink, item] - words[at]
            at += 1
    return counts


@allocating
def new_marks():
    """Room for marks."""
    return Marks(
        np.zeros(MAX_MARKS, np.int64),
        np.empty(MAX_MARKS, np.uint64),
        np.empty(MAX_MARKS, np.uint64),
        np.zeros(MAX_MARKS + 1, np.int64),
        np.zeros((2, FILTER_SIZE), np.uint8),
    )


@allocating
def add_mark(plan, marks, m, words, tick, state):
    """Keeps the present state as mark m; returns the words, enlarged if need be."""
    packed = pack(plan, state)
    words = _append(words, marks.starts[m], packed, state.delivered)
    partial = signature_but_products(state)
    current = partial + products_signature(state)
    marks.starts[m + 1] = marks.starts[m] + len(packed) + state.delivered.size
    marks.signatures[m], marks.but_products[m], marks.ticks[m] = current, partial, tick
    marks.seen[WHOLE, current >> FILTER_SHIFT] = 1
    marks.seen[BUT_PRODUCTS, partial >> FILTER_SHIFT] = 1
    return words
