"""Rows and table of the baselines: one row per method, budget and family, and one for all families.

In: tasks and what came of each. Out: flat rows as `docs/results/baselines.json` holds them.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.planners.judge import Budget
from envs.solved import Solved
from factorio_rl.evaluation import bootstrap_interval, summarise
from factorio_rl.scoring import Outcome

ALL = "all"

Row = dict[str, Any]


class TaskResult(NamedTuple):
    """What came of one task.

    Attributes:
        rate: verified items per second, None if not exact.
        calls: calls of the verifier.
        looks: layouts judged without one; None for methods that do not search layouts.
        seconds: wall time.
    """

    rate: Fraction | None
    calls: float
    looks: float | None
    seconds: float | None


class Method(NamedTuple):
    """What a row is about.

    Attributes:
        name: as in the result file.
        budget: what a planner may spend per task; None for other methods.
        simulations: of a search with the network.
        attempts: finished layouts that the agent may hand in.
    """

    name: str
    budget: Budget | None = None
    simulations: int | None = None
    attempts: int | None = None


def make_rows(
    method: Method, task_set: str, tasks: Sequence[Solved], results: Sequence[TaskResult]
) -> list[Row]:
    """The row of all tasks and one row per family, sorted by name."""
    groups: dict[str, list[tuple[Solved, TaskResult]]] = {ALL: []}
    groups |= {name: [] for name in sorted({task.spec.family for task in tasks})}
    for task, result in zip(tasks, results, strict=True):
        groups[ALL].append((task, result))
        groups[task.spec.family].append((task, result))
    return [_row(method, task_set, family, group) for family, group in groups.items()]


def summary_row(method: Method, task_set: str, figures: dict[str, float], n: int) -> Row:
    """The row of all tasks from means alone: there is no interval and no family."""
    row = _head(method, task_set, ALL, n)
    row |= {name: figures[name] for name in ("score", "solved", "functional")}
    return row | {"verifier_calls": method.attempts}


def _head(method: Method, task_set: str, family: str, n: int) -> Row:
    budget = method.budget
    return {
        "method": method.name,
        "task_set": task_set,
        "family": family,
        "n": n,
        "budget_calls": budget.calls if budget else None,
        "budget_seconds": budget.seconds if budget else None,
        "score": None,
        "score_low": None,
        "score_high": None,
        "solved": None,
        "functional": None,
        "simulations": method.simulations,
        "attempts": method.attempts,
        "verifier_calls": None,
        "looks": None,
        "seconds": None,
    }


def _row(
    method: Method, task_set: str, family: str, group: Sequence[tuple[Solved, TaskResult]]
) -> Row:
    outcomes = [Outcome(result.rate, task.spec.target_rate) for task, result in group]
    low, high = bootstrap_interval([outcome.score for outcome in outcomes])
    results = [result for _, result in group]
    return _head(method, task_set, family, len(group)) | {
        **summarise(outcomes),
        "score_low": low,
        "score_high": high,
        "verifier_calls": _mean([result.calls for result in results]),
        "looks": _mean([result.looks for result in results]),
        "seconds": _mean([result.seconds for result in results]),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean, None if any value is missing."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def print_table(console: Console, rows: Sequence[Row]) -> None:
    """The rows over all families, then the scores by family, a column per method and budget."""
    names = ("method", "budget per task", "n", "score", "95 % interval", "solved", "functional")
    table = Table(*names, "calls", "looks", "seconds", "calls/s", title=rows[0]["task_set"])
    for row in rows:
        if row["family"] == ALL:
            table.add_row(*_cells(row))
    console.print(table)
    families = Table("method", "budget", "family", "n", "score", "95 % interval", "solved")
    for row in rows:
        if row["family"] != ALL:
            shown = _cells(row)
            families.add_row(*shown[:2], row["family"], *shown[2:6])
    console.print(families)


def budget_text(row: Row) -> str:
    """A row's budget in words."""
    calls, seconds = row["budget_calls"], row["budget_seconds"]
    if calls is None and seconds is None:
        return f"attempts: {row['attempts']}" if row["attempts"] else ""
    parts = [] if calls is None else [f"calls: {calls}"]
    return ", ".join(parts if seconds is None else [*parts, f"{seconds:.3g} s"])


def _cells(row: Row) -> list[str]:
    interval = "" if row["score_low"] is None else f"{row['score_low']:.3f}-{row['score_high']:.3f}"
    calls, seconds = row["verifier_calls"], row["seconds"]
    return [
        row["method"],
        budget_text(row),
        str(row["n"]),
        f"{row['score']:.3f}",
        interval,
        f"{row['solved']:.3f}",
        f"{row['functional']:.3f}",
        _number(calls),
        _number(row["looks"]),
        _number(seconds),
        _number(calls / seconds if calls and seconds else None),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}" if value < 1000 else f"{value:.0f}"
