"""Layouts as pictures and as text. Jax-free.

In: a layout, its blocked cells, a title and a caption such as its verified rate. Out: a PIL image
or text; `render_sheet` puts many pictures on one. Entities are drawn by `draw`.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

from envs.catalogue import MACHINE_SIZE, RECIPES
from envs.draw import (
    BLOCKED_LINE,
    CELL,
    FAINT_INK,
    GRID_LINE,
    INK,
    PAPER,
    Brush,
    paint_belt,
    paint_blocked,
    paint_inserter,
    paint_machine,
    paint_port,
    paint_sideload,
)
from envs.labels import short_name
from envs.layout import DIRECTION_VECTORS, WEST, Entity, Layout
from envs.render_text import render_text
from envs.turns import STRAIGHT, belts_by_tile, turn_of

__all__ = ["render_png", "render_sheet", "render_text"]

OVERSAMPLING = 4
"""Shapes are drawn this many times larger and scaled down, for smooth edges."""

MARGIN = 0.4
"""Space around the grid, tiles."""

LINE = 0.75
"""Height of the title and of the caption, tiles."""


class _Label(NamedTuple):
    """Text about a point (tiles), no wider than `width` and of letters `height` tiles high."""

    text: str
    x: float
    y: float
    width: float
    height: float
    colour: str
    anchor: str = "mm"


def render_png(
    layout: Layout,
    *,
    blocked: Iterable[tuple[int, int]] = (),
    title: str = "",
    caption: str = "",
    scale: int = 44,
) -> Image.Image:
    """An RGB picture of a layout, `scale` pixels per tile, title above and caption below."""
    top = MARGIN + (LINE if title else 0)
    width = layout.width + 2 * MARGIN
    height = top + layout.height + MARGIN + (LINE if caption else 0)
    big = scale * OVERSAMPLING
    size = (round(width * scale) * OVERSAMPLING, round(height * scale) * OVERSAMPLING)
    image = Image.new("RGB", size, PAPER)
    brush = Brush(ImageDraw.Draw(image), big)
    _paint_ground(brush, layout, list(blocked), (MARGIN, top))
    _paint_entities(brush, layout, (MARGIN, top))
    image = image.reduce(OVERSAMPLING)
    labels = _entity_labels(layout, (MARGIN, top))
    if title:
        middle = MARGIN / 2 + LINE / 2
        labels.append(_Label(title, MARGIN, middle, layout.width, 0.46, INK, "lm"))
    if caption:
        middle = height - MARGIN / 2 - LINE / 2
        labels.append(_Label(caption, MARGIN, middle, layout.width, 0.42, FAINT_INK, "lm"))
    for label in labels:
        _write(ImageDraw.Draw(image), label, scale)
    return image


def render_sheet(tiles: Sequence[Image.Image], columns: int) -> Image.Image:
    """Pictures in rows of `columns`, each at the top left of a cell as large as the largest."""
    if not tiles or columns < 1:
        raise ValueError(f"got {len(tiles)} pictures in {columns} columns; give at least one each")
    columns = min(columns, len(tiles))
    rows = -(-len(tiles) // columns)
    width = max(tile.width for tile in tiles)
    height = max(tile.height for tile in tiles)
    sheet = Image.new("RGB", (columns * width, rows * height), PAPER)
    for number, tile in enumerate(tiles):
        row, column = divmod(number, columns)
        sheet.paste(tile, (column * width, row * height))
    return sheet


def _paint_ground(
    brush: Brush, layout: Layout, blocked: list[tuple[int, int]], origin: tuple[float, float]
) -> None:
    left, top = origin
    right, bottom = left + layout.width, top + layout.height
    brush.polygon([(left, top), (right, top), (right, bottom), (left, bottom)], CELL)
    for x, y in blocked:
        paint_blocked(brush.at(left + x + 0.5, top + y + 0.5))
    for x in range(layout.width + 1):
        brush.line([(left + x, top), (left + x, bottom)], 0.03, GRID_LINE)
    for y in range(layout.height + 1):
        brush.line([(left, top + y), (right, top + y)], 0.03, GRID_LINE)
    corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    brush.line(corners, 0.05, BLOCKED_LINE)


def _paint_entities(brush: Brush, layout: Layout, origin: tuple[float, float]) -> None:
    """Belts first, arms last: arms reach over their neighbours."""
    belts = belts_by_tile(layout)

    def placed(entity: Entity) -> Brush:
        middle = entity.size / 2
        x, y = origin[0] + entity.x + middle, origin[1] + entity.y + middle
        return brush.at(x, y) if entity.direction is None else brush.at(x, y, entity.direction)

    for belt in belts.values():
        if _sideloads(belt, belts):
            paint_sideload(placed(belt))
    for belt in belts.values():
        if belt.kind == "belt":
            paint_belt(placed(belt), turn_of(belt, belts))
        else:
            paint_port(placed(belt), belt.kind == "sink")
    for kind, paint in (("asm", paint_machine), ("inserter", paint_inserter)):
        for entity in layout.entities:
            if entity.kind == kind:
                paint(placed(entity))


def _sideloads(belt: Entity, belts: dict[tuple[int, int], Entity]) -> bool:
    """Whether a belt pushes into a straight belt from its side (R9)."""
    if belt.kind == "sink":
        return False
    assert belt.direction is not None
    dx, dy = DIRECTION_VECTORS[belt.direction]
    ahead = belts.get((belt.x + dx, belt.y + dy))
    if ahead is None or ahead.kind == "source" or ahead.direction is None:
        return False
    return (ahead.direction - belt.direction) % 2 == 1 and turn_of(ahead, belts) == STRAIGHT


def _entity_labels(layout: Layout, origin: tuple[float, float]) -> list[_Label]:
    labels: list[_Label] = []
    for entity in layout.entities:
        x, y = origin[0] + entity.x, origin[1] + entity.y
        if entity.kind == "asm":
            labels += _machine_labels(entity, x + MACHINE_SIZE / 2, y + MACHINE_SIZE / 2)
        elif entity.kind in ("source", "sink"):
            labels += _port_labels(entity, x + 0.5, y + 0.5)
    return labels


def _machine_labels(machine: Entity, x: float, y: float) -> list[_Label]:
    if machine.recipe is None:
        return [_Label("no recipe", x, y, 2.6, 0.36, FAINT_INK)]
    ingredients = RECIPES[machine.recipe].ingredients
    used = " + ".join(f"{amount} {short_name(item)}" for item, amount in ingredients)
    return [
        _Label(short_name(machine.recipe), x, y - 0.1, 2.6, 0.52, INK),
        _Label(used, x, y + 0.4, 2.6, 0.29, FAINT_INK),
    ]


def _port_labels(port: Entity, x: float, y: float) -> list[_Label]:
    """The items of a port, a row for each lane where they differ, above its arrow.

    The rows lie as the lanes do where the flow is east or west, else the left lane is first.
    """
    lanes = [port.item] if port.kind == "sink" else list(dict.fromkeys((port.left, port.right)))
    if port.direction == WEST:
        lanes.reverse()
    first = y - 0.09 - 0.18 * (len(lanes) - 1)
    return [
        _Label(short_name(item), x, first + 0.25 * row, 0.86, 0.27, PAPER)
        for row, item in enumerate(lanes)
    ]


def _write(draw: ImageDraw.ImageDraw, label: _Label, scale: int) -> None:
    size = label.height * scale
    length = ImageFont.load_default(size).getlength(label.text)
    size *= min(1.0, 0.98 * label.width * scale / max(length, 1.0))
    font = ImageFont.load_default(max(size, 5.0))
    position = (label.x * scale, label.y * scale)
    draw.text(position, label.text, fill=label.colour, font=font, anchor=label.anchor)
