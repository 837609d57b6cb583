"""The answers of `verify` as tables on a terminal. Jax-free."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from envs.verifier.bottleneck import percent
from envs.verifier.diagnosis import LaneLoad
from envs.verifier.report import SinkRate, Verified
from factorio_rl.printing import printing
from factorio_rl.verify_answer import Answer, notes, outputs_without_items

MAX_ROWS = 40
"""Most rows of a table; --json gives all."""

_INEXACT = (
    "the range is that of the mean over the last half of the ticks, and the true rate may lie "
    "outside it; raise --tick-cap"
)


def print_answer(found: Answer) -> None:
    """Everything about one layout."""
    with printing() as console:
        _print_answer(console, found)


def _print_answer(console: Console, found: Answer) -> None:
    layout, verified = found.loaded.layout, found.diagnosis.verified
    title = f"{found.loaded.name}: {layout.width} x {layout.height} tiles, "
    _say(console, f"{title}{len(layout.entities)} entities")
    _print_import(console, found)
    for note in notes(layout):
        _say(console, f"  {note}")
    rates = _rate_table([found], with_name=False)
    if rates.row_count:
        console.print(rates)
    else:
        _say(console, "the layout has no sink that counts an item")
    _say(console, _how_sure(verified, complete=not found.unknown))
    console.print()
    _say(console, found.bottleneck.sentence)
    _print_uses(console, found)
    lanes = found.known(found.diagnosis.lanes)
    if lanes:
        _print_lanes(console, lanes)


def print_rates(answers: Sequence[Answer]) -> None:
    """One row for each output of many layouts."""
    with printing() as console:
        console.print(_rate_table(answers, with_name=True))
        for found in answers:
            if found.loaded.imported is not None:
                _say(console, f"{found.loaded.name}:")
                _print_import(console, found)
        if not all(found.diagnosis.verified.exact for found in answers):
            _say(console, f"two figures: not exact; {_INEXACT}")


def _say(console: Console, line: str) -> None:
    """A line of text that may hold anything, square brackets too."""
    console.print(Text(line))


def _print_import(console: Console, found: Answer) -> None:
    """How a blueprint was read."""
    imported = found.loaded.imported
    if imported is None:
        return
    for sentence in imported.inferred:
        _say(console, f"  {sentence}")
    if imported.ignored:
        _say(console, f"  without effect on items: {', '.join(imported.ignored)}")
    for one in imported.unsupported:
        _say(console, f"  not simulated: {one.name} at ({one.x}, {one.y}): {one.reason}")


def _how_sure(verified: Verified, complete: bool) -> str:
    if not verified.exact:
        return (
            f"not exact: no state recurred within {verified.ticks:,} ticks, so belts or machines "
            f"may still fill up; {_INEXACT}"
        )
    if not complete:
        return "what is not simulated could change what is unknown; all other figures are exact"
    return (
        f"exact; transient {verified.transient_ticks:,} ticks, period {verified.period_ticks:,} "
        "ticks of 1/60 s"
    )


def _rate_table(answers: Sequence[Answer], with_name: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in (*(["layout"] if with_name else []), "output", "item"):
        table.add_column(name, overflow="fold")
    for name in ("items/s", ""):
        table.add_column(name, justify="right")
    for found in answers:
        rows: list[tuple[Any, ...]] = []
        for rate in found.diagnosis.verified.rates:
            known = (rate.x, rate.y) not in found.unknown
            rows.append((rate.x, rate.y, rate.item, *(_rate(rate) if known else ("unknown",))))
        rows += [(x, y, "-", "unknown") for x, y in outputs_without_items(found)]
        for x, y, *cells in rows:
            names = [found.loaded.name] if with_name else []
            table.add_row(*(Text(cell) for cell in (*names, f"({x}, {y})", *cells)))
    return table


def _rate(rate: SinkRate) -> tuple[str, str]:
    """A rate as a fraction and as a number; bounds where it is not exact."""
    if rate.lower == rate.upper:
        return str(rate.rate), f"{float(rate.rate):.6g}"
    return "", f"{float(rate.lower):.6g} to {float(rate.upper):.6g}"


def _print_uses(console: Console, found: Answer) -> None:
    """Machines, then inserters."""
    machines = Table("machine", "at", "recipe", box=None, pad_edge=False, header_style="bold")
    inserters = Table("inserter", "at", box=None, pad_edge=False, header_style="bold")
    for table, name in ((machines, "crafts/s"), (inserters, "items/s")):
        for column in ("use", name):
            table.add_column(column, justify="right")
        table.add_column("waits for")
    for one in found.known(found.diagnosis.machines)[:MAX_ROWS]:
        at = f"({one.x}, {one.y})"
        machines.add_row(
            one.prototype,
            at,
            one.recipe or "-",
            percent(one.use),
            f"{float(one.crafts_per_s):.4g}",
            _waits(one.waits),
        )
    for one in found.known(found.diagnosis.inserters)[:MAX_ROWS]:
        there = ""
        if one.unwanted:
            verb = "has enough of" if one.items_per_s else "does not want"
            there = f" (it {verb} the {one.unwanted} there)"
        inserters.add_row(
            one.prototype,
            f"({one.x}, {one.y})",
            percent(one.use),
            f"{float(one.items_per_s):.4g}",
            _waits(one.waits) + there,
        )
    for table, ones in (
        (machines, found.diagnosis.machines),
        (inserters, found.diagnosis.inserters),
    ):
        if table.row_count:
            console.print()
            console.print(table)
        if len(ones) > MAX_ROWS:
            _say(console, f"the first {MAX_ROWS} of {len(ones)}; --json gives all")


def _waits(waits: Mapping[str, Fraction]) -> str:
    """Reasons with their shares of time, the longest first."""
    ordered = sorted(waits.items(), key=lambda wait: -wait[1])
    return ", ".join(f"{reason} {percent(share)}" for reason, share in ordered)


def _print_lanes(console: Console, lanes: Sequence[LaneLoad]) -> None:
    """The busiest belt tiles, both lanes of each."""
    by_tile: dict[tuple[int, int], dict[str, LaneLoad]] = {}
    for lane in lanes:
        by_tile.setdefault((lane.x, lane.y), {})[lane.lane] = lane

    def busiest(tile: tuple[int, int]) -> tuple[Fraction, int, int]:
        return -max(lane.load for lane in by_tile[tile].values()), tile[1], tile[0]

    shown = sorted(by_tile, key=busiest)[: MAX_ROWS // 4]
    console.print()
    _say(
        console,
        f"the busiest {len(shown)} of {len(by_tile)} belt tiles (load: share of 7.5/s a lane; "
        "end stops: how often the line's first item stands still)",
    )
    table = Table("at", box=None, pad_edge=False, header_style="bold")
    for side in ("left", "right"):
        for name in (f"{side} items/s", "load", "end stops"):
            table.add_column(name, justify="right")
    for tile in shown:
        cells = [f"({tile[0]}, {tile[1]})"]
        for side in ("left", "right"):
            lane = by_tile[tile][side]
            cells += [f"{float(lane.items_per_s):.4g}", percent(lane.load), percent(lane.stopped)]
        table.add_row(*cells)
    console.print(table)
