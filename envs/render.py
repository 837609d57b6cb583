"""Layouts as pictures and as text. Jax-free.

In: a layout, its blocked cells, a title and a caption such as its verified rate. Out: a PIL image
or text; `render_sheet` puts many pictures on one. Entities are drawn by the modules `draw_*`.
"""

from collections.abc import Iterable, Sequence

from PIL import Image

from envs.draw import ARM_COATS, BUILDING_COATS, PAPER, SINK_COAT, SOURCE_COAT
from envs.draw_belts import paint_belt, paint_blocked, paint_port, paint_sideload
from envs.draw_canvas import Canvas, new_canvas
from envs.draw_entities import arms_in_order, buildings, stamp_arm, stamp_building
from envs.draw_labels import labels_of
from envs.layout import Layout
from envs.render_text import render_text
from envs.turns import belts_by_tile, sideloads, turn_of

__all__ = ["render_png", "render_sheet", "render_text"]


def render_png(
    layout: Layout,
    *,
    blocked: Iterable[tuple[int, int]] = (),
    title: str = "",
    caption: str = "",
    scale: int = 44,
) -> Image.Image:
    """An RGB picture of a layout, title above and caption below.

    `scale` is pixels per tile; it falls where the picture would have more than 40 million pixels
    or a side of more than 20,000, and names that would then be illegible are left out.
    """
    canvas = new_canvas(layout, scale, has_title=bool(title), foot_lines=bool(caption))
    for x, y in blocked:
        canvas.stamp(paint_blocked, x, y)
    _stamp_belts(canvas, layout)
    for building in buildings(layout):
        stamp_building(canvas, building, BUILDING_COATS[building.kind])
    for arm in arms_in_order(layout):
        stamp_arm(canvas, arm, ARM_COATS[arm.prototype])
    for entity in layout.entities:
        for label in labels_of(entity):
            canvas.write(label)
    return canvas.finish(title, caption)


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


def _stamp_belts(canvas: Canvas, layout: Layout) -> None:
    """Belts' ends that reach into the next tile first, ports last."""
    belts = belts_by_tile(layout)
    for belt in belts.values():
        if sideloads(belt, belts):
            canvas.stamp(paint_sideload, belt.x, belt.y, direction=belt.direction, overhang=1)
    for belt in belts.values():
        at, way = (belt.x, belt.y), belt.direction
        if belt.kind == "belt":
            canvas.stamp(paint_belt, *at, turn_of(belt, belts), direction=way)
        else:
            coat = SINK_COAT if belt.kind == "sink" else SOURCE_COAT
            canvas.stamp(paint_port, *at, coat, direction=way)
