"""A run as one self-contained HTML page.

In: a `RunRecord`. Out: the page. Its parts are in `run_report_*`. Jax-free.
"""

import time
from collections.abc import Sequence

from factorio_rl.chart_axes import figure, seconds_text, short
from factorio_rl.html_page import Section, Tile, page, paragraph, table, tiles
from factorio_rl.run_pictures import shown_picture
from factorio_rl.run_record import RunRecord, number
from factorio_rl.run_report_facts import origin_section, settings_section, warnings_section
from factorio_rl.run_report_scores import (
    NONE_YET,
    evaluation_tables,
    families_section,
    interval_text,
    scores_section,
)
from factorio_rl.run_report_training import (
    curriculum_section,
    learning_section,
    search_section,
    time_section,
    without_compiling,
)
from factorio_rl.run_scores import UNTRAINED, Scored, best_of, scored


def run_report(run: RunRecord) -> str:
    """The page of a run."""
    evaluations = scored(run)
    sections = [
        scores_section(evaluations),
        families_section(evaluations),
        _last_section(run, evaluations),
        curriculum_section(run),
        search_section(run),
        learning_section(run),
        time_section(run),
        warnings_section(run),
        settings_section(run),
        origin_section(run),
    ]
    name = run.path.resolve().name
    return page(f"Run {name}", _state_text(run), tiles(_tiles(run, evaluations)), sections)


def _state_text(run: RunRecord) -> str:
    """How far the run is, and when it wrote last."""
    if not run.records:
        return "No line of metrics yet."
    last = run.records[-1]
    chunk = max((number(record, "chunk") or 0.0 for record in run.records), default=0.0)
    wanted = number({"n": run.setting("train.num_chunks")}, "n")
    words = [f"Chunk {figure(chunk)}"]
    if wanted is not None:
        words[0] += f" of {figure(wanted)}"
        words[0] += ": finished" if chunk >= wanted else ": goes on, or was stopped"
    written_s = number(last, "time")
    if written_s is not None and 0 <= written_s < 1e11:
        written = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(written_s))
        words.append(f"last line of {written}")
    if len(run.starts) > 1:
        words.append(f"{len(run.starts)} starts")
    return "; ".join(words) + "."


def _tiles(run: RunRecord, evaluations: Sequence[Scored]) -> list[Tile]:
    found = _score_tiles(evaluations)
    last = run.records[-1] if run.records else {}
    hours, steps = number(last, "hours"), number(last, "env_steps")
    counted = [one for one in run.of_event("train") if number(one, "episodes") is not None]
    if steps is not None:
        episodes = short(number(counted[-1], "episodes") or 0.0) if counted else "0"
        found.append(Tile("environment steps", short(steps), f"{episodes} episodes"))
    if hours is not None:
        found.append(Tile("time", seconds_text(3600 * hours), "of all starts together"))
    lately = without_compiling(run)[-10:]
    for name, title in (("episodes_per_s", "episodes/s"), ("device_busy", "device busy")):
        values = [value for one in lately if (value := number(one, name)) is not None]
        if values:
            mean = sum(values) / len(values)
            shown = f"{100 * mean:.0f} %" if name == "device_busy" else figure(mean)
            found.append(Tile(title, shown, f"mean of the last {len(values)} lines"))
    return found


def _score_tiles(evaluations: Sequence[Scored]) -> list[Tile]:
    if not evaluations:
        return [Tile("score", "-", "no evaluation yet")]
    last = evaluations[-1]
    interval = interval_text(last.report)
    found = [Tile("score", f"{last.score or 0.0:.3f}", f"95 %: {interval}" if interval else "")]
    best = best_of(list(evaluations))
    if best is not None and best is not last:
        note = f"at {short(best.env_steps)} steps"
        found.append(Tile("best score", f"{best.score or 0.0:.3f}", note))
    for name in ("solved", "functional"):
        value = number(last.report, name)
        if value is not None:
            found.append(Tile(name, f"{value:.3f}", "last evaluation"))
    first = evaluations[0]
    if first.name == UNTRAINED and first is not last:
        found.append(Tile("untrained score", f"{first.score or 0.0:.3f}"))
    return found


def _last_section(run: RunRecord, evaluations: Sequence[Scored]) -> Section:
    """Layouts and figures of the last evaluation, and evaluations that were asked for."""
    body = evaluation_tables(evaluations[-1]) if evaluations else paragraph(NONE_YET)
    layouts = run.path / "layouts"
    body += shown_picture(
        layouts / "heldout_sheet.png", "Layouts spread over the held-out set", is_large=True
    )
    body += shown_picture(
        layouts / "failures.png", "Tasks that were not solved, of each kind in turn", is_large=True
    )
    body += shown_picture(layouts / "best.png", "The largest layout that is solved")
    rows = [
        (
            name,
            str(report.get("task_set", "-")),
            figure(number(report, "num_simulations")),
            figure(number(report, "env_steps")),
            *(figure(number(report, one)) for one in ("score", "solved", "functional")),
        )
        for name, report in run.others.items()
    ]
    if rows:
        columns = ("report", "task set", "simulations", "env steps", "score", "solved")
        words = "Evaluations that were asked for with `evaluate`"
        body += table((*columns, "functional"), rows, words, words=(0, 1))
    return Section("last", "Last evaluation", body)
