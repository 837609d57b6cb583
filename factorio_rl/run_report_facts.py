"""Sections of a run's page on what it is: warnings, settings, and what it was made with.

In: a `RunRecord`. Out: `Section`s. Jax-free.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from factorio_rl.chart_axes import figure
from factorio_rl.html_page import Section, panels, paragraph, table
from factorio_rl.run_record import Record, RunRecord, number

MAX_VALUE = 300
"""Longest value of a setting that is shown, characters."""

_COUNTED = {
    "skipped_updates": "updates were skipped, since their gradient was not finite",
    "failed": "layouts could not be verified",
    "inexact": "layouts had no exact rate; they score 0",
    "non_finite_moves": "moves had figures that were not finite",
}

_NEVER_BROKEN = ("loss", "policy_loss", "value_loss", "gradient_norm")
"""Figures that are finite in every run that is well."""


def warnings_section(run: RunRecord) -> Section:
    """What went wrong in the run and in reading it."""
    found = list(_warnings(run))
    if not found:
        return Section("warnings", "Warnings", paragraph("Nothing to warn of.", "good"))
    return Section("warnings", "Warnings", "".join(paragraph(one, "bad") for one in found))


def _warnings(run: RunRecord) -> Iterator[str]:
    records = run.of_event("train")
    for name, words in _COUNTED.items():
        counts = [count for record in records if (count := number(record, name)) is not None]
        if counts and counts[-1] > 0:
            yield f"{figure(counts[-1])} {words}."
    broken = sum(_has_broken_loss(record) for record in run.records)
    if broken:
        yield f"In {broken} lines of the metrics a loss or a gradient is not finite."
    for record in run.of_event("switch"):
        chunk = figure(number(record, "chunk"))
        precision, reason = record.get("actor_precision"), record.get("reason")
        yield f"Chunk {chunk}: self-play went over to {precision}: {reason}."
    failures = run.path / "verifier_failures"
    if failures.is_dir():
        count = sum(1 for _ in failures.glob("*.json"))
        yield f"{count} layouts that the verifier could not score lie in {failures.name}/."
    for dump in sorted(run.path.glob("non_finite/*")):
        yield (
            f"The run stopped after {dump.name} updates, on numbers that were not finite; "
            f"python -m factorio_rl reproduce {dump} shows them."
        )
    for problem in run.problems:
        yield f"{problem}."


def _has_broken_loss(record: Record) -> bool:
    """Other figures are not finite wherever there is nothing yet to take a mean of."""
    names = record.get("non_finite")
    return isinstance(names, list) and any(name in _NEVER_BROKEN for name in names)


def settings_section(run: RunRecord) -> Section:
    """All settings, as the run resolved them."""
    if not run.config:
        return Section("settings", "Settings", paragraph("The settings cannot be read.", "bad"))
    tables = []
    for name, values in run.config.items():
        pairs = _leaves(values) if isinstance(values, Mapping) else [("", values)]
        rows = [(path, _shown(value)) for path, value in pairs]
        tables.append(table((name, "value"), rows, words=(0, 1)))
    return Section("settings", "Settings", panels(tables))


def _leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _shown(value: Any) -> str:
    if isinstance(value, list):
        text = ", ".join(map(str, value))
    else:
        text = "none" if value is None else str(value)
        text = text.lower() if isinstance(value, bool) else text
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}..."


def origin_section(run: RunRecord) -> Section:
    """Versions, device and digests, and how to make the same run again."""
    rows = [*run.identity.items(), *run.made_with.items()]
    how = paragraph(f"The same again: python train.py --config {run.path / 'config.yaml'}", "note")
    if not rows:
        return Section("origin", "Where it was made", paragraph("Not recorded.") + how)
    return Section(
        "origin", "Where it was made", table(("what", "value"), rows, words=(0, 1)) + how
    )
