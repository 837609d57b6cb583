"""Pictures: size, what stands where, and that every entity and direction shows."""

import subprocess
import sys

import numpy as np
import pytest
from PIL import Image, ImageColor

from envs.draw import (
    ARM,
    BELT,
    BLOCKED_FILL,
    BLOCKED_LINE,
    CELL,
    CHEVRON,
    MACHINE,
    MACHINE_EDGE,
    PAPER,
    SINK,
    SOURCE,
)
from envs.layout import Entity, Layout
from envs.render import render_png, render_sheet

N, E, S, W = range(4)
SCALE = 40
MARGIN = 16


def _pixels(layout: Layout, **options: object) -> np.ndarray:
    return np.asarray(render_png(layout, scale=SCALE, **options))  # type: ignore[arg-type]


def _colours(pixels: np.ndarray, x: int, y: int) -> set[tuple[int, ...]]:
    """Colours in one tile of a picture without a title."""
    left, top = MARGIN + x * SCALE, MARGIN + y * SCALE
    tile = pixels[top + 2 : top + SCALE - 2, left + 2 : left + SCALE - 2]
    return {tuple(map(int, colour)) for colour in tile.reshape(-1, 3)}


def _rgb(colour: str) -> tuple[int, ...]:
    return ImageColor.getrgb(colour)


@pytest.mark.parametrize(
    ("entity", "colours"),
    [
        (Entity("belt", 1, 1, E), (BELT, CHEVRON)),
        (Entity("source", 1, 1, E, left="pipe", right="pipe"), (SOURCE, PAPER)),
        (Entity("sink", 1, 1, E, item="pipe"), (SINK, PAPER)),
        (Entity("inserter", 1, 1, E), (ARM,)),
        (Entity("asm", 0, 0, recipe="pipe"), (MACHINE,)),
    ],
)
def test_entity_is_painted_in_its_colours(entity: Entity, colours: tuple[str, ...]) -> None:
    shown = _colours(_pixels(Layout(3, 3, (entity,))), 1, 1)
    assert {_rgb(colour) for colour in colours} <= shown


def test_machine_covers_its_nine_tiles_and_no_more() -> None:
    pixels = _pixels(Layout(5, 5, (Entity("asm", 1, 1, recipe="pipe"),)))
    for x in range(5):
        for y in range(5):
            inside = 1 <= x <= 3 and 1 <= y <= 3
            painted = _colours(pixels, x, y) & {_rgb(MACHINE), _rgb(MACHINE_EDGE)}
            assert bool(painted) == inside, (x, y)


@pytest.mark.parametrize("kind", ["belt", "inserter", "sink"])
def test_each_direction_looks_different(kind: str) -> None:
    pictures = [_pixels(Layout(3, 3, (Entity(kind, 1, 1, d),))).tobytes() for d in range(4)]
    assert len(set(pictures)) == 4


def test_directions_are_rotations_of_each_other() -> None:
    for kind in ("belt", "inserter"):
        east, south = (_pixels(Layout(3, 3, (Entity(kind, 1, 1, d),))) for d in (E, S))
        differs = np.abs(np.rot90(east, -1).astype(int) - south).max(axis=-1) > 64
        assert differs.mean() < 0.01


def test_turn_leaves_its_outer_corner_free() -> None:
    feeder, belt = Entity("belt", 1, 2, N), Entity("belt", 1, 1, E)
    corner = MARGIN + SCALE + 8
    turned = _pixels(Layout(3, 3, (feeder, belt)))
    straight = _pixels(Layout(3, 3, (belt,)))
    assert tuple(turned[corner, corner]) == _rgb(CELL)
    assert tuple(straight[corner, corner]) == _rgb(BELT)


def test_sideloading_belt_reaches_the_track_it_feeds() -> None:
    across = (Entity("belt", 0, 0, E), Entity("belt", 1, 0, E))
    gap = (MARGIN + SCALE - 3, MARGIN + SCALE + SCALE // 2)
    assert tuple(_pixels(Layout(3, 3, across))[gap]) == _rgb(CELL)
    fed = _pixels(Layout(3, 3, (*across, Entity("belt", 1, 1, N))))
    assert tuple(fed[gap]) == _rgb(BELT)


def test_blocked_cells_are_hatched() -> None:
    pixels = _pixels(Layout(2, 1, ()), blocked=[(1, 0)])
    assert _colours(pixels, 0, 0) == {_rgb(CELL)}
    assert {_rgb(BLOCKED_FILL), _rgb(BLOCKED_LINE)} <= _colours(pixels, 1, 0)


def test_title_and_caption_add_height() -> None:
    layout = Layout(4, 3, ())
    plain = render_png(layout, scale=SCALE)
    assert plain.size == (4 * SCALE + 2 * MARGIN, 3 * SCALE + 2 * MARGIN)
    title = render_png(layout, title="a title", scale=SCALE)
    both = render_png(layout, title="a title", caption="7.5 items/s (15/2)", scale=SCALE)
    assert plain.height < title.height < both.height
    assert both.width == plain.width


def test_long_title_stays_inside() -> None:
    pixels = _pixels(Layout(4, 3, ()), title="a title that is far too long for four tiles" * 2)
    assert (pixels[:, -MARGIN // 2 :] == 255).all()


def test_sheet_places_pictures_in_rows() -> None:
    tiles = [Image.new("RGB", (10, 8), colour) for colour in ("red", "lime", "blue")]
    sheet = render_sheet(tiles, 2)
    assert sheet.size == (20, 16)
    at = [sheet.getpixel(position) for position in ((0, 0), (10, 0), (0, 8), (10, 8))]
    assert at == [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)]
    assert render_sheet(tiles[:1], 5).size == (10, 8)


def test_empty_sheet_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        render_sheet([], 3)


def test_rendering_loads_no_jax() -> None:
    code = "import sys, envs.render; sys.exit('jax' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
