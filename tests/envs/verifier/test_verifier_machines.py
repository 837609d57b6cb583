"""Machines and chests: craft time, ingredient limits, stop level (R37-R42)."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from verifier_layouts import (
    COPPER,
    GEAR,
    IRON,
    Stepped,
    arm,
    asm,
    chest,
    chest_sink,
    draw,
    furnace,
    sink,
    source,
)

from envs.layout import EAST, MACHINE_KINDS, PROTOTYPES, SOUTH, Entity, Layout
from envs.verifier import verify

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


WORKING = [
    ("assembling-machine-1", "pipe", IRON, 60, 3),
    ("assembling-machine-2", "pipe", IRON, 40, 3),
    ("assembling-machine-3", "pipe", IRON, 24, 4),
    ("assembling-machine-3", "stone-furnace", "stone", 24, 20),
    ("stone-furnace", "iron-plate", "iron-ore", 192, 2),
    ("steel-furnace", "copper-plate", "copper-ore", 96, 2),
    ("electric-furnace", "stone-brick", "stone", 96, 4),
    ("stone-furnace", "steel-plate", IRON, 960, 10),
    ("electric-furnace", "steel-plate", IRON, 480, 10),
]
"""Machine, product, ingredient, ticks of a craft (R37), what arms keep in it (R38)."""


def chest_fed(prototype: str, recipe: str, item: str, arms: int) -> Layout:
    """A machine with fast arms that bring its only ingredient from chests, and no exit."""
    machine = replace(MACHINE[prototype], recipe=recipe)
    feed = dict(zip("AB", [arm(SOUTH, "fast-inserter")] * arms, strict=False))
    text = "CC.\nAB.\nM..\n...\n..." if arms == 2 else "C..\nA..\nM..\n...\n..."
    return draw(text, C=chest(item), M=machine, **feed)


MACHINE = {
    prototype: Entity(kind, 0, 0, prototype=prototype)
    for kind in MACHINE_KINDS
    for prototype in PROTOTYPES[kind]
}


@pytest.mark.parametrize(("prototype", "recipe", "item", "ticks", "_limit"), WORKING)
def test_r37_crafts_take_their_time_in_every_machine(prototype, recipe, item, ticks, _limit):
    """With two fast arms 1 item comes in 12 ticks, which is enough for all but stone furnaces."""
    layout = chest_fed(prototype, recipe, item, arms=2)
    starts = remaining_after_starts(layout, 4 * ticks + 120)
    assert set(starts) == {ticks}
    assert len(starts) >= 2


def remaining_after_starts(layout: Layout, ticks: int) -> list[int]:
    """What is left of each craft at the end of the tick in which it began."""
    machines = [Stepped(layout, tick).state.machines[0] for tick in range(ticks)]
    return [int(b["remaining"]) for a, b in pairwise(machines) if b["crafts"] > a["crafts"]]


@pytest.mark.parametrize(("prototype", "recipe", "item", "_ticks", "limit"), WORKING)
def test_r38_one_arm_fills_every_machine_exactly_to_the_limit(
    prototype, recipe, item, _ticks, limit
):
    layout = chest_fed(prototype, recipe, item, arms=1)
    assert Stepped(layout, 110_000).stock(item) == limit
    assert max(Stepped(layout, tick).stock(item) for tick in range(0, 3000, 5)) <= limit


@pytest.mark.parametrize("prototype", ["stone-furnace", "electric-furnace"])
def test_r40_furnace_stops_at_the_stack_size_of_its_product(prototype):
    layout = chest_fed(prototype, "iron-plate", "iron-ore", arms=1)
    assert made(layout, 30_000) == made(layout, 40_000) == 100


def test_r40_product_exceeds_the_stop_level_where_a_craft_begins_just_below_it():
    """A belt and a hand take five cables, so the last craft begins at 199."""
    layout = draw(
        "C..\nA..\nM..\n...\n...\nB..\n^..",
        C=chest(COPPER),
        A=arm(SOUTH, "fast-inserter"),
        M=asm("copper-cable"),
        B=arm(SOUTH),
    )
    assert len(Stepped(layout, 30_000).positions(0, 6, 1)) == 4
    assert made(layout, 30_000) == 201


def test_r42_chests_never_run_out_never_fill_and_have_no_state():
    layout = draw("C\nA\nK", C=chest(), A=arm(SOUTH, "fast-inserter"), K=chest_sink(None))
    assert Stepped(layout, 24 * 20_000 + 12).delivered(IRON) == 20_000
    result = verify(layout)
    assert (result.period_ticks, result.transient_ticks) == (24, 3)
    assert [(rate.item, rate.rate) for rate in result.rates] == [(IRON, Fraction(5, 2))]


def test_r42_chest_that_counts_takes_any_item():
    layout = draw(
        "CDK\n.A.\n.L.", C=chest(), D=chest("wood"), A=arm(SOUTH), K=sink(EAST), L=chest_sink(GEAR)
    )
    rates = {(r.x, r.y, r.item): r.rate for r in verify(layout).rates}
    assert rates == {(2, 0, IRON): 0, (1, 2, GEAR): 0, (1, 2, "wood"): Fraction(6, 7)}


def test_r39_crafts_follow_one_another_without_a_pause():
    layout = fed("pipe")
    times = [t for t in range(1, 700) if made(layout, t) > made(layout, t - 1)]
    assert [b - a for a, b in pairwise(times)][2:7] == [60] * 5


def test_r40_machine_stops_at_the_stack_size_of_its_product():
    layout = fed("pipe")
    assert made(layout, 100 * 60 + 200) == 100
    assert made(layout, 100 * 60 + 900) == 100


def test_r40_product_exceeds_the_stop_level_by_less_than_one_craft():
    layout = fed("copper-cable", COPPER)
    assert made(layout, 20_000) == 200


def test_r38_stopped_machine_keeps_its_ingredients_at_the_limit():
    stepped = Stepped(fed("pipe"), 9000)
    assert stepped.state.machines["remaining"][0] == 0
    assert 3 <= stepped.stock(IRON) <= 5


@pytest.mark.parametrize("machine", [asm(None), furnace(None)])
def test_r41_machine_without_recipe_takes_and_makes_nothing(machine):
    layout = draw(FED, S=source(EAST), M=machine, **dict.fromkeys("ABC", arm(SOUTH)))
    stepped = Stepped(layout, 500)
    assert made(layout, 500) == 0
    assert set(stepped.state.arms["held"]) == {-1}


def test_r39_machine_needs_every_ingredient():
    assert made(fed("electronic-circuit"), 2000) == 0
    assert Stepped(fed("electronic-circuit"), 2000).stock(IRON) >= 3
