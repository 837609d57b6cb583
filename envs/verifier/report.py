"""Results of the verifier: exact rates as fractions (R43, R46, R47). Jax-free."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from envs.catalogue import TICKS_PER_S
from envs.verifier.encode import Rows
from envs.verifier.records import Plan
from envs.verifier.recurrence import Run, SinkRun


@dataclass(frozen=True, slots=True)
class SinkRate:
    """Items per second of one item at one sink.

    Attributes:
        x, y: the sink's tile.
        item: item name.
        rate: exact, or the estimate of R47 where a part that reaches the sink did not recur.
        lower, upper: equal to `rate` when exact, else the bounds of R47 on the windowed mean.
    """

    x: int
    y: int
    item: str
    rate: Fraction
    lower: Fraction
    upper: Fraction


@dataclass(frozen=True, slots=True)
class Verified:
    """What a layout delivers.

    Attributes:
        rates: for each sink, in row-major order, its scored item and every item that it received,
            by name.
        exact: whether every part's state recurred within the tick cap, so that all rates are
            exact. A rate whose bounds are equal is exact in any case.
        ticks: ticks simulated until the last part's repeat was found, or the tick cap.
        transient_ticks: first tick whose state recurs (R45), None when not exact.
        period_ticks: least period (R45), None when not exact.
    """

    rates: tuple[SinkRate, ...]
    exact: bool
    ticks: int
    transient_ticks: int | None
    period_ticks: int | None


def to_json(result: Verified) -> dict[str, Any]:
    """The JSON form of a result; with `exact` false, bounds and ticks stand beside each rate."""
    rates = []
    for sink in result.rates:
        entry = {"x": sink.x, "y": sink.y, "item": sink.item, "rate": str(sink.rate)}
        entry["items_per_s"] = float(sink.rate)
        if not result.exact:
            entry |= {"lower": str(sink.lower), "upper": str(sink.upper), "ticks": result.ticks}
        rates.append(entry)
    return {
        "rates": rates,
        "exact": result.exact,
        "transient_ticks": result.transient_ticks,
        "period_ticks": result.period_ticks,
    }


def per_second(count: int, ticks: int) -> Fraction:
    """Items per second for a count over some ticks."""
    return Fraction(TICKS_PER_S * count, ticks)


def exact_rate(result: SinkRun) -> Fraction | None:
    """Items per second of the item that a run was made for; None where a part did not recur."""
    if not result.period.all():
        return None
    shares = zip(result.counts, result.period, strict=True)
    return sum((per_second(int(count), int(period)) for count, period in shares), Fraction(0))


def verified(rows: Rows, plan: Plan, result: Run) -> Verified:
    """The result of a run as a report."""
    part_of_row = np.searchsorted(plan.parts["sinks"], np.arange(len(plan.sinks)), side="right")
    rates = []
    for number, sink in enumerate(rows.sinks):
        at_sink = [int(row) for row in np.flatnonzero(plan.sinks == number)]
        seen = {rows.items[item] for row in at_sink for item in result.totals[row].nonzero()[0]}
        for name in sorted(seen | ({sink.item} if sink.item is not None else set())):
            item = rows.items.index(name)
            counts = [(int(part_of_row[row]), int(result.counts[row, item])) for row in at_sink]
            rates.append(SinkRate(sink.x, sink.y, name, *_rate(result, counts)))
    exact = bool(np.all(result.period > 0))
    return Verified(
        tuple(rates),
        exact,
        int(result.ticks.max(initial=0)),
        int(result.transient.max(initial=1)) if exact else None,
        math.lcm(*map(int, result.period)) if exact else None,
    )


def _rate(result: Run, counts: list[tuple[int, int]]) -> tuple[Fraction, Fraction, Fraction]:
    """Items per second with lower and upper bound (R46, R47), from counts of parts at a sink."""
    recurring, unsettled, window = Fraction(0), 0, 0
    for part, count in counts:
        if result.period[part]:
            recurring += per_second(count, int(result.window[part]))
        else:
            unsettled, window = unsettled + count, int(result.window[part])
    if not window:
        return recurring, recurring, recurring
    rate, lower, upper = (
        recurring + per_second(count, window)
        for count in (unsettled, max(0, unsettled - 1), unsettled + 1)
    )
    return rate, lower, upper
