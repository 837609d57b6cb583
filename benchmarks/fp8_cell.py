"""One cell of the FP8 benchmark: the same work in several arithmetics, in one process.

In: a function for each arithmetic. Every program is compiled and run once, then they take turns.
Out: rows of the result file, one for each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median, quantiles
from typing import Any, NamedTuple

import jax
import numpy as np

from benchmarks.fp8_rows import make_row
from benchmarks.search_program import Program, build
from benchmarks.search_rows import Row
from benchmarks.taking_turns import Pace, all_turns


class Variant(NamedTuple):
    """A function (key, inputs) -> anything, and the arithmetic that it works in."""

    precision: str
    function: Callable[[jax.Array, Any], Any]
    inputs: Any
    root_precision: str | None = None
    qat: bool | None = None


@dataclass(frozen=True)
class Cell:
    """What is measured; the first variant is the one that others are compared with.

    Attributes:
        per_call: evaluations that one call makes.
        error_of: the relative error of what a variant returns, by its number.
        is_timed: whether the programs take turns at all.
    """

    variants: Sequence[Variant]
    per_call: int = 1
    error_of: Callable[[int, Any], float] | None = None
    is_timed: bool = True


class CellName(NamedTuple):
    """Which cell it is: columns that all its rows share."""

    what: str
    network: str
    batch: int
    simulations: int | None = None

    def is_of(self, row: Row) -> bool:
        """Whether a row is one of this cell's."""
        return all(row[column] == value for column, value in self._asdict().items())

    def __str__(self) -> str:
        budget = "" if self.simulations is None else f", N={self.simulations}"
        return f"{self.what}, network {self.network}, B={self.batch}{budget}"


def measure(name: CellName, cell: Cell, pace: Pace) -> list[Row]:
    """The rows of a cell. Raises what its programs raise when they are compiled or run."""
    programs = [
        build(variant.function, (jax.random.key(0), variant.inputs), False)
        for variant in cell.variants
    ]
    runs = [
        partial(_call, program, variant.inputs)
        for program, variant in zip(programs, cell.variants, strict=True)
    ]
    results = [jax.block_until_ready(run(jax.random.key(0))) for run in runs]
    turns = all_turns(dict(enumerate(runs)), pace) if cell.is_timed else {}
    first_ms = median(turns[0]) if turns else None
    rows = []
    for number, (variant, program) in enumerate(zip(cell.variants, programs, strict=True)):
        times = {} if first_ms is None else _times(turns[number], first_ms, cell.per_call)
        error_of = cell.error_of
        row = make_row(
            **name._asdict(),
            precision=variant.precision,
            root_precision=variant.root_precision,
            qat=variant.qat,
            relative_error=error_of and error_of(number, results[number]),
            compile_s=program.compile_s,
            fp8_convolutions=program.graph_convolutions,
            **times,
        )
        rows.append(row)
    return rows


def relative_error(values: Any, reference: Any) -> float:
    """RMS difference over the RMS of the reference."""
    exact = np.asarray(reference, np.float64)
    difference = np.asarray(values, np.float64) - exact
    return float(np.sqrt(np.mean(difference**2) / np.mean(exact**2)))


def _call(program: Program, inputs: Any, key: jax.Array) -> Any:
    return program.run(key, inputs)


def _times(turns: Sequence[float], first_ms: float, per_call: int) -> dict[str, float]:
    ms = median(turns)
    lower, _, upper = quantiles(turns, n=4, method="inclusive") if len(turns) > 1 else (ms, ms, ms)
    return {
        "ms": ms / per_call,
        "spread": (upper - lower) / ms,
        "ratio_to_bf16": ms / first_ms,
    }
