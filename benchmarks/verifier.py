"""Speed and truth of the exact verifier, beside factorion's flow model.

    python -m benchmarks.verifier

Flow: sets of layouts -> warm-up -> calls that take turns, medians -> table and
`docs/results/verifier.json`. Of every set `verify` and `score_rate` are timed on one core, and
`verify_many` on 1, 2 and all threads. Ticks are those until the repeat is found; the time is that
of the whole call, from layout to fractions, in seconds of the processor (`verify_many`: of the
clock). Errors are mean absolute ones in items per second and sink against the rates that files
hold, or against our exact rates where none hold them. Both engines are compared on the layouts
that the flow model can express; its time is that of its own function, without the conversion.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from statistics import fmean, median
from typing import Any, NamedTuple

from benchmarks import factorion_model
from benchmarks.layout_sets import LayoutSet, Rates, SinkItem, all_sets, is_scorable
from benchmarks.results import command_line, processor_name, write_results
from envs.layout import Layout
from envs.verifier import Verified, score_rate, verify, verify_many

BATCH = 4
"""How often `verify_many` gets a set in one call."""

TOLERANCE = Fraction(1, 20)
"""A rate that differs by more than this share of the exact one counts as off."""

Row = dict[str, Any]
Work = tuple[Callable[[], Any], Callable[[], float]]
"""What is timed, and the clock for it."""


def row(layouts: str, n: int, call: str, layouts_per_s: float, **figures: Any) -> Row:
    """A row with every column; those without a figure hold None."""
    return {
        "engine": "ours",
        "layouts": layouts,
        "n": n,
        "call": call,
        "threads": 1,
        "ticks_per_s_core": None,
        "layouts_per_s": round(layouts_per_s, 1),
        "speedup": None,
        "mean_error": None,
        "off_by_5_percent": None,
        "inexact": None,
    } | figures


def interleaved(works: Mapping[str, Work], repeats: int) -> dict[str, float]:
    """Median seconds of each work; they take turns, after one turn that warms up."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeats + 1):
        for name, (work, clock) in works.items():
            before = clock()
            work()
            if turn > 0:
                times[name].append(clock() - before)
    return {name: median(seconds) for name, seconds in times.items()}


def rates_of(result: Verified) -> Rates:
    return {(sink.x, sink.y, sink.item): sink.rate for sink in result.rates}


def errors(
    found: Sequence[Mapping[SinkItem, Fraction | float]], true: Sequence[Rates]
) -> dict[str, float]:
    """Mean absolute error over the true rates in items/s, and the share of layouts that are off."""
    wrong, off = [], []
    for layout, rates in zip(found, true, strict=True):
        differences = {key: abs(layout.get(key, 0) - rate) for key, rate in rates.items()}
        wrong += [float(difference) for difference in differences.values()]
        off.append(any(differences[key] > TOLERANCE * rate for key, rate in rates.items()))
    return {"mean_error": round(fmean(wrong), 4), "off_by_5_percent": round(fmean(off), 4)}


def measure(layout_set: LayoutSet, repeats: int) -> list[Row]:
    """Rows of one set: full results on one core and on several, and scores on one core."""
    name, layouts = layout_set.name, layout_set.layouts
    scored = [layout for layout in layouts if is_scorable(layout)]
    threads = sorted({1, min(2, cores()), cores()})
    works: dict[str, Work] = {
        "verify": (lambda: [verify(layout) for layout in layouts], time.process_time),
        "score_rate": (lambda: [score_rate(layout) for layout in scored], time.process_time),
    }
    for count in threads:
        works[f"verify_many {count}"] = (
            lambda count=count: verify_many(layouts * BATCH, count),
            time.perf_counter,
        )
    seconds = interleaved(works, repeats)
    results = [verify(layout) for layout in layouts]
    figures: dict[str, Any] = {"inexact": sum(not result.exact for result in results)}
    if layout_set.expected is not None:
        found = [rates_of(result) for result in results]
        figures |= errors(found, layout_set.expected)
    ticks = sum(result.ticks for result in results)
    n, one = len(layouts), seconds["verify"]
    rows = [
        row(name, n, "verify", n / one, ticks_per_s_core=round(ticks / one), **figures),
        row(name, len(scored), "score_rate", len(scored) / seconds["score_rate"]),
    ]
    for count in threads:
        taken = seconds[f"verify_many {count}"]
        speedup = round(seconds["verify_many 1"] / taken, 2)
        rows.append(row(name, n, "verify_many", BATCH * n / taken, threads=count, speedup=speedup))
    return rows


class Pair(NamedTuple):
    """A layout that both engines know, as the flow model takes it, and its exact rates there."""

    layout: Layout
    world: factorion_model.World
    true: Rates


def in_both(layout_set: LayoutSet, model: Any) -> list[Pair]:
    """The layouts with a sink that the flow model can express and whose exact rates are known."""
    pairs = []
    for number, layout in enumerate(layout_set.layouts):
        world = factorion_model.world_of(model, layout)
        if world is None or not world.sinks:
            continue
        result = verify(layout)
        known = layout_set.expected[number] if layout_set.expected else rates_of(result)
        if result.exact:
            wanted = factorion_model.deliveries(model, world)
            pairs.append(Pair(layout, world, {key: known[key] for key in wanted}))
    return pairs


def compare(layout_set: LayoutSet, model: Any, repeats: int) -> list[Row]:
    """Rows of both engines on the same layouts; none where the flow model can express none."""
    pairs = in_both(layout_set, model)
    name, n = f"{layout_set.name}, in both", len(pairs)
    if not pairs:
        print(f"none of the {len(layout_set.layouts)} {layout_set.name} layouts is in both engines")
        return []

    def ours() -> list[Verified]:
        return [verify(pair.layout) for pair in pairs]

    def theirs() -> list[Any]:
        return [model.py_sink_deliveries(pair.world.tensor) for pair in pairs]

    seconds = interleaved(
        {"ours": (ours, time.process_time), "factorion": (theirs, time.process_time)}, repeats
    )
    results, true = ours(), [pair.true for pair in pairs]
    flows = [factorion_model.deliveries(model, pair.world) for pair in pairs]
    ticks_per_s = round(sum(result.ticks for result in results) / seconds["ours"])
    return [
        row(
            name,
            n,
            "verify",
            n / seconds["ours"],
            ticks_per_s_core=ticks_per_s,
            inexact=sum(not result.exact for result in results),
            **errors([rates_of(result) for result in results], true),
        ),
        row(
            name,
            n,
            "py_sink_deliveries",
            n / seconds["factorion"],
            engine="factorion",
            **errors(flows, true),
        ),
    ]


def cores() -> int:
    return os.cpu_count() or 1


def print_table(rows: Sequence[Row]) -> None:
    print(
        f"{'layouts':25}{'n':>4}  {'engine':10}{'call':19}{'threads':>7}{'M ticks/s/core':>15}"
        f"{'layouts/s':>11}{'speed-up':>9}{'mean error':>11}{'> 5 % off':>10}{'inexact':>8}"
    )
    for entry in rows:
        ticks, off = entry["ticks_per_s_core"], entry["off_by_5_percent"]
        error, speedup = entry["mean_error"], entry["speedup"]
        inexact = entry["inexact"]
        print(
            f"{entry['layouts']:25}{entry['n']:4}  {entry['engine']:10}{entry['call']:19}"
            f"{entry['threads']:7}{'' if ticks is None else f'{ticks / 1e6:.2f}':>15}"
            f"{entry['layouts_per_s']:11.0f}{'' if speedup is None else f'{speedup:.2f}':>9}"
            f"{'' if error is None else f'{error:.4f}':>11}"
            f"{'' if off is None else f'{off:.1%}':>10}{'' if inexact is None else inexact:>8}"
        )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Speed and truth of the exact verifier.")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args(arguments)
    model = factorion_model.load()
    if model is None:
        print(f"factorion's flow model is left out: {factorion_model.INSTALL}")
    load = ", ".join(f"{average:.2f}" for average in os.getloadavg())
    print(f"on {processor_name()}, medians of {options.repeats}, load average before: {load}")
    rows = []
    for layout_set in all_sets():
        rows += measure(layout_set, options.repeats)
        rows += compare(layout_set, model, options.repeats) if model else []
    print_table(rows)
    write_results("verifier", rows, command_line("verifier", arguments))


if __name__ == "__main__":
    main(sys.argv[1:])
