"""A layout as a heat map of use: how busy machines and inserters are, how full lanes are. Jax-free.

In: a layout, shares of time by tile, loads of lanes by tile. Out: a PIL image with a legend bar.
What has no figure is grey.
"""

from collections.abc import Mapping

from PIL import Image, ImageDraw

from envs.draw import FAINT_INK, INK, PAPER, SINK_COAT, SOURCE_COAT, Coat
from envs.draw_belts import paint_loaded_belt, paint_loaded_port, paint_loaded_sideload
from envs.draw_canvas import MIN_LETTER_PX, Canvas, Label, new_canvas
from envs.draw_entities import arms_in_order, buildings, stamp_arm, stamp_building
from envs.draw_labels import chest_labels, lane_items, tier_labels
from envs.draw_machines import paint_plate
from envs.heat_colours import NO_FIGURE, NO_FIGURE_EDGE, STEPS, blend, heat_colour, text_colour
from envs.labels import short_name
from envs.layout import MACHINE_KINDS, Entity, Layout
from envs.turns import belts_by_tile, sideloads, turn_of

Tile = tuple[int, int]

_MIN_WIDTH_PX = 300
"""Width in which the legend can be read."""

_BAR_LETTERS, _LEGEND_LETTERS = 10, 24
"""Width of the legend's bar and of its first line, in heights of its letters."""

_NAME_HEIGHT = 0.27
"""Letters of the items of a source or sink, tiles."""

_LEGEND_TEXT = "machines, inserters: time busy; belt lanes: load, 100% = 7.5 items/s"


def render_heat_png(
    layout: Layout,
    use: Mapping[Tile, float],
    lane_load: Mapping[Tile, tuple[float, float]],
    *,
    title: str = "",
    caption: str = "",
    scale: int = 44,
) -> Image.Image:
    """An RGB picture of how busy everything is, with a legend below.

    Args:
        use: share of time, 0 to 1, that the machine or inserter at (x, y) is busy; for a machine
            its top left tile, as in `Entity`.
        lane_load: load of the left and the right lane of the belt, source or sink at (x, y), 0 to
            1, where 1 is 7.5 items/s.
        scale: pixels per tile; falls for large grids as in `render_png`.
    """
    canvas = new_canvas(
        layout,
        scale,
        has_title=bool(title),
        foot_lines=2 + bool(caption),
        min_width=_MIN_WIDTH_PX,
    )
    _stamp_belts(canvas, layout, lane_load)
    for building in buildings(layout):
        coat = _coat(building, use)
        stamp_building(canvas, building, coat, fire=(coat.fill, coat.edge))
    for arm in arms_in_order(layout):
        stamp_arm(canvas, arm, _coat(arm, use))
    for arm in arms_in_order(layout):
        canvas.stamp(paint_plate, arm.x, arm.y, _coat(arm, use))
    for entity in layout.entities:
        for label in _labels(entity, use):
            canvas.write(label)
    picture = canvas.finish(title, caption)
    _draw_legend(canvas)
    return picture


def _coat(entity: Entity, use: Mapping[Tile, float]) -> Coat:
    """Colours of a machine, chest or inserter."""
    share = use.get((entity.x, entity.y))
    if share is None or entity.kind in ("chest_src", "chest_sink"):
        return Coat(NO_FIGURE, NO_FIGURE_EDGE, blend(NO_FIGURE, PAPER, 0.3))
    fill = heat_colour(share)
    return Coat(fill, INK, blend(fill, text_colour(fill), 0.12))


def _stamp_belts(
    canvas: Canvas, layout: Layout, lane_load: Mapping[Tile, tuple[float, float]]
) -> None:
    belts = belts_by_tile(layout)
    has_names = _NAME_HEIGHT * canvas.tile >= MIN_LETTER_PX
    colours = {tile: tuple(map(heat_colour, lane_load.get(tile, (None, None)))) for tile in belts}
    for tile, belt in belts.items():
        if sideloads(belt, belts):
            canvas.stamp(
                paint_loaded_sideload,
                *tile,
                *colours[tile],
                direction=belt.direction,
                overhang=1,
            )
    for tile, belt in belts.items():
        turn, way = turn_of(belt, belts), belt.direction
        if belt.kind == "belt":
            canvas.stamp(paint_loaded_belt, *tile, turn, *colours[tile], direction=way)
        else:
            frame = (SINK_COAT if belt.kind == "sink" else SOURCE_COAT).fill
            rows = len(lane_items(belt)) if has_names else 0
            look = (turn, *colours[tile], frame, rows)
            canvas.stamp(paint_loaded_port, *tile, *look, direction=way)


def _labels(entity: Entity, use: Mapping[Tile, float]) -> list[Label]:
    """The percentage of a machine or inserter; products, tiers and items in smaller letters."""
    coat = _coat(entity, use)
    share = use.get((entity.x, entity.y))
    figure = "" if share is None else percent(share)
    x, y = entity.x + entity.size / 2, entity.y + entity.size / 2
    ink = text_colour(coat.fill)
    if entity.kind == "inserter":
        return [Label(figure, x, y, 0.54, 0.27, ink, coat.fill)]
    if entity.kind in MACHINE_KINDS:
        size, width = entity.size, entity.size - 0.4
        return [
            *tier_labels(entity, coat),
            Label(
                short_name(entity.recipe), x, y - 0.17 * size, width, 0.14 * size, ink, coat.fill
            ),
            Label(figure, x, y + 0.02 * size, width, 0.19 * size, ink, coat.fill),
        ]
    if entity.kind in ("source", "sink"):
        items = lane_items(entity)
        first = y - 0.12 * (len(items) - 1)
        return [
            Label(short_name(item), x, first + 0.24 * row, 0.9, _NAME_HEIGHT, INK, PAPER)
            for row, item in enumerate(items)
        ]
    return [] if entity.kind == "belt" else chest_labels(entity, INK, coat.mark)


def percent(share: float) -> str:
    """A share of 0 to 1 as a whole percentage; 100 % and 0 % only where it is exactly that."""
    if 0 < share < 1:
        return f"{min(99, max(1, round(100 * share)))}%"
    return f"{round(100 * share)}%"


def _draw_legend(canvas: Canvas) -> None:
    """A bar of the scale with a grey box beside it, and a line that says what is coloured."""
    draw = ImageDraw.Draw(canvas.image)
    letter = min(0.5 * canvas.line, (canvas.image.width - 2 * canvas.margin) / _LEGEND_LETTERS)
    middle = canvas.bottom + (canvas.margin + canvas.line) / 2
    top, low = round(middle - 0.6 * letter), round(middle + 0.6 * letter)

    def right_of_margin(letters: float) -> int:
        return canvas.margin + round(letters * letter)

    for step in range(STEPS + 1):
        ends = (2 + _BAR_LETTERS * part / (STEPS + 1) for part in (step, step + 1))
        near, far = map(right_of_margin, ends)
        draw.rectangle((near, top, far - 1, low), fill=heat_colour(step / STEPS))
    box = 2 + _BAR_LETTERS + 4
    for start, end, fill in ((2, 2 + _BAR_LETTERS, None), (box, box + 1.2, NO_FIGURE)):
        corners = (right_of_margin(start), top, right_of_margin(end) - 1, low)
        draw.rectangle(corners, fill=fill, outline=NO_FIGURE_EDGE)
    for place, text in ((0, "0%"), (2.4 + _BAR_LETTERS, "100%"), (box + 1.7, "no figure")):
        canvas.write_line(text, middle, letter, INK, place * letter)
    canvas.write_line(_LEGEND_TEXT, middle + canvas.line, letter, FAINT_INK)
