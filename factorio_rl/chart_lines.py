"""Charts of figures over the time of a run: lines, and shares stacked on each other.

In: points. Out: HTML of a chart with its title and legend; the pointer shows the figures.
Long series are thinned to means, so that a page stays small whatever the run's length. Jax-free.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from factorio_rl.chart_axes import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Scale,
    at,
    figure,
    level_axis,
    round_ticks,
    svg,
    tip,
    upright_axis,
)
from factorio_rl.html_page import escape

MOST_POINTS = 150
"""Points that a line keeps; each is the mean of as many neighbours as it takes."""

MOST_DOTTED = 40
"""Lines of at most so many points show each of them."""

_NUM_LOOKS = 8
"""Colours and dashes in the style sheet."""


class Point(NamedTuple):
    """Figures at one time: `x`, and values by the name of their line; missing ones are left out."""

    x: float
    values: Mapping[str, float]


def thinned(points: Sequence[Point], most: int = MOST_POINTS) -> list[Point]:
    """The points in order of x; of more than `most` the first, and means of neighbours."""
    points = sorted(points, key=lambda point: point.x)
    size = -(-(len(points) - 1) // (most - 1)) or 1
    means = [_mean(points[start : start + size]) for start in range(1, len(points), size)]
    return points[:1] + means


def _mean(points: Sequence[Point]) -> Point:
    if len(points) == 1:
        return points[0]
    names = dict.fromkeys(name for point in points for name in point.values)
    values = {}
    for name in names:
        found = [point.values[name] for point in points if name in point.values]
        values[name] = sum(found) / len(found)
    return Point(sum(point.x for point in points) / len(points), values)


def line_chart(
    title: str,
    x_name: str,
    names: Mapping[str, str],
    points: Sequence[Point],
    *,
    whole: tuple[float, float] | None = None,
) -> str:
    """Lines over a common axis.

    Args:
        names: of the lines in order, by key: how the legend and the pointer call them.
        points: at least one with a value.
        whole: range that the values' axis covers at least, such as (0, 1) for shares.
    """
    kept = [point for point in thinned(points) if any(name in point.values for name in names)]
    values = [value for point in kept for name, value in point.values.items() if name in names]
    low, high = min(values), max(values)
    if whole is not None:
        low, high = min(low, whole[0]), max(high, whole[1])
    y, grid = upright_axis(round_ticks(low, high))
    x, axis = level_axis(kept[0].x, kept[-1].x, x_name)
    lines = "".join(
        _line(kept, name, number % _NUM_LOOKS, x, y) for number, name in enumerate(names)
    )
    body = grid + axis + lines + _slabs(kept, x_name, names, x)
    return _titled(title, names, svg(body, f"{title} over {x_name}"), "l s")


def _line(points: Sequence[Point], name: str, look: int, x: Scale, y: Scale) -> str:
    places = [(x(one.x), y(one.values[name])) for one in points if name in one.values]
    path = " ".join(f"{at(u)},{at(v)}" for u, v in places)
    line = f'<polyline class="l s{look}" points="{path}"/>'
    if len(places) > MOST_DOTTED:
        return line
    dots = (f'<circle class="f{look}" cx="{at(u)}" cy="{at(v)}" r="2.6"/>' for u, v in places)
    return line + "".join(dots)


def _slabs(points: Sequence[Point], x_name: str, names: Mapping[str, str], x: Scale) -> str:
    """Invisible columns, one for each x, that show the figures there."""
    texts: dict[float, list[str]] = {}
    for point in points:
        found = [
            f"{names[one]}: {figure(point.values[one])}" for one in names if one in point.values
        ]
        texts.setdefault(point.x, [f"{x_name}: {figure(point.x)}"]).extend(found)
    places = sorted(texts)
    middles = [(one + other) / 2 for one, other in pairwise(places)]
    edges = [LEFT - 8, *map(x, middles), RIGHT + 8]
    return "".join(
        f'<rect class="slab" x="{at(start)}" y="{TOP}" width="{at(end - start)}" '
        f'height="{BOTTOM - TOP}">{tip(chr(10).join(texts[place]))}</rect>'
        for place, (start, end) in zip(places, pairwise(edges), strict=True)
    )


def stack_chart(title: str, x_name: str, names: Mapping[str, str], points: Sequence[Point]) -> str:
    """Values from 0 up stacked on each other, as areas; a missing value counts as 0."""
    kept = thinned(points)
    if len(kept) == 1:
        kept = [kept[0], kept[0]._replace(x=kept[0].x + 1)]
    highest = max(sum(point.values.get(name, 0.0) for name in names) for point in kept)
    y, grid = upright_axis(round_ticks(0.0, highest))
    x, axis = level_axis(kept[0].x, kept[-1].x, x_name)
    base, areas = [0.0] * len(kept), []
    for number, name in enumerate(names):
        top = [low + point.values.get(name, 0.0) for low, point in zip(base, kept, strict=True)]
        corners = [(x(point.x), y(value)) for point, value in zip(kept, top, strict=True)]
        corners += [(x(point.x), y(value)) for point, value in zip(kept, base, strict=True)][::-1]
        path = " ".join(f"{at(u)},{at(v)}" for u, v in corners)
        areas.append(f'<polygon class="f{number % _NUM_LOOKS}" points="{path}"/>')
        base = top
    body = grid + "".join(areas) + axis + _slabs(kept, x_name, names, x)
    return _titled(title, names, svg(body, f"{title} over {x_name}"), "f")


def _titled(title: str, names: Mapping[str, str], chart: str, kind: str) -> str:
    """A chart below its title and a legend; one line needs none."""
    swatches = "".join(
        f"<span>{_swatch(number % _NUM_LOOKS, kind)}{escape(name)}</span>"
        for number, name in enumerate(names.values())
    )
    legend = f'<div class="legend">{swatches}</div>' if len(names) > 1 else ""
    return f"<h3>{escape(title)}</h3>{legend}{chart}"


def _swatch(look: int, kind: str) -> str:
    mark = (
        f'<rect class="f{look}" width="22" height="10" rx="2"/>'
        if kind == "f"
        else f'<line class="l s{look}" x1="0" x2="22" y1="5" y2="5"/>'
    )
    return f'<svg viewBox="0 0 22 10" aria-hidden="true">{mark}</svg>'
