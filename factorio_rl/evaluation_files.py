"""What an evaluation leaves in a run directory: a JSON report, a picture sheet, the best layout.

In: evaluations. Out: files in `eval/` and `layouts/`, flat fields for the metrics, and the table
that a finished run prints.
"""

import io
import json
from collections.abc import Sequence
from itertools import chain, zip_longest
from math import gcd
from pathlib import Path
from typing import Any

from PIL import Image
from rich.console import Console
from rich.table import Table

from envs.atomic_file import write_atomically, write_text_atomically
from envs.labels import rate_text
from envs.layout_json import layout_to_json
from envs.render import render_png, render_sheet, render_text
from envs.task_spec import TaskSpec, layout_of
from envs.text_file import read_text
from factorio_rl.evaluation import Evaluation

SHEET_TASKS = 12
"""Tasks on a picture sheet."""

SHEET_COLUMNS = 4

SHEET_FILE = "heldout_sheet.png"

FAILURES_FILE = "failures.png"

CURRICULUM_FILE = "curriculum.png"

MAX_REPORT_BYTES = 16 << 20


def report_path(folder: Path, name: str) -> Path:
    """Where the report of an evaluation lies."""
    return folder / f"{name}.json"


def read_report(folder: Path, name: str) -> dict[str, Any] | None:
    """A report that `write_report` wrote; None where there is none, or what is there is damaged."""
    try:
        report = json.loads(read_text(report_path(folder, name), MAX_REPORT_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return report if isinstance(report, dict) else None


def write_report(folder: Path, name: str, report: dict[str, Any], env_steps: int) -> None:
    """Writes a report with the environment steps that its parameters had seen. Raises OSError."""
    text = json.dumps({**report, "env_steps": env_steps}, indent=1)
    folder.mkdir(exist_ok=True)
    write_text_atomically(report_path(folder, name), text + "\n")


def write_layouts(folder: Path, specs: Sequence[TaskSpec], evaluation: Evaluation) -> None:
    """Draws sheets of layouts spread over the set and of failures, and the largest solved one.

    Files: `heldout_sheet.png`; `failures.png`, removed where all is solved; `best.png`, `best.txt`
    and `best.json` (the layout format), removed where nothing is. Each appears whole or not at
    all. Raises OSError.
    """
    folder.mkdir(exist_ok=True)
    for name, shown in (
        (SHEET_FILE, tasks_on_sheet(specs)),
        (FAILURES_FILE, failures_on_sheet(evaluation.report)),
    ):
        tiles = [_picture(specs[index], evaluation, index) for index in shown]
        if tiles:
            write_picture(folder / name, render_sheet(tiles, SHEET_COLUMNS))
        else:
            (folder / name).unlink(missing_ok=True)
    solved = [index for index, outcome in enumerate(evaluation.outcomes) if outcome.solved]
    if not solved:
        for kind in ("png", "txt", "json"):
            (folder / f"best.{kind}").unlink(missing_ok=True)
        return
    best = max(solved, key=lambda index: len(evaluation.layouts[index]))
    layout = layout_of(specs[best], evaluation.layouts[best])
    write_picture(folder / "best.png", _picture(specs[best], evaluation, best))
    text = render_text(layout, specs[best].blocked, _built(evaluation, best))
    write_text_atomically(folder / "best.txt", text + "\n")
    write_text_atomically(folder / "best.json", json.dumps(layout_to_json(layout)) + "\n")


def write_picture(path: Path, picture: Image.Image) -> None:
    """Writes a picture as PNG, whole or not at all. Raises OSError."""
    encoded = io.BytesIO()
    picture.save(encoded, "png")
    write_atomically(path, [encoded.getbuffer()])


def shown_pictures(folder: Path) -> dict[str, Path]:
    """The pictures of an evaluation that wandb shows, by the names that they have there."""
    return {
        "layouts": folder / SHEET_FILE,
        "failures": folder / FAILURES_FILE,
        "curriculum": folder / CURRICULUM_FILE,
    }


def tasks_on_sheet(specs: Sequence[TaskSpec]) -> list[int]:
    """Up to SHEET_TASKS tasks spread over a set that lists its families in turn."""
    step = max(1, len(specs) // SHEET_TASKS)
    # A step that shares a divisor with the number of families would show some of them only.
    while gcd(step, len({spec.family for spec in specs})) > 1:
        step += 1
    return [number * step % len(specs) for number in range(min(SHEET_TASKS, len(specs)))]


def failures_on_sheet(report: dict[str, Any]) -> list[int]:
    """Up to SHEET_TASKS tasks that were not solved, of each kind of failure in turn."""
    by_kind: dict[str, list[int]] = {}
    for index, entry in enumerate(report["tasks"]):
        if entry["failure"] is not None:
            by_kind.setdefault(entry["failure"], []).append(index)
    kinds = sorted(by_kind, key=lambda kind: len(by_kind[kind]), reverse=True)
    in_turn = chain.from_iterable(zip_longest(*(by_kind[kind] for kind in kinds)))
    return [index for index in in_turn if index is not None][:SHEET_TASKS]


def evaluation_fields(report: dict[str, Any]) -> dict[str, float]:
    """The figures of a report for the metrics."""
    fields = {name: report[name] for name in ("score", "functional", "solved", "inexact")}
    raw = {f"raw_{name}": value for name, value in report["raw_policy"].items()}
    families = {
        f"{kind}_{name}": figures[kind]
        for kind in ("score", "solved")
        for name, figures in report["by_family"].items()
    }
    return {**fields, "ratio_to_reference": report["ratio_to_reference"], **raw, **families}


def print_report(
    console: Console,
    report: dict[str, Any],
    untrained: dict[str, Any] | None = None,
) -> None:
    """Raw policy and search side by side, the untrained network above them where it is known."""
    title = f"{report['task_set']}: {report['n']} held-out tasks, from empty, one greedy attempt"
    table = Table("network", "search", "functional", "solved", "score", title=title)
    networks = {} if untrained is None else {"untrained": untrained}
    for name, figures in (networks | {"trained": report}).items():
        searched = f"N={figures['num_simulations']}"
        for search, row in (("none", figures["raw_policy"]), (searched, figures)):
            shares = [f"{row[key]:.3f}" for key in ("functional", "solved", "score")]
            table.add_row(name, search, *shares)
    console.print(table)
    low, high = report["ci95"]
    inexact = report["inexact"]
    rates = f"{inexact} layouts without an exact rate score 0" if inexact else "every rate is exact"
    console.print(f"95 % interval of the score: {low:.3f} to {high:.3f}; {rates}.")
    failures = sorted(report.get("failures", {}).items(), key=lambda entry: -entry[1])
    if failures:
        kinds = ", ".join(f"{kind} {count}" for kind, count in failures)
        console.print(f"Not solved: {kinds}.", soft_wrap=True)


def _picture(spec: TaskSpec, evaluation: Evaluation, index: int) -> Image.Image:
    return render_png(
        layout_of(spec, evaluation.layouts[index]),
        blocked=spec.blocked,
        title=f"{spec.family}: wanted {rate_text(spec.target_rate)}",
        caption=_built(evaluation, index),
    )


def _built(evaluation: Evaluation, index: int) -> str:
    rate = evaluation.outcomes[index].rate
    failure = evaluation.report["tasks"][index]["failure"]
    built = "built: no exact rate" if rate is None else f"built: {rate_text(rate)}"
    return f"{built}; {failure}" if failure and rate is not None else built
