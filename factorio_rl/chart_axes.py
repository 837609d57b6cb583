"""Axes of charts: round ticks, figures in few letters, places of values, the frame in SVG.

In: ranges of values. Out: pieces of SVG, all in the same box, so that charts beside each other
line up. Text is large enough for a telephone, where a chart is about as wide as its box. Jax-free.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from factorio_rl.html_page import escape

WIDTH, HEIGHT = 420, 240
"""Box of a chart, units of its SVG."""

LEFT, RIGHT, TOP, BOTTOM = 46, 412, 8, 204
"""Edges of what is plotted."""

_STEPS = (1, 2, 2.5, 5, 10)
_LETTERS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


class Scale(NamedTuple):
    """A linear map from values to units of the SVG."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where a value lies."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def round_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """At most `most` round values, evenly apart, from at or below `low` to at or above `high`."""
    low, high = _apart(low, high)
    rough = (high - low) / (most - 2)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(one * power for one in _STEPS if one * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{number * step:.10g}") for number in range(first, last + 1)]


def _apart(low: float, high: float) -> tuple[float, float]:
    """The range, or a wider one where its ends are too close to tell them apart."""
    least = 1e-6 * max(abs(low), abs(high))
    return (low, high) if high - low > least else (low, low + (abs(low) or 1.0))


def short(value: float) -> str:
    """A figure of an axis: 20k, 1.5M, 0.25."""
    for size, letter in _LETTERS:
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.4g}"


def figure(value: float | None) -> str:
    """A figure of a table: four digits, thousands apart; a dash for none."""
    if value is None:
        return "-"
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def seconds_text(seconds: float | None) -> str:
    """A time as 45 s, 12 min, 3 h 5 min; a dash for none."""
    if seconds is None:
        return "-"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def svg(body: str, words: str, height: float = HEIGHT) -> str:
    """A chart from its SVG; `words` say what it shows to who cannot see it."""
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {at(height)}" role="img" '
        f'aria-label="{escape(words)}">{body}</svg>'
    )


def at(value: float) -> str:
    """A coordinate in few digits."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def tip(text: str) -> str:
    """What is shown of a mark when the pointer is over it."""
    return f"<title>{escape(text)}</title>"


def word(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    """Text at a point; `anchor` is start, middle or end."""
    given = f' class="{kind}"' if kind else ""
    return f'<text x="{at(x)}" y="{at(y)}" text-anchor="{anchor}"{given}>{escape(text)}</text>'


def upright_axis(ticks: Sequence[float]) -> tuple[Scale, str]:
    """The scale of values and its grid lines, over the height of the plot."""
    scale = Scale(ticks[0], ticks[-1], BOTTOM, TOP)
    lines = [
        f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{at(scale(tick))}" '
        f'y2="{at(scale(tick))}"/>{word(LEFT - 6, scale(tick) + 4, short(tick), "end")}'
        for tick in ticks
    ]
    return scale, "".join(lines)


def level_axis(low: float, high: float, name: str) -> tuple[Scale, str]:
    """The scale along the bottom, its ticks and its name; it begins and ends with the values."""
    low, high = _apart(low, high)
    scale = Scale(low, high, LEFT, RIGHT)
    marks = [f'<line class="axis" x1="{LEFT}" x2="{RIGHT}" y1="{BOTTOM}" y2="{BOTTOM}"/>']
    for tick in round_ticks(low, high):
        if not low <= tick <= high:
            continue
        x = scale(tick)
        anchor = "end" if x > RIGHT - 8 else "middle"
        marks.append(
            f'<line class="axis" x1="{at(x)}" x2="{at(x)}" y1="{BOTTOM}" y2="{BOTTOM + 4}"/>'
            + word(min(x, RIGHT), BOTTOM + 16, short(tick), anchor)
        )
    return scale, "".join(marks) + word((LEFT + RIGHT) / 2, BOTTOM + 31, name, "middle")
