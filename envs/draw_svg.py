"""SVG in the place of a PIL drawing, so that the painters of pictures draw vector graphics too.

In: calls that `Brush` makes of a drawing. Out: SVG elements as text, `UNITS` to a tile, with whole
numbers as coordinates. Jax-free.
"""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any, cast

from PIL import ImageDraw, ImageFont

from envs.draw import Brush, Point
from envs.draw_canvas import Label
from envs.layout import EAST

UNITS = 100
"""Units of the SVG to a tile."""

_HALO = 0.08
"""Width of the halo about letters, tiles; half of it lies under them."""

_OVERLAP = 1
"""Width of an edge that joins shapes side by side without a seam, units."""


class SvgDrawing:
    """The methods of `PIL.ImageDraw.ImageDraw` that painters use; `elements` is what they drew."""

    def __init__(self) -> None:
        self.elements: list[str] = []

    def polygon(self, points: Sequence[Point], fill: str) -> None:
        """A filled polygon."""
        edge = f'stroke="{fill}" stroke-width="{_OVERLAP}"'
        self.elements.append(f'<polygon points="{_path(points)}" fill="{fill}" {edge}/>')

    def line(self, points: Sequence[Point], fill: str, width: int, joint: str = "") -> None:
        """A line through points; `joint` is round in any case."""
        look = f'fill="none" stroke="{fill}" stroke-width="{width}" stroke-linejoin="round"'
        self.elements.append(f'<polyline points="{_path(points)}" {look}/>')

    def circle(self, centre: Point, radius: float, fill: str) -> None:
        """A filled circle."""
        x, y = map(round, centre)
        self.elements.append(f'<circle cx="{x}" cy="{y}" r="{round(radius)}" fill="{fill}"/>')

    def rounded_rectangle(
        self,
        box: tuple[float, float, float, float],
        radius: float,
        fill: str,
        outline: str,
        width: int,
    ) -> None:
        """A rounded rectangle from corner to corner, its outline inside."""
        left, top, right, bottom = (round(edge) for edge in box)
        inset = width / 2
        place = f'x="{left + inset:g}" y="{top + inset:g}"'
        size = f'width="{right - left - width}" height="{bottom - top - width}"'
        look = f'rx="{radius - inset:g}" fill="{fill}" stroke="{outline}" stroke-width="{width}"'
        self.elements.append(f"<rect {place} {size} {look}/>")


def painted(
    paint: Callable[..., None],
    x: float,
    y: float,
    *args: Any,
    size: int = 1,
    direction: int | None = None,
) -> str:
    """What a painter draws for an entity of `size` tiles whose top left tile is (x, y)."""
    drawing = SvgDrawing()
    brush = Brush(cast(ImageDraw.ImageDraw, drawing), UNITS)
    centre = (x + size / 2, y + size / 2)
    paint(brush.at(*centre, EAST if direction is None else direction), *args)
    return "".join(drawing.elements)


def written(label: Label) -> str:
    """The SVG of a label; its letters are smaller where it is too wide."""
    length = ImageFont.load_default(100).getlength(label.text) / 100
    letters = UNITS * label.height * min(1.0, 0.98 * label.width / max(length * label.height, 1e-9))
    place = f'x="{round(label.x * UNITS)}" y="{round(label.y * UNITS)}"'
    look = (
        f'font-size="{letters:.3g}" fill="{label.colour}" stroke="{label.halo}" '
        f'stroke-width="{_HALO * UNITS:g}" paint-order="stroke"'
    )
    return f'<text class="label" {place} {look}>{escape(label.text)}</text>'


def _path(points: Sequence[Point]) -> str:
    return " ".join(f"{round(x)},{round(y)}" for x, y in points)
