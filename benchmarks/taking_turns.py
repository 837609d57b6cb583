"""Median times of programs that take turns, so that a drift of the machine hits all of them alike.

A turn is a burst of calls back to back, as a chunk of self-play makes them, so that the time of a
short program is not that of its dispatch. Slow programs get fewer turns.
"""

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any, NamedTuple, TypeVar

import jax

Name = TypeVar("Name")

MIN_TURNS = 3
BURST_MS = 20.0
MAX_BURST = 8
NUM_KEYS = 32


class Pace(NamedTuple):
    """At most `repeats` turns each, and none after `budget_s` seconds and `MIN_TURNS` turns."""

    repeats: int
    budget_s: float


def take_turns(works: Mapping[Name, Callable[[jax.Array], Any]], pace: Pace) -> dict[Name, float]:
    """Median milliseconds of a call of each work, which gets a fresh random key each time."""
    return {name: median(values) for name, values in all_turns(works, pace).items()}


def all_turns(
    works: Mapping[Name, Callable[[jax.Array], Any]], pace: Pace
) -> dict[Name, list[float]]:
    """Milliseconds of a call of each work, by turn."""
    keys = list(jax.random.split(jax.random.key(0), NUM_KEYS))
    jax.block_until_ready(keys)
    bursts, times = {}, {name: [] for name in works}
    for name, work in works.items():
        _burst_ms(work, keys[:1])
        bursts[name] = min(MAX_BURST, 1 + int(BURST_MS / _burst_ms(work, keys[:1])))
    for turn in range(pace.repeats):
        for name, work in works.items():
            spent_s = sum(times[name]) * bursts[name] / 1e3
            if turn >= MIN_TURNS and spent_s > pace.budget_s:
                continue
            first = turn * bursts[name]
            burst = [keys[(first + call) % NUM_KEYS] for call in range(bursts[name])]
            times[name].append(_burst_ms(work, burst))
    return times


def _burst_ms(work: Callable[[jax.Array], Any], keys: list[jax.Array]) -> float:
    """Milliseconds per call."""
    start = time.perf_counter()
    jax.block_until_ready([work(key) for key in keys])
    return 1e3 * (time.perf_counter() - start) / len(keys)
