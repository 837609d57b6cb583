"""Heat maps: colours follow the figures, each lane on its side, grey without a figure."""

import subprocess
import sys

import numpy as np
import pytest
from PIL import ImageColor

from envs.draw import SINK_COAT, SOURCE_COAT
from envs.draw_canvas import MAX_PIXELS
from envs.heat_colours import NO_FIGURE, STEPS, heat_colour
from envs.layout import Entity, Layout
from envs.render_heat import percent, render_heat_png

N, E, S, W = range(4)
SCALE = 40
MARGIN = 16


def _pixels(
    layout: Layout,
    use: dict[tuple[int, int], float] | None = None,
    load: dict[tuple[int, int], tuple[float, float]] | None = None,
) -> np.ndarray:
    return np.asarray(render_heat_png(layout, use or {}, load or {}, scale=SCALE))


def _grid(pixels: np.ndarray, layout: Layout) -> np.ndarray:
    return pixels[MARGIN : MARGIN + layout.height * SCALE, MARGIN : MARGIN + layout.width * SCALE]


def _colours(pixels: np.ndarray) -> set[tuple[int, ...]]:
    return set(map(tuple, pixels.reshape(-1, 3).tolist()))


def _rgb(colour: str) -> tuple[int, ...]:
    return ImageColor.getrgb(colour)


MACHINES = [
    Entity("asm", 0, 0, recipe="pipe"),
    Entity("furnace", 0, 0, recipe="iron-plate"),
    Entity("furnace", 0, 0, prototype="electric-furnace"),
    Entity("inserter", 0, 0, E),
    Entity("inserter", 0, 0, E, prototype="long-handed-inserter"),
]


@pytest.mark.parametrize("entity", MACHINES)
def test_machines_and_inserters_take_the_colour_of_their_use(entity: Entity) -> None:
    layout = Layout(4, 4, (entity,))
    for share in (0.0, 0.5, 1.0):
        shown = _colours(_grid(_pixels(layout, {(0, 0): share}), layout))
        assert _rgb(heat_colour(share)) in shown
        assert _rgb(NO_FIGURE) not in shown


@pytest.mark.parametrize("entity", MACHINES)
def test_entity_without_a_figure_is_grey(entity: Entity) -> None:
    layout = Layout(4, 4, (entity,))
    shown = _colours(_grid(_pixels(layout, {(3, 3): 1.0}), layout))
    assert _rgb(NO_FIGURE) in shown
    assert not shown & {_rgb(heat_colour(step / STEPS)) for step in range(STEPS + 1)}


@pytest.mark.parametrize("entity", MACHINES)
def test_percentage_is_written(entity: Entity) -> None:
    layout = Layout(4, 4, (entity,))
    # Both shares have the same colour, so only the writing can differ.
    pictures = [_pixels(layout, {(0, 0): share}) for share in (0.51, 0.52)]
    assert heat_colour(0.51) == heat_colour(0.52)
    assert (pictures[0] != pictures[1]).any()


@pytest.mark.parametrize("kind", ["chest_src", "chest_sink"])
def test_chest_is_grey(kind: str) -> None:
    layout = Layout(1, 1, (Entity(kind, 0, 0, item="stone"),))
    assert _rgb(NO_FIGURE) in _colours(_grid(_pixels(layout), layout))


@pytest.mark.parametrize("direction", [N, E, S, W])
@pytest.mark.parametrize("kind", ["belt", "source", "sink"])
def test_each_lane_has_the_colour_of_its_load_on_its_side(kind: str, direction: int) -> None:
    layout = Layout(3, 3, (Entity(kind, 1, 1, direction),))
    grid = _grid(_pixels(layout, load={(1, 1): (1.0, 0.0)}), layout)
    # Turned so that the flow is to the north, the left lane is at the left.
    tile = np.rot90(grid[SCALE : 2 * SCALE, SCALE : 2 * SCALE], direction)
    left, right = _colours(tile[:, : SCALE // 2]), _colours(tile[:, SCALE // 2 :])
    full, empty = _rgb(heat_colour(1.0)), _rgb(heat_colour(0.0))
    assert (full in left, empty in left) == (True, False)
    assert (full in right, empty in right) == (False, True)


def test_outer_lane_of_a_turn_is_the_longer_one() -> None:
    layout = Layout(2, 2, (Entity("belt", 0, 1, N), Entity("belt", 0, 0, E)))
    grid = _grid(_pixels(layout, load={(0, 0): (1.0, 0.0)}), layout)
    tile = grid[:SCALE, :SCALE]
    left, right = ((tile == _rgb(heat_colour(load))).all(axis=-1).sum() for load in (1.0, 0.0))
    assert left > 1.5 * right > 0


def test_belt_without_a_load_is_grey() -> None:
    layout = Layout(1, 1, (Entity("belt", 0, 0, E),))
    assert _rgb(NO_FIGURE) in _colours(_grid(_pixels(layout), layout))


def test_end_of_a_sideloading_belt_keeps_its_load() -> None:
    across = (Entity("belt", 0, 0, E), Entity("belt", 1, 0, E))
    layout = Layout(2, 2, (*across, Entity("belt", 1, 1, N)))
    load = {(0, 0): (0.0, 0.0), (1, 0): (0.0, 0.0), (1, 1): (1.0, 1.0)}
    gap = _grid(_pixels(layout, load=load), layout)[SCALE - 4 : SCALE - 1, SCALE:]
    assert _rgb(heat_colour(1.0)) in _colours(gap)


def test_ports_have_the_frame_of_their_role() -> None:
    layout = Layout(2, 1, (Entity("source", 0, 0, E, left="pipe"), Entity("sink", 1, 0, E)))
    grid = _grid(_pixels(layout), layout)
    source, sink = _colours(grid[:, : SCALE - 2]), _colours(grid[:, SCALE + 2 :])
    assert _rgb(SOURCE_COAT.fill) in source - sink
    assert _rgb(SINK_COAT.fill) in sink - source


def test_legend_shows_the_whole_scale_and_grey() -> None:
    pixels = _pixels(Layout(8, 2, ()))
    below = _colours(pixels[MARGIN + 2 * SCALE + MARGIN // 2 :])
    scale = {_rgb(heat_colour(step / STEPS)) for step in range(STEPS + 1)}
    assert scale | {_rgb(NO_FIGURE)} <= below


def test_narrow_grid_leaves_room_for_the_legend() -> None:
    picture = render_heat_png(Layout(1, 1, ()), {}, {}, scale=10)
    pixels = np.asarray(picture)
    assert picture.width >= 300
    assert (pixels[:, -2:] == 255).all()
    assert _rgb(heat_colour(1.0)) in _colours(pixels)


def test_title_and_caption_add_height() -> None:
    layout = Layout(4, 3, ())
    heights = [
        render_heat_png(layout, {}, {}, title=title, caption=caption).height
        for title, caption in (("", ""), ("t", ""), ("t", "c"))
    ]
    assert heights == sorted(set(heights))


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0%"), (0.001, "1%"), (0.454, "45%"), (0.999, "99%"), (1.0, "100%")],
)
def test_percentage_is_0_or_100_only_where_it_is_exact(share: float, text: str) -> None:
    assert percent(share) == text


def test_large_grid_gets_smaller_tiles() -> None:
    picture = render_heat_png(Layout(1000, 1000, ()), {}, {}, title="t", caption="c")
    assert picture.width > 1000
    assert picture.width * picture.height <= MAX_PIXELS


def test_heat_map_loads_no_jax() -> None:
    code = "import sys, envs.render_heat; sys.exit('jax' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
