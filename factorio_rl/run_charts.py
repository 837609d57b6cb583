"""Charts of a run's metrics: which figures, over what; those that were not recorded are named.

In: records and what is wanted of them. Out: HTML of charts. Jax-free.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from factorio_rl.chart_lines import Point, line_chart
from factorio_rl.html_page import panels, paragraph
from factorio_rl.run_record import Record, number

ENV_STEPS = {"env_steps": "environment steps"}
UPDATES = {"learner_updates": "learner updates"}


class Wanted(NamedTuple):
    """A chart: its title, its lines (field to name), and what the values' axis covers at least."""

    title: str
    names: Mapping[str, str]
    whole: tuple[float, float] | None = None


def points_of(records: Sequence[Record], names: Sequence[str], x: str) -> list[Point]:
    """The records that have `x` and any of the figures."""
    found = []
    for record in records:
        place = number(record, x)
        pairs = {name: number(record, name) for name in names}
        values = {name: value for name, value in pairs.items() if value is not None}
        if place is not None and values:
            found.append(Point(place, values))
    return found


def charts_of(wanted: Sequence[Wanted], records: Sequence[Record], over: Mapping[str, str]) -> str:
    """Charts beside each other, and a note on what this run has not recorded.

    `over` is the field of the axis below and its name.
    """
    ((x, x_name),) = over.items()
    made, missing = [], []
    for one in wanted:
        points = points_of(records, list(one.names), x)
        recorded = {name for point in points for name in point.values}
        names = {name: words for name, words in one.names.items() if name in recorded}
        if not names:
            missing.append(one.title)
        else:
            missing += [words for name, words in one.names.items() if name not in recorded]
            made.append(line_chart(one.title, x_name, names, points, whole=one.whole))
    charts = panels(made) if made else ""
    return charts + not_recorded(missing)


def not_recorded(names: Sequence[str]) -> str:
    """A note on figures that the metrics do not have; nothing without any."""
    if not names:
        return ""
    return paragraph(f"Not recorded so far by this run: {', '.join(names)}.", "note")
