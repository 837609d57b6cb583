"""Verifying layouts: one, many, or only the rate that a task scores. Jax-free.

Compiled code frees the GIL, so layouts run in parallel on one pool of threads. Results do not
depend on the number of threads.
"""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from fractions import Fraction
from itertools import repeat

from envs.layout import Layout, LayoutError
from envs.verifier.compile import compile_layout
from envs.verifier.recurrence import Run, SinkRun, run, run_sink
from envs.verifier.report import Verified, exact_rate, verified
from envs.verifier.targets import targets

TICK_CAP = 1_000_000
"""Default of the tick cap (R47)."""


def _check_cap(tick_cap: int) -> None:
    if not 1 <= tick_cap < 1 << 31:
        raise ValueError(f"tick_cap is {tick_cap}; give a number from 1 to {(1 << 31) - 1}")


def verify(layout: Layout, tick_cap: int = TICK_CAP) -> Verified:
    """Simulates a layout until its state recurs (fv-1).

    Raises LayoutError for a layout that breaks R4, ValueError for a tick cap below 1.
    """
    _check_cap(tick_cap)
    plan, rows = compile_layout(layout)
    return verified(rows, plan, Run(*run(plan, targets(), tick_cap)))


def verify_many(
    layouts: Iterable[Layout], threads: int | None = None, tick_cap: int = TICK_CAP
) -> list[Verified]:
    """`verify` for each layout, in order, on `threads` threads (default: one per core).

    Raises LayoutError for the first layout that breaks R4.
    """
    _check_cap(tick_cap)
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}; give at least 1, or None for one per core")
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        return list(pool.map(verify, layouts, repeat(tick_cap)))


def score_rate(layout: Layout, tick_cap: int = TICK_CAP) -> Fraction | None:
    """Items per second of the scored item at the layout's only sink; None when not exact (R47).

    Certain zeros (R48) are not simulated. Raises LayoutError for a layout that breaks R4, or that
    has not exactly one sink with a scored item.
    """
    _check_cap(tick_cap)
    plan, rows = compile_layout(layout)
    if len(rows.sinks) != 1 or rows.sinks[0].item is None:
        raise LayoutError(
            f"the layout has {len(rows.sinks)} sinks; a score needs one sink with a scored item"
        )
    item = rows.items.index(rows.sinks[0].item)
    return exact_rate(SinkRun(*run_sink(plan, targets(), tick_cap, 0, item)))


def score_rates(
    layouts: Sequence[Layout], pool: Executor, tick_cap: int = TICK_CAP
) -> list[Fraction | None]:
    """`score_rate` for each layout, in order, on the caller's pool of threads."""
    return list(pool.map(score_rate, layouts, repeat(tick_cap)))
