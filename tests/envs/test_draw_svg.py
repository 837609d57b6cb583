"""The painters of pictures draw the same as SVG, in whole units, and labels are safe and fit."""

import re

from envs.draw import ARM_COATS, BUILDING_COATS
from envs.draw_belts import paint_belt, paint_blocked
from envs.draw_canvas import Label
from envs.draw_machines import paint_assembler, paint_inserter
from envs.draw_svg import UNITS, painted, written
from envs.layout import EAST, NORTH, WEST
from envs.turns import STRAIGHT


def polygons(svg: str) -> list[list[tuple[int, int]]]:
    """Corners of each polygon; fails where a coordinate is no whole number."""
    found = re.findall(r'<polygon points="([^"]*)"', svg)
    return [
        [(int(x), int(y)) for x, y in (pair.split(",") for pair in points.split())]
        for points in found
    ]


def test_a_belt_fills_its_tile_from_edge_to_edge() -> None:
    (track, *_) = polygons(painted(paint_belt, 2, 3, STRAIGHT, direction=EAST))
    assert {x for x, _ in track} == {200, 300}
    assert {y for _, y in track} == {312, 388}


def test_chevrons_point_along_the_flow() -> None:
    east = polygons(painted(paint_belt, 0, 0, STRAIGHT, direction=EAST))[-1]
    west = polygons(painted(paint_belt, 0, 0, STRAIGHT, direction=WEST))[-1]
    assert [(UNITS - x, UNITS - y) for x, y in east] == west


def test_a_machine_stays_within_its_tiles() -> None:
    coat = BUILDING_COATS["asm"]
    svg = painted(paint_assembler, 1, 1, 3, coat, False, size=3)
    box = re.search(r'<rect x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"', svg)
    assert box is not None
    x, y, width, height = map(float, box.groups())
    assert 100 < x < x + width < 400
    assert (x, width) == (y, height)
    assert svg.count(coat.fill) == 2


def test_an_arm_reaches_from_its_pickup_to_its_drop_tile() -> None:
    coat = ARM_COATS["inserter"]
    svg = painted(paint_inserter, 5, 5, 1, coat, 1, direction=NORTH)
    (head,) = [one for one in polygons(svg) if len(one) == 3][-1:]
    assert min(y for _, y in head) < 500  # the tile above
    rings = [int(y) for y in re.findall(r'<circle cx="550" cy="(\d+)"', svg)]
    assert max(rings) > 600  # the tile below


def test_blocked_tiles_are_hatched() -> None:
    assert painted(paint_blocked, 0, 0).count("<polyline") == 7


def test_letters_are_smaller_where_a_label_is_too_wide() -> None:
    def size(text: str) -> float:
        found = re.search(
            r'font-size="([^"]*)"', written(Label(text, 1, 1, 1.0, 0.3, "#000", "#fff"))
        )
        assert found is not None
        return float(found[1])

    assert size("ok") == 30
    assert 0 < size("a very long name") < 15


def test_labels_are_text() -> None:
    svg = written(Label("<b>&", 1, 1, 1.0, 0.3, "#000", "#fff"))
    assert svg.endswith("&lt;b&gt;&amp;</text>")
    assert svg.count("<") == 2
