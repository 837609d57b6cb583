"""Speed of the task generator and what its references look like, family by family.

    python -m benchmarks.tasks --per-family 60

One process, one core: solved tasks per minute of processor time, each verified exactly, on 12x12
with up to six blocked cells. Lengths are placements of the references. Writes
`docs/results/tasks.json`.
"""

import argparse
import sys
import time
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.results import command_line, write_results
from envs.families import FAMILIES
from envs.generate import GeneratorSettings, generate
from envs.solved import Solved, difficulty
from envs.split import in_heldout_stratum, is_heldout

SIZE, MAX_BLOCKED, LIMIT = 12, 6, 96


def main() -> None:
    """Prints a table and writes the result file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tasks", description=__doc__)
    parser.add_argument("--per-family", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    generate(_settings("gear"), 0, 0)  # compiles the verifier, or loads it
    rows, every, seconds = [], [], 0.0
    for name in FAMILIES:
        began_s = time.process_time()
        tasks = [generate(_settings(name), options.seed, i) for i in range(options.per_family)]
        took_s = time.process_time() - began_s
        rows.append(row(name, tasks, took_s))
        every += tasks
        seconds += took_s
    rows.append(row("all", every, seconds))
    Console().print(_table(rows))
    print(write_results("tasks", rows, command_line("tasks", sys.argv[1:])))


def row(family: str, tasks: list[Solved], seconds: float) -> dict[str, Any]:
    """The figures of one family's tasks, made in so many seconds of processor time."""
    figures = [asdict(difficulty(solved)) for solved in tasks]
    placements = [of_task["placements"] for of_task in figures]
    return {
        "family": family,
        "n": len(tasks),
        "tasks_per_minute_core": round(60 * len(tasks) / seconds),
        "placements": float(np.mean(placements)),
        "placements_p95": float(np.percentile(placements, 95)),
        "machines": float(np.mean([of_task["machines"] for of_task in figures])),
        "depth": max(of_task["depth"] for of_task in figures),
        "path_length": float(np.mean([of_task["path_length"] for of_task in figures])),
        "held_out": float(np.mean([is_heldout(solved.spec) for solved in tasks])),
        "in_heldout_strata": float(np.mean([in_heldout_stratum(solved.spec) for solved in tasks])),
    }


def _settings(family: str) -> GeneratorSettings:
    return GeneratorSettings(SIZE, SIZE, (family,), LIMIT, MAX_BLOCKED)


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(*rows[0], title="references of the generator")
    for figures in rows:
        cells = [
            f"{value:.2f}" if isinstance(value, float) else value for value in figures.values()
        ]
        table.add_row(*map(str, cells))
    return table


if __name__ == "__main__":
    main()
