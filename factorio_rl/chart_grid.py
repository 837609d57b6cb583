"""Charts of shares by name: bars, and a heat map of names over time.

In: shares from 0 to 1. Out: HTML of a chart with its title; every bar and cell has its figure for
the pointer. The colours of cells fall evenly in lightness, pale for 0 and dark for 1. Jax-free.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from envs.heat_colours import NO_FIGURE, success_colour, text_colour
from factorio_rl.chart_axes import RIGHT, WIDTH, at, figure, round_ticks, svg, tip, word
from factorio_rl.html_page import escape

MOST_COLUMNS = 40
"""Columns that a heat map shows; of more, some are left out evenly, the last stays."""

MOST_LETTERS = 20
"""Letters of a name that are shown beside its row."""

_ROW, _NAMES, _LETTER = 22, 148, 6.2
_NARROWEST_WITH_TEXT = 27
_UPPER = 6


class Cell(NamedTuple):
    """One cell of a heat map: its share of the scale, its figure in few letters, and in words."""

    share: float
    text: str
    words: str


def evenly(count: int, most: int = MOST_COLUMNS) -> list[int]:
    """At most `most` of so many numbers, evenly apart, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(place * (count - 1) / (most - 1)) for place in range(most)})


def heat_chart(
    title: str,
    columns: Sequence[str],
    rows: Mapping[str, Sequence[Cell | None]],
    x_name: str,
) -> str:
    """A row of cells for each name; None where there is no figure."""
    width = (RIGHT - _NAMES) / max(1, len(columns))
    body = []
    for row, (name, cells) in enumerate(rows.items()):
        y = _UPPER + row * _ROW
        body.append(_row_name(name, y))
        for column, cell in enumerate(cells):
            body.append(_cell(cell, _NAMES + column * width, y, width))
    bottom = _UPPER + len(rows) * _ROW
    longest = max((len(one) for one in columns), default=1)
    every = -(-len(columns) // max(1, int((RIGHT - _NAMES) / (_LETTER * longest + 10))))
    for column in range(0, len(columns), every):
        x = _NAMES + (column + 0.5) * width
        body.append(word(x, bottom + 13, columns[column], "middle"))
    body.append(word((_NAMES + RIGHT) / 2, bottom + 29, x_name, "middle"))
    return f"<h3>{escape(title)}</h3>{svg(''.join(body), title, bottom + 35)}"


def _row_name(name: str, y: float) -> str:
    shown = name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 1]}…"
    return word(_NAMES - 8, y + 15, shown, "end", "value")


def _cell(cell: Cell | None, x: float, y: float, width: float) -> str:
    fill = NO_FIGURE if cell is None else success_colour(cell.share)
    gap = 1 if width > 8 else 0.3
    box = (
        f'<rect class="mark" x="{at(x)}" y="{y}" width="{at(width - gap)}" height="{_ROW - 1}" '
        f'fill="{fill}">{tip("no figure" if cell is None else cell.words)}</rect>'
    )
    if cell is None or width < _NARROWEST_WITH_TEXT:
        return box
    return (
        f'{box}<text x="{at(x + width / 2)}" y="{y + 15}" text-anchor="middle" '
        f'style="fill:{text_colour(fill)};pointer-events:none">{escape(cell.text)}</text>'
    )


class Bar(NamedTuple):
    """One bar: its name, its value from 0 to 1, the value of the tick on it, and both in words."""

    name: str
    value: float
    tick: float | None
    words: str


def bar_chart(title: str, bars: Sequence[Bar], x_name: str) -> str:
    """Bars from 0 to 1 from top to bottom, with their figures."""
    end = RIGHT - 38
    bottom = _UPPER + len(bars) * _ROW
    body = []
    for tick in round_ticks(0.0, 1.0):
        x = _NAMES + tick * (end - _NAMES)
        line = f'<line class="grid" x1="{at(x)}" x2="{at(x)}" y1="{_UPPER}" y2="{bottom}"/>'
        body.append(line + word(x, bottom + 13, figure(tick), "middle"))
    for row, bar in enumerate(bars):
        body.append(_bar(bar, _UPPER + row * _ROW, end - _NAMES))
    body.append(word((_NAMES + end) / 2, bottom + 29, x_name, "middle"))
    return f"<h3>{escape(title)}</h3>{svg(''.join(body), title, bottom + 35)}"


def _bar(bar: Bar, y: float, length: float) -> str:
    value = min(1.0, max(0.0, bar.value))
    marks = [
        _row_name(bar.name, y),
        f'<rect class="f0" x="{_NAMES}" y="{y + 4}" width="{at(value * length)}" height="14"/>',
    ]
    if bar.tick is not None:
        x = _NAMES + min(1.0, max(0.0, bar.tick)) * length
        marks.append(f'<rect class="f1" x="{at(x - 1.5)}" y="{y + 1}" width="3" height="20"/>')
    marks.append(word(_NAMES + length + 6, y + 15, f"{bar.value:.3f}", "start", "value"))
    whole = (
        f'<rect class="slab" x="0" y="{y}" width="{WIDTH}" height="{_ROW}">{tip(bar.words)}</rect>'
    )
    return "".join(marks) + whole
