"""Whether the kernel tree decides as the lean tree does, on random searches.

    python -m benchmarks.search_agreement [--searches 640] [--quick] [--out FILE]

Each search runs with both trees. They agree if actions, topology and visits are the same and the
action weights differ by at most 1e-6. Every decision of both is judged by a replay in float64: if
they parted at a near tie, that is listed with its gap, and anything else is an error. Prints a
table, every parting and every error, writes `docs/results/search_agreement.json` (with `--quick`
only where `--out` says), and ends with exit code 1 if there is an error. On a GPU the kernel is
compiled, on a CPU it is interpreted, which is slow.
"""

import argparse
import math
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from benchmarks.agreement_table import QUICK_TABLE, TABLE, Configuration, Game, root_masks
from benchmarks.results import command_line, write_results
from benchmarks.search_program import num_kernels
from benchmarks.tree_comparison import Comparison, compare
from benchmarks.tree_replay import Record, Task
from factorio_rl.search import SearchOutput, SearchSettings, gumbel_muzero_search
from factorio_rl.search.select import sample_gumbel
from factorio_rl.search.settings import TreeName

BATCH = 16
QUICK_BATCH = 8


class Report(NamedTuple):
    """All searches of one configuration: a comparison for each row of each seed's batch."""

    configuration: Configuration
    num_actions: int
    seeds: Sequence[int]
    comparisons: list[Comparison]

    def count(self, outcome: str) -> int:
        return sum(comparison.outcome == outcome for comparison in self.comparisons)

    def largest(self, name: str) -> float | None:
        """The largest of a figure, over the searches that have it; None if none has."""
        return largest(getattr(comparison, name) for comparison in self.comparisons)

    def notes(self) -> Iterator[str]:
        """A line for every parting and every error."""
        for number, comparison in enumerate(self.comparisons):
            seed, row = divmod(number, len(self.comparisons) // len(self.seeds))
            where = f"{self.configuration.name}, seed {self.seeds[seed]}, row {row}"
            if comparison.parting is not None:
                yield f"{where}: {comparison.parting}"
            for error in comparison.errors[:4]:
                yield f"{where}: ERROR: {error}"

    def row(self) -> dict[str, Any]:
        """The row of `docs/results/search_agreement.json`."""
        return {
            "configuration": self.configuration.name,
            "actions": self.num_actions,
            "simulations": self.configuration.settings.num_simulations,
            "searches": len(self.comparisons),
            "equal": self.count("equal"),
            "same_bits": sum(comparison.same_bits for comparison in self.comparisons),
            "near_ties": self.count("near tie"),
            "errors": self.count("error"),
            "largest_weight_difference": self.largest("weight_difference"),
            "largest_root_value_difference": self.largest("root_value_difference"),
            "largest_value_difference": self.largest("value_difference"),
            "largest_lean_weight_error": self.largest("lean_weight_error"),
            "largest_kernel_weight_error": self.largest("kernel_weight_error"),
            "largest_depth": self.largest("depth"),
            "notes": list(self.notes()),
        }


def largest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


@partial(jax.jit, static_argnames=("settings", "handed_in"))
def run_search(
    game: Game,
    seed: jax.Array,
    roots: Any,
    legal: jax.Array,
    gumbel_scale: jax.Array,
    settings: SearchSettings,
    handed_in: bool,
) -> tuple[SearchOutput, jax.Array]:
    """The search, and the Gumbel noise `[B, A]` that it draws."""
    key = jax.random.key(seed)
    evaluation = game.evaluate(roots) if handed_in else None
    output = gumbel_muzero_search(
        key, game.expand, roots, legal, settings, gumbel_scale, evaluation
    )
    return output, sample_gumbel(key, legal, gumbel_scale)


def measure(configuration: Configuration, seeds: Sequence[int], batch: int) -> Report:
    """Runs and compares `batch` searches for each seed."""
    game = configuration.make_game()
    comparisons = []
    for seed in seeds:
        roots = game.roots(batch, seed)
        legal = root_masks(game.legal_actions(roots))
        lean, gumbel = run(configuration, "lean", game, seed, roots, legal)
        kernel, _ = run(configuration, "kernel", game, seed, roots, legal)
        for row in range(batch):
            task = Task(configuration.settings, legal[row], gumbel[row].astype(np.float64))
            comparisons.append(compare(task, record_of(lean, row), record_of(kernel, row)))
    return Report(configuration, game.num_actions, seeds, comparisons)


def run(
    configuration: Configuration,
    tree: TreeName,
    game: Game,
    seed: int,
    roots: Any,
    legal: NDArray[np.bool_],
) -> Any:
    """The results of `run_search`, on the host."""
    search = partial(
        run_search,
        game,
        jnp.int32(seed),
        roots,
        legal,
        jnp.float32(configuration.gumbel_scale),
        settings=replace(configuration.settings, tree=tree),
        handed_in=configuration.handed_in,
    )
    if tree == "kernel" and num_kernels(jax.make_jaxpr(search)().jaxpr) == 0:
        sys.exit("The kernel tree runs without its kernel here, so there is nothing to compare.")
    return jax.device_get(search())


def record_of(output: SearchOutput, row: int) -> Record:
    """One row of a search whose arrays are on the host."""
    of_output = ("action", "action_weights", "root_value")
    return Record(
        **{
            name: getattr(output if name in of_output else output.tree, name)[row]
            for name in Record._fields
        }
    )


HEADER = (
    f"{'configuration':29} {'searches':>9} {'equal':>6} {'same bits':>9} {'near ties':>9} "
    f"{'errors':>6} {'weights':>9} {'values':>9} {'depth':>5}"
)


def table_line(name: str, reports: list[Report]) -> str:
    """Sums and maxima over the reports, under `HEADER`."""
    rows = [report.row() for report in reports]
    counts = ("searches", "equal", "same_bits", "near_ties", "errors")
    sums = [sum(row[count] for row in rows) for count in counts]
    widths = (9, 6, 9, 9, 6)
    columns = [f"{number:{width}d}" for number, width in zip(sums, widths, strict=True)]
    for figure in ("weight_difference", "value_difference"):
        difference = largest(row[f"largest_{figure}"] for row in rows)
        columns.append(f"{'-':>9}" if difference is None else f"{difference:9.1e}")
    depth = largest(row["largest_depth"] for row in rows)
    return " ".join([f"{name:29}", *columns, f"{depth:5d}"])


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the kernel tree with the lean tree.")
    parser.add_argument("--searches", type=int, default=640, help="at least so many")
    parser.add_argument("--quick", action="store_true", help="few small searches, no result file")
    parser.add_argument(
        "--out", type=Path, help="result file (default: docs/results/search_agreement.json)"
    )
    args = parser.parse_args()

    table, batch = (QUICK_TABLE, QUICK_BATCH) if args.quick else (TABLE, BATCH)
    rounds = 1 if args.quick else math.ceil(args.searches / (len(table) * batch))
    seeds = [range(first, first + rounds) for first in range(0, rounds * len(table), rounds)]
    print(HEADER)
    reports = []
    # Compilation takes most of the time, and does not hold Python's lock.
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        for report in pool.map(partial(measure, batch=batch), table, seeds):
            reports.append(report)
            print(table_line(report.configuration.name, [report]), flush=True)
    print(table_line("all", reports), *chain.from_iterable(map(Report.notes, reports)), sep="\n")
    if args.out or not args.quick:
        command = command_line("search_agreement", sys.argv[1:])
        rows = [report.row() for report in reports]
        print(write_results("search_agreement", rows, command, args.out))
    if any(report.count("error") for report in reports):
        sys.exit(1)


if __name__ == "__main__":
    main()
