"""Speed of the exact verifier on one core, and on all cores.

    python -m benchmarks.verifier

Two sets: the reference cases that this version supports, and the generated 12x12 layouts with
what it does not know replaced: every assembling machine by assembling machine 1, every inserter
by the plain one; layouts with furnaces or chests are left out. So the second set measures speed on
layouts of that size, not the rates that their file states. Ticks are those until the repeat is
found; the time is that of the whole call, from layout to fractions, in seconds of the processor.
Writes `docs/results/verifier.json`.
"""

import argparse
import json
import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.results import processor_name, write_results
from envs.layout import Layout, LayoutError, layout_from_json
from envs.verifier import score_rate, verify, verify_many

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
DROPPED = {"furnace", "chest_src", "chest_sink"}


def reference_cases() -> list[Layout]:
    """The reference cases made of supported entities only."""
    layouts = []
    for case in json.loads((DATA / "cases_public.json").read_text()):
        try:
            layouts.append(layout_from_json(case))
        except LayoutError:
            continue
    return layouts


def substituted_layouts() -> list[Layout]:
    """The generated layouts with supported machines and inserters in place of the others."""
    layouts = []
    for layout in json.loads((DATA / "layouts_public.json").read_text()):
        if any(entity["k"] in DROPPED for entity in layout["entities"]):
            continue
        plain = [{k: v for k, v in entity.items() if k != "t"} for entity in layout["entities"]]
        layouts.append(layout_from_json(layout | {"entities": plain}))
    return layouts


def single_sink(layouts: list[Layout]) -> list[Layout]:
    """Those that a task could score."""
    return [
        layout
        for layout in layouts
        if sum(entity.kind == "sink" for entity in layout.entities) == 1
    ]


def seconds(work: Callable[[], Any], clock: Callable[[], float], repeats: int) -> float:
    """Median time of some work, after one run that compiles and warms up."""
    work()
    times = []
    for _ in range(repeats):
        before = clock()
        work()
        times.append(clock() - before)
    return median(times)


def measure(name: str, layouts: list[Layout], repeats: int) -> list[dict[str, Any]]:
    """Rows of one set: full results on one core and on all, and scores on one core."""
    ticks = sum(verify(layout).ticks for layout in layouts)
    one = seconds(lambda: [verify(layout) for layout in layouts], time.process_time, repeats)
    every = seconds(lambda: verify_many(layouts * 8), time.perf_counter, repeats)
    scored = single_sink(layouts)
    score = seconds(lambda: [score_rate(layout) for layout in scored], time.process_time, repeats)
    cores = os.cpu_count()

    def row(call: str, threads: int | None, count: int, speed: float | None, rate: float):
        return {
            "engine": "ours",
            "layouts": name,
            "n": count,
            "call": call,
            "threads": threads,
            "ticks_per_s_core": speed,
            "layouts_per_s": round(rate, 1),
        }

    return [
        row("verify", 1, len(layouts), round(ticks / one), len(layouts) / one),
        row("verify_many", cores, len(layouts), None, 8 * len(layouts) / every),
        row("score_rate", 1, len(scored), None, len(scored) / score),
    ]


def print_table(rows: list[dict[str, Any]]) -> None:
    print(
        f"{'layouts':26}{'n':>4}  {'call':12}{'threads':>8}{'M ticks/s/core':>16}{'layouts/s':>12}"
    )
    for row in rows:
        speed = row["ticks_per_s_core"]
        shown = "" if speed is None else f"{speed / 1e6:.2f}"
        print(
            f"{row['layouts']:26}{row['n']:4}  {row['call']:12}{row['threads']:8}"
            f"{shown:>16}{row['layouts_per_s']:12.1f}"
        )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Speed of the exact verifier.")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args(arguments)
    rows = measure("reference cases", reference_cases(), options.repeats)
    rows += measure("12x12, types substituted", substituted_layouts(), options.repeats)
    print(f"on {processor_name()}, medians of {options.repeats}")
    print_table(rows)
    write_results("verifier", rows, shlex.join(["python", "-m", "benchmarks.verifier", *arguments]))


if __name__ == "__main__":
    main(sys.argv[1:])
