"""Machines: craft time, ingredient limits, stop level (R37-R41)."""

from itertools import pairwise

import pytest
from verifier_layouts import COPPER, GEAR, IRON, Stepped, arm, asm, draw, source

from envs.catalogue import RECIPES, TASK_MACHINE
from envs.layout import EAST, SOUTH, Layout

FED = """
    S>>>.
    .ABC.
    .M...
    .....
    .....
"""


def fed(recipe: str | None, item: str = IRON) -> Layout:
    arms = dict.fromkeys("ABC", arm(SOUTH))
    return draw(FED, S=source(EAST, item, item), M=asm(recipe), **arms)


def made(layout: Layout, ticks: int) -> int:
    return int(Stepped(layout, ticks).state.machines["made"][0])


@pytest.mark.parametrize(
    ("recipe", "ticks"),
    [(GEAR, 60), ("automation-science-pack", 600), ("logistic-science-pack", 720)],
)
def test_craft_time_of_an_assembling_machine_1(recipe, ticks):
    assert RECIPES[recipe].craft_ticks(TASK_MACHINE) == ticks


@pytest.mark.parametrize(
    ("recipe", "limit"), [(GEAR, 3), ("automation-science-pack", 2), ("firearm-magazine", 2)]
)
def test_ingredient_limit_in_crafts(recipe, limit):
    first = RECIPES[recipe].ingredients[0][1]
    assert RECIPES[recipe].ingredient_limit(first, TASK_MACHINE) == first * limit


def test_crafts_follow_one_another_without_a_pause():
    layout = fed("pipe")
    times = [t for t in range(1, 700) if made(layout, t) > made(layout, t - 1)]
    assert [b - a for a, b in pairwise(times)][2:7] == [60] * 5


def test_machine_stops_at_the_stack_size_of_its_product():
    layout = fed("pipe")
    assert made(layout, 100 * 60 + 200) == 100
    assert made(layout, 100 * 60 + 900) == 100


def test_product_exceeds_the_stop_level_by_less_than_one_craft():
    layout = fed("copper-cable", COPPER)
    assert made(layout, 20_000) == 200


def test_stopped_machine_keeps_its_ingredients_at_the_limit():
    stepped = Stepped(fed("pipe"), 9000)
    assert stepped.state.machines["remaining"][0] == 0
    assert 3 <= stepped.stock(IRON) <= 5


def test_machine_without_recipe_takes_and_makes_nothing():
    stepped = Stepped(fed(None), 500)
    assert made(fed(None), 500) == 0
    assert set(stepped.state.arms["held"]) == {-1}


def test_machine_needs_every_ingredient():
    assert made(fed("electronic-circuit"), 2000) == 0
    assert Stepped(fed("electronic-circuit"), 2000).stock(IRON) >= 3
