"""Sections of a run's page on its evaluations: scores over time, by family, the last one.

In: evaluations. Out: `Section`s. Jax-free.
"""

from collections.abc import Sequence

from factorio_rl.chart_axes import figure, short
from factorio_rl.chart_grid import Bar, Cell, bar_chart, evenly, heat_chart
from factorio_rl.chart_lines import Point, line_chart
from factorio_rl.html_page import Section, details, panels, paragraph, table
from factorio_rl.run_record import Record, mapping, number
from factorio_rl.run_scores import UNTRAINED, Scored

_LINES = {
    "score": "score",
    "solved": "solved",
    "functional": "functional",
    "raw_score": "score without search",
}

NONE_YET = "This run has no evaluation yet."

_WHAT = (
    "Score: mean of min(1, rate / target) over the held-out tasks, each built from empty in one "
    "greedy attempt. Solved: the target rate or more. Functional: anything delivered."
)


def scores_section(evaluations: Sequence[Scored]) -> Section:
    """Score, solved and functional over environment steps and over hours."""
    if not evaluations:
        return Section("scores", "Scores", paragraph(NONE_YET))
    charts = []
    for title, x_name, places in (
        ("Evaluations by step", "environment steps", [one.env_steps for one in evaluations]),
        ("Evaluations by hour", "hours of training", [one.hours for one in evaluations]),
    ):
        points = [
            Point(place, _values(one))
            for place, one in zip(places, evaluations, strict=True)
            if place is not None
        ]
        if points:
            charts.append(_chart(title, x_name, points))
    return Section("scores", "Scores", panels(charts) + paragraph(_WHAT, "note"))


def _chart(title: str, x_name: str, points: Sequence[Point]) -> str:
    seen = {name for point in points for name in point.values}
    names = {name: words for name, words in _LINES.items() if name in seen}
    return line_chart(title, x_name, names, points, whole=(0.0, 1.0))


def _values(one: Scored) -> dict[str, float]:
    found = {name: number(one.report, name) for name in ("score", "solved", "functional")}
    found["raw_score"] = number(one.raw, "score")
    return {name: value for name, value in found.items() if value is not None}


def families_section(evaluations: Sequence[Scored]) -> Section:
    """A heat map of scores by family over the evaluations, and the last one as bars."""
    if not evaluations or not evaluations[-1].families:
        return Section("families", "Families", paragraph(NONE_YET))
    last = evaluations[-1]
    worst_first = sorted(last.families, key=lambda name: _score(last, name) or 0.0)
    shown = [evaluations[place] for place in evenly(len(evaluations))]
    rows = {name: [_cell(one, name) for one in shown] for name in worst_first}
    columns = ["untrained" if one.name == UNTRAINED else short(one.env_steps) for one in shown]
    heat = heat_chart("Score by family", columns, rows, "environment steps")
    bars = bar_chart(
        "Last evaluation: score (bar) and solved (line)",
        [_bar(name, last.families[name]) for name in worst_first],
        "share, the worst family first",
    )
    left_out = len(evaluations) - len(shown)
    note = paragraph(f"{left_out} evaluations between those shown are left out.", "note")
    return Section("families", "Families", panels([heat, bars]) + (note if left_out else ""))


def _score(one: Scored, family: str) -> float | None:
    return number(one.families.get(family, {}), "score")


def _cell(one: Scored, family: str) -> Cell | None:
    score = _score(one, family)
    if score is None:
        return None
    when = one.name if one.name == UNTRAINED else f"{figure(one.env_steps)} environment steps"
    return Cell(score, f"{score:.2f}", f"{family}, {when}\nscore: {figure(score)}")


def _bar(family: str, figures: Record) -> Bar:
    score, solved = number(figures, "score") or 0.0, number(figures, "solved")
    words = [f"{family}, {figure(number(figures, 'n'))} tasks", f"score: {figure(score)}"]
    words += [
        f"{name}: {figure(number(figures, name))}"
        for name in ("solved", "functional")
        if number(figures, name) is not None
    ]
    return Bar(family, score, solved, "\n".join(words))


_COLUMNS = ("score", "solved", "functional")


def evaluation_tables(last: Scored) -> str:
    """Every figure of an evaluation as tables, by task below."""
    report = last.report
    rows = [("search", *_row(report)), ("without search", *_row(last.raw))]
    rows += [(f"split: {name}", *_row(one)) for name, one in _parts(report, "by_split")]
    families = sorted(last.families.items(), key=lambda one: number(one[1], "score") or 0.0)
    rows += [(f"family: {name}", *_row(one)) for name, one in families]
    found = table(("", "tasks", *_COLUMNS), rows)
    return paragraph(_in_words(last), "note") + found + _failures(last) + _tasks(report)


def _failures(last: Scored) -> str:
    """Why tasks were not solved: how often over all, and in which families."""
    kinds = mapping(last.report, "failures")
    counted = {kind: count for kind in kinds if (count := number(kinds, kind)) is not None}
    rows = []
    for kind in sorted(counted, key=lambda kind: counted[kind], reverse=True):
        of_family = {
            name: count
            for name, figures in last.families.items()
            if (count := number(mapping(figures, "failures"), kind)) is not None
        }
        worst = sorted(of_family, key=lambda name: of_family[name], reverse=True)
        rows.append(
            (
                kind,
                figure(counted[kind]),
                ", ".join(f"{name} {figure(of_family[name])}" for name in worst),
            )
        )
    return table(("not solved since", "tasks", "in families"), rows) if rows else ""


def _row(figures: Record) -> list[str]:
    tasks = number(figures, "n")
    shares = [number(figures, name) for name in _COLUMNS]
    return [figure(tasks), *("-" if one is None else f"{one:.3f}" for one in shares)]


def _parts(report: Record, name: str) -> list[tuple[str, Record]]:
    parts = mapping(report, name)
    return [(one, mapping(parts, one)) for one in parts]


def _in_words(last: Scored) -> str:
    report = last.report
    words = [f"{last.name}, {figure(last.env_steps)} environment steps"]
    if isinstance(report.get("task_set"), str):
        words.append(f"task set {report['task_set']}")
    simulations = number(report, "num_simulations")
    if simulations is not None:
        words.append(f"{figure(simulations)} simulations a move")
    interval = interval_text(report)
    if interval:
        words.append(f"95 % interval of the score {interval}")
    ratio, inexact = number(report, "ratio_to_reference"), number(report, "inexact")
    if ratio is not None:
        words.append(f"mean of rate / target {ratio:.3f}")
    if inexact is not None:
        words.append(f"layouts without an exact rate: {figure(inexact)}")
    return "; ".join(words) + "."


def interval_text(report: Record) -> str:
    """The 95 % interval of a score, nothing where there is none."""
    ends = report.get("ci95")
    if not isinstance(ends, list) or len(ends) != 2:
        return ""
    low, high = (number({"end": end}, "end") for end in ends)
    return "" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def _tasks(report: Record) -> str:
    """Every task, the worst first, folded away."""
    tasks = report.get("tasks")
    found = [one for one in tasks if isinstance(one, dict)] if isinstance(tasks, list) else []
    if not found:
        return ""
    found.sort(key=lambda one: number(one, "score") or 0.0)
    rows = []
    for one in found:
        names = [str(one.get(name, "-")) for name in ("id", "rate", "target")]
        failure = one.get("failure")
        why = failure if isinstance(failure, str) else ""
        rows.append((*names, figure(number(one, "score")), why))
    words = f"all {len(found)} tasks, the worst first (rates in items/s)"
    return details(words, table(("task", "rate", "target", "score", "not solved since"), rows))
