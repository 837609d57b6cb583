"""Results of the verifier: exact rates as fractions (R43, R46, R47). Jax-free."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from envs.catalogue import TICKS_PER_S
from envs.verifier.encode import Rows
from envs.verifier.recurrence import Run


@dataclass(frozen=True, slots=True)
class SinkRate:
    """Items per second of one item at one sink.

    Attributes:
        x, y: the sink's tile.
        item: item name.
        rate: exact, or the estimate of R47 when the result is not exact.
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
        exact: whether the state recurred within the tick cap, so that the rates are exact.
        ticks: ticks simulated until the repeat was found, or the tick cap.
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


def verified(rows: Rows, result: Run) -> Verified:
    """The result of a run as a report."""
    exact = result.period > 0
    slack = 0 if exact else 1
    rates = []
    for number, sink in enumerate(rows.sinks):
        seen = {rows.items[item] for item in result.totals[number].nonzero()[0]}
        for name in sorted(seen | ({sink.item} if sink.item is not None else set())):
            count = int(result.counts[number, rows.items.index(name)])
            rate, lower, upper = (
                per_second(max(0, count + change), result.window) for change in (0, -slack, slack)
            )
            rates.append(SinkRate(sink.x, sink.y, name, rate, lower, upper))
    return Verified(
        tuple(rates),
        exact,
        result.ticks,
        result.transient if exact else None,
        result.period if exact else None,
    )
