"""A picture in the making: ground, stamps, text. Jax-free.

In: a layout's size, a scale, title and caption. Out: a `Canvas` to put stamps and labels on. A
stamp is the picture of one entity, drawn once for all entities that look the same, larger than
needed and scaled down for smooth edges; so time and memory grow with the picture, not with the
shapes. The scale falls where the picture would be too large.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from PIL import Image, ImageColor, ImageDraw, ImageFont

from envs.draw import BLOCKED_LINE, CELL, FAINT_INK, GRID_LINE, INK, PAPER, Brush
from envs.layout import EAST, Layout

OVERSAMPLING = 4
"""Stamps are drawn this many times larger and scaled down."""

MAX_PIXELS = 40_000_000
"""Most pixels of a picture: 120 MB while it is drawn."""

MAX_SIDE_PX = 20_000

MAX_TILE_PX = 256
"""Most pixels per tile, for the memory that a stamp takes."""

MARGIN = 0.4
"""Space around the grid, tiles."""

LINE = 0.75
"""Height of the title and of the caption, tiles."""

MIN_LINE_PX = 18
"""The same at least, so that they can be read under many small tiles."""

MIN_LETTER_PX = 5.0
"""Labels of smaller letters are left out."""

MAX_LINES = 4
"""Lines of text for which `tile_px` leaves room: a title, two of a legend, a caption."""


class Label(NamedTuple):
    """Text about a point of the grid (tiles), at most `width` wide, letters `height` high.

    `halo` is a colour about the letters, so that they can be read across an arm.
    """

    text: str
    x: float
    y: float
    width: float
    height: float
    colour: str
    halo: str


class _Stamp(NamedTuple):
    """An RGBA picture and where its corner lies from the corner of the entity's tile, pixels."""

    image: Image.Image
    left: int
    top: int


@dataclass(frozen=True)
class Canvas:
    """An RGB image with a grid on it.

    Attributes:
        image: the picture.
        tile: pixels per tile.
        left, top: pixels from the image's corner to the grid's.
        bottom: pixels from the image's upper edge to the grid's lower edge.
        margin: pixels around everything.
        line: height of a line of text above or below the grid, pixels.
        stamps: stamps made so far, by painter, size and colours, or by label.
    """

    image: Image.Image
    tile: int
    left: int
    top: int
    bottom: int
    margin: int
    line: int
    stamps: dict[tuple[Any, ...], _Stamp] = field(default_factory=dict)

    def stamp(
        self,
        paint: Callable[..., None],
        x: int,
        y: int,
        *args: Any,
        size: int = 1,
        direction: int | None = None,
        overhang: int = 0,
    ) -> None:
        """Paints an entity of `size` tiles whose top left tile is (x, y).

        Args:
            paint: called with a brush at the entity's centre and `args`, which are hashable.
            overhang: tiles around the entity that its picture may reach into.
        """
        key = (paint, size, direction, overhang, args)
        if key not in self.stamps:
            self.stamps[key] = self._draw_stamp(*key)
        stamp = self.stamps[key]
        corner = (self.left + x * self.tile + stamp.left, self.top + y * self.tile + stamp.top)
        self.image.paste(stamp.image, corner, stamp.image)

    def _draw_stamp(
        self,
        paint: Callable[..., None],
        size: int,
        direction: int | None,
        overhang: int,
        args: tuple[Any, ...],
    ) -> _Stamp:
        side = (size + 2 * overhang) * self.tile
        image = Image.new("RGBA", (side * OVERSAMPLING, side * OVERSAMPLING))
        middle = size / 2 + overhang
        brush = Brush(ImageDraw.Draw(image), self.tile * OVERSAMPLING)
        paint(brush.at(middle, middle, EAST if direction is None else direction), *args)
        small = image.reduce(OVERSAMPLING)
        box = small.getbbox() or (0, 0, 1, 1)
        shift = overhang * self.tile
        return _Stamp(small.crop(box), box[0] - shift, box[1] - shift)

    def write(self, label: Label) -> None:
        """Writes a label about its point; smaller where it is too wide, not at all if illegible."""
        key = label._replace(x=0.0, y=0.0)
        if key not in self.stamps:
            self.stamps[key] = _draw_label(label, self.tile)
        stamp = self.stamps[key]
        corner = (
            self.left + round(label.x * self.tile) + stamp.left,
            self.top + round(label.y * self.tile) + stamp.top,
        )
        self.image.paste(stamp.image, corner, stamp.image)

    def finish(self, title: str, caption: str) -> Image.Image:
        """Writes title and caption, over what reaches so far out of the grid. The picture."""
        width, height = self.image.size
        self.image.paste(PAPER, (0, 0, width, self.top - self.margin))
        self.image.paste(PAPER, (0, self.bottom + self.margin, width, height))
        half = (self.margin + self.line) / 2
        if title:
            self.write_line(title, half, 0.61 * self.line, INK)
        if caption:
            self.write_line(caption, height - half, 0.56 * self.line, FAINT_INK)
        return self.image

    def write_line(self, text: str, y: float, height: float, colour: str, left: float = 0) -> None:
        """Writes text about `y` from `left` after the margin on, letters `height` high, pixels."""
        start = self.margin + left
        font = _fitting_font(text, self.image.width - self.margin - start, height)
        if font is not None:
            ImageDraw.Draw(self.image).text((start, y), text, fill=colour, font=font, anchor="lm")


def _draw_label(label: Label, tile: int) -> _Stamp:
    font = _fitting_font(label.text, label.width * tile, label.height * tile)
    # Transparent letters of the halo's colour blend into it without a dark rim.
    clear = (*ImageColor.getrgb(label.halo)[:3], 0)
    if font is None or not label.text:
        return _Stamp(Image.new("RGBA", (1, 1), clear), 0, 0)
    halo = 0.04 * tile
    left, top, right, bottom = font.getbbox(label.text, stroke_width=halo, anchor="mm")
    left, top, right, bottom = (
        math.floor(left) - 1,
        math.floor(top) - 1,
        math.ceil(right) + 1,
        math.ceil(bottom) + 1,
    )
    image = Image.new("RGBA", (right - left, bottom - top), clear)
    ImageDraw.Draw(image).text(
        (-left, -top),
        label.text,
        fill=label.colour,
        font=font,
        anchor="mm",
        stroke_width=halo,
        stroke_fill=label.halo,
    )
    return _Stamp(image, left, top)


def _fitting_font(text: str, width: float, height: float) -> ImageFont.FreeTypeFont | None:
    """Letters of `height` pixels, smaller where the text is wider than `width`; None below 5."""
    length = ImageFont.load_default(height).getlength(text)
    height *= min(1.0, 0.98 * width / max(length, 1.0))
    if height < MIN_LETTER_PX:
        return None
    font = ImageFont.load_default(height)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


def tile_px(layout: Layout, scale: int) -> int:
    """Pixels per tile: `scale`, or as much less as keeps the picture within the limits."""
    width, height = layout.width + 2 * MARGIN, layout.height + 2 * MARGIN + MAX_LINES * LINE
    by_area = int(math.sqrt(MAX_PIXELS / (width * height)))
    by_side = int(MAX_SIDE_PX / max(width, height))
    return max(1, min(scale, by_area, by_side, MAX_TILE_PX))


def new_canvas(
    layout: Layout, scale: int, *, has_title: bool, foot_lines: int, min_width: int = 0
) -> Canvas:
    """The empty grid, with room for a title and for lines of text below it.

    Args:
        min_width: of the image in pixels; the grid stays at the left.
    """
    tile = tile_px(layout, scale)
    margin = round(MARGIN * tile)
    line = max(round(LINE * tile), MIN_LINE_PX)
    top = margin + line * has_title
    bottom = top + layout.height * tile
    width = max(layout.width * tile + 2 * margin, min_width)
    image = Image.new("RGB", (width, bottom + margin + line * foot_lines), PAPER)
    canvas = Canvas(image, tile, margin, top, bottom, margin, line)
    _draw_ground(canvas, layout)
    return canvas


def _draw_ground(canvas: Canvas, layout: Layout) -> None:
    draw = ImageDraw.Draw(canvas.image)
    left, top, tile = canvas.left, canvas.top, canvas.tile
    right, bottom = left + layout.width * tile, canvas.bottom
    draw.rectangle((left, top, right - 1, bottom - 1), fill=CELL)
    width = max(1, round(0.03 * tile))
    for x in range(left + tile, right, tile):
        draw.line([(x, top), (x, bottom - 1)], fill=GRID_LINE, width=width)
    for y in range(top + tile, bottom, tile):
        draw.line([(left, y), (right - 1, y)], fill=GRID_LINE, width=width)
    frame = max(1, round(0.05 * tile))
    half = frame // 2
    corners = (left - half, top - half, right + half - 1, bottom + half - 1)
    draw.rectangle(corners, outline=BLOCKED_LINE, width=frame)
