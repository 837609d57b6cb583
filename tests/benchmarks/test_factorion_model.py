"""Layouts as worlds of factorion's flow model: ports as markers, and what is left out.

A stand-in has the model's item numbers and recipes; where the wheel is installed, it is asked too.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import factorion_model
from benchmarks.factorion_model import MARGIN, deliveries, world_of
from envs.layout import EAST, SOUTH, Entity, Layout

IRON, COPPER = "iron-plate", "copper-plate"
NUMBERS = {
    "transport_belt": 1,
    "inserter": 2,
    "assembling_machine_1": 3,
    "copper_plate": 7,
    "iron_plate": 8,
    "pipe": 40,
    "bulk_inserter": 87,
    "stack_inserter": 88,
}
PIPE = {"consumes": {"iron_plate": 1.0}, "produces": {"pipe": 1.0}, "crafting_time": 0.5}


def stand_in(recipe=PIPE):
    return SimpleNamespace(
        py_items=lambda: {number: {"name": name} for name, number in NUMBERS.items()},
        py_recipes=lambda: {"pipe": recipe},
        py_place_poles=lambda tensor: tensor,
        py_sink_deliveries=lambda tensor: [(3 + MARGIN, 1 + MARGIN, "iron_plate", 7.5)],
    )


def line(*more: Entity, left: str | None = IRON, right: str | None = IRON) -> Layout:
    """Source, belt and sink in a row, which flows east at y = 1, on 5x3 tiles."""
    row = (
        Entity("source", 0, 1, EAST, left=left, right=right),
        Entity("belt", 1, 1, EAST),
        Entity("sink", 2, 1, EAST, item=IRON),
    )
    return Layout(5, 3, row + more)


def cells(layout: Layout) -> dict[tuple[int, int], tuple[int, ...]]:
    """(entity, direction, item) of the tiles that are in use, by our coordinates."""
    world = world_of(stand_in(), layout)
    assert world is not None
    used = np.argwhere(world.tensor[:, :, 0])
    return {
        (int(x) - MARGIN, int(y) - MARGIN): tuple(int(v) for v in world.tensor[x, y, :3])
        for x, y in used
    }


def test_ports_are_belts_with_markers_beyond_their_ends():
    east = EAST + 1
    assert cells(line()) == {
        (-1, 1): (88, east, 8),
        (0, 1): (1, east, 0),
        (1, 1): (1, east, 0),
        (2, 1): (1, east, 0),
        (3, 1): (87, east, 8),
    }


def test_lanes_that_differ_are_filled_from_the_sides():
    found = cells(line(left=COPPER, right=IRON))
    assert found[-1, 0] == (88, SOUTH + 1, 7)
    assert found[-1, 2] == (88, 1, 8)
    assert found[-1, 1] == found[-2, 1] == (1, EAST + 1, 0)


def test_a_machine_fills_its_tiles_and_names_its_recipe():
    found = cells(Layout(5, 5, (Entity("asm", 1, 1, recipe="pipe"),)))
    assert set(found) == {(x, y) for x in (1, 2, 3) for y in (1, 2, 3)}
    assert set(found.values()) == {(3, 0, 40)}


@pytest.mark.parametrize(
    "extra",
    [
        Entity("belt", 3, 1, EAST),
        Entity("inserter", 3, 2, SOUTH),
        Entity("inserter", 4, 0, EAST, prototype="fast-inserter"),
        Entity("chest_sink", 4, 0, item=IRON),
        Entity("sink", 4, 0, EAST, item=None),
        Entity("sink", 4, 0, EAST, item="stone"),
    ],
    ids=["occupied", "picked-from", "unknown-arm", "unknown-kind", "no-item", "unknown-item"],
)
def test_what_the_model_cannot_express_is_left_out(extra: Entity):
    assert world_of(stand_in(), line(extra)) is None


def test_a_recipe_with_other_figures_is_left_out():
    layout = Layout(5, 5, (Entity("asm", 1, 1, recipe="pipe"),))
    assert world_of(stand_in(), layout) is not None
    assert world_of(stand_in(PIPE | {"crafting_time": 1.0}), layout) is None
    assert world_of(stand_in(PIPE | {"produces": {"pipe": 2.0}}), layout) is None
    gear = replace(layout.entities[0], recipe="iron-gear-wheel")
    assert world_of(stand_in(), Layout(5, 5, (gear,))) is None


def test_deliveries_are_named_by_our_sinks_and_zero_where_none_is_reported():
    model = stand_in()
    world = world_of(model, line())
    assert world is not None
    assert deliveries(model, world) == {(2, 1, IRON): 7.5}
    model.py_sink_deliveries = lambda tensor: []
    assert deliveries(model, world) == {(2, 1, IRON): 0.0}


def test_the_wheel_itself_drains_full_belts_and_single_lanes():
    pytest.importorskip("factorion_rs")
    model = factorion_model.load()
    for lanes, rate in (((IRON, IRON), 15.0), ((IRON, None), 7.5), ((COPPER, IRON), 7.5)):
        world = world_of(model, line(left=lanes[0], right=lanes[1]))
        assert world is not None
        assert deliveries(model, world) == {(2, 1, IRON): rate}
