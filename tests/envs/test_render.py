"""Pictures: size, what stands where, and that every entity and direction shows."""

import subprocess
import sys

import numpy as np
import pytest
from PIL import Image, ImageColor

from envs.draw import (
    ARM_COATS,
    BELT_COAT,
    BLOCKED_FILL,
    BLOCKED_LINE,
    BUILDING_COATS,
    CELL,
    FLAME,
    PAPER,
    SINK_COAT,
    SOURCE_COAT,
    Coat,
)
from envs.draw_canvas import MAX_PIXELS, MAX_SIDE_PX
from envs.layout import PROTOTYPES, Entity, Layout
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


ASSEMBLER, FURNACE = BUILDING_COATS["asm"], BUILDING_COATS["furnace"]


def _edge_is_painted(pixels: np.ndarray, x: int, y: int, coat: Coat) -> bool:
    return bool(_colours(pixels, x, y) & {_rgb(coat.fill), _rgb(coat.edge)})


@pytest.mark.parametrize(
    ("entity", "colours"),
    [
        (Entity("belt", 1, 1, E), (BELT_COAT.fill, BELT_COAT.mark)),
        (Entity("source", 1, 1, E, left="pipe", right="pipe"), (SOURCE_COAT.fill, PAPER)),
        (Entity("sink", 1, 1, E, item="pipe"), (SINK_COAT.fill, PAPER)),
        (Entity("asm", 0, 0, recipe="pipe"), (ASSEMBLER.fill,)),
        (Entity("furnace", 0, 0, recipe="iron-plate"), (FURNACE.fill, FURNACE.edge)),
        (Entity("chest_src", 1, 1, item="stone"), BUILDING_COATS["chest_src"][:2]),
        (Entity("chest_sink", 1, 1, item="stone"), BUILDING_COATS["chest_sink"][:2]),
    ],
)
def test_entity_is_painted_in_its_colours(entity: Entity, colours: tuple[str, ...]) -> None:
    shown = _colours(_pixels(Layout(3, 3, (entity,))), 1, 1)
    assert {_rgb(colour) for colour in colours} <= shown


@pytest.mark.parametrize(
    ("machine", "size", "coat"),
    [
        (Entity("asm", 1, 1, recipe="pipe"), 3, ASSEMBLER),
        (Entity("furnace", 1, 1, recipe="iron-plate"), 2, FURNACE),
        (Entity("furnace", 1, 1, prototype="electric-furnace"), 3, FURNACE),
    ],
)
def test_machine_covers_its_tiles_and_no_more(machine: Entity, size: int, coat: Coat) -> None:
    pixels = _pixels(Layout(5, 5, (machine,)))
    for x in range(5):
        for y in range(5):
            inside = 1 <= x <= size and 1 <= y <= size
            assert _edge_is_painted(pixels, x, y, coat) == inside, (x, y)


def test_furnace_has_a_fire_and_cut_corners() -> None:
    furnace = _pixels(Layout(3, 3, (Entity("furnace", 0, 0, prototype="electric-furnace"),)))
    assembler = _pixels(Layout(3, 3, (Entity("asm", 0, 0),)))
    assert _rgb(FLAME) in _colours(furnace, 1, 2)
    assert _rgb(FLAME) not in _colours(assembler, 1, 2)
    corner = (MARGIN + 7, MARGIN + 7)
    assert tuple(furnace[corner]) == _rgb(CELL)
    assert tuple(assembler[corner]) != _rgb(CELL)


@pytest.mark.parametrize("kind", ["asm", "furnace", "inserter"])
def test_each_type_of_a_kind_looks_different(kind: str) -> None:
    pictures = {
        _pixels(Layout(5, 5, (Entity(kind, 1, 1, E, prototype=name),))).tobytes()
        for name in PROTOTYPES[kind]
    }
    assert len(pictures) == len(PROTOTYPES[kind])


def test_tier_is_marked_at_the_lower_right() -> None:
    first, second = (
        _pixels(Layout(3, 3, (Entity("asm", 0, 0, prototype=f"assembling-machine-{tier}"),)))
        for tier in (1, 2)
    )
    changed = (first != second).any(axis=-1)
    assert np.argwhere(changed).min() >= MARGIN + 2 * SCALE
    # A white figure on a disc of the edge's colour.
    assert (second[changed] == _rgb(ASSEMBLER.edge)).all(axis=-1).any()
    assert second[changed].min(axis=-1).max() > 240


@pytest.mark.parametrize("prototype", PROTOTYPES["inserter"])
def test_inserter_shows_its_colour_and_reaches_its_tiles(prototype: str) -> None:
    arm = Entity("inserter", 3, 1, E, prototype=prototype)
    empty, pixels = (_pixels(Layout(7, 3, entities)) for entities in ((), (arm,)))
    assert _rgb(ARM_COATS[prototype].fill) in _colours(pixels, 3, 1)
    touched = [x for x in range(7) if _colours(pixels, x, 1) != _colours(empty, x, 1)]
    assert touched == list(range(3 - arm.reach, 4 + arm.reach))


def test_fast_inserter_differs_from_a_basic_one_by_shape_too() -> None:
    shapes = [
        (_pixels(Layout(3, 3, (Entity("inserter", 1, 1, E, prototype=name),))) != _rgb(CELL)).any(
            axis=-1
        )
        for name in ("inserter", "fast-inserter")
    ]
    assert (shapes[0] != shapes[1]).any()


def test_short_inserter_stays_visible_under_a_long_one() -> None:
    short = Entity("inserter", 3, 1, N)
    long = Entity("inserter", 2, 1, E, prototype="long-handed-inserter")
    both = [_pixels(Layout(5, 3, order)) for order in ((short, long), (long, short))]
    assert (both[0] == both[1]).all()
    assert _rgb(ARM_COATS["inserter"].mark) in _colours(both[0], 3, 1)


def test_arm_that_leaves_the_grid_does_not_reach_the_caption() -> None:
    arm = Entity("inserter", 1, 2, S, prototype="long-handed-inserter")
    with_arm, without = (_pixels(Layout(3, 3, one), caption="rate") for one in ((arm,), ()))
    below = 2 * MARGIN + 3 * SCALE + 1
    assert (with_arm[below:] == without[below:]).all()


def test_source_chest_is_filled_and_sink_chest_is_not() -> None:
    middle = (MARGIN + SCALE + 30, MARGIN + SCALE + 12)
    for kind in ("chest_src", "chest_sink"):
        pixels = _pixels(Layout(3, 3, (Entity(kind, 1, 1, item="stone"),)))
        assert tuple(pixels[middle]) == _rgb(BUILDING_COATS[kind].fill)


@pytest.mark.parametrize(
    ("kind", "name"), [("chest_src", "item"), ("chest_sink", "item"), ("furnace", "recipe")]
)
def test_item_of_a_chest_and_recipe_of_a_furnace_are_written(kind: str, name: str) -> None:
    pictures = [
        _pixels(Layout(2, 2, (Entity(kind, 0, 0, **{name: item}),)))  # type: ignore[arg-type]
        for item in ("iron-plate", "steel-plate")
    ]
    assert (pictures[0] != pictures[1]).any()


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
    assert tuple(straight[corner, corner]) == _rgb(BELT_COAT.fill)


def test_sideloading_belt_reaches_the_track_it_feeds() -> None:
    across = (Entity("belt", 0, 0, E), Entity("belt", 1, 0, E))
    gap = (MARGIN + SCALE - 3, MARGIN + SCALE + SCALE // 2)
    assert tuple(_pixels(Layout(3, 3, across))[gap]) == _rgb(CELL)
    fed = _pixels(Layout(3, 3, (*across, Entity("belt", 1, 1, N))))
    assert tuple(fed[gap]) == _rgb(BELT_COAT.fill)


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


@pytest.mark.parametrize(("width", "height"), [(1000, 1000), (1000, 1), (1, 1000), (3, 3)])
def test_scale_falls_where_the_picture_would_be_too_large(width: int, height: int) -> None:
    picture = render_png(Layout(width, height, ()), title="t", caption="c", scale=4_000)
    assert picture.width * picture.height <= MAX_PIXELS
    assert max(picture.size) <= MAX_SIDE_PX
    assert picture.width > width
    assert picture.height > height


def test_names_that_would_be_illegible_are_left_out() -> None:
    def ink_of(scale: int, recipe: str) -> bytes:
        return render_png(
            Layout(3, 3, (Entity("asm", 0, 0, recipe=recipe),)), scale=scale
        ).tobytes()

    assert ink_of(6, "pipe") == ink_of(6, "iron-gear-wheel")
    assert ink_of(20, "pipe") != ink_of(20, "iron-gear-wheel")


def test_equal_entities_look_equal_wherever_they_stand() -> None:
    arm = [Entity("inserter", x, y, E, prototype="fast-inserter") for x, y in ((2, 1), (6, 4))]
    pixels = _pixels(Layout(9, 6, tuple(arm)))
    near, far = (
        pixels[MARGIN + y * SCALE + 2 : MARGIN + (y + 1) * SCALE - 2, MARGIN + x * SCALE - 30 :][
            :, : SCALE + 60
        ]
        for x, y in ((2, 1), (6, 4))
    )
    assert (near == far).all()


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
