"""What machines, inserters and lanes do: against figures worked out by hand, and in balance."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from diagnosis_layouts import (
    BURNER,
    FAST,
    TICK_CAP,
    all_public,
    arm_at,
    dead_end_gear,
    diagnosed,
    gear_row,
    lanes_at,
    machine_at,
)
from random_layouts import mutated_case, random_factory, random_layout, random_rings
from verifier_layouts import COPPER, GEAR, IRON, arm, asm, chest, chest_sink, draw, furnace

from envs.catalogue import MACHINES, TICKS_PER_S
from envs.layout import DIRECTION_VECTORS, EAST, SOUTH, Entity, Layout, recipes_of
from envs.verifier import verify
from envs.verifier.diagnosis import (
    NO_RECIPE_SET,
    NO_ROOM,
    NOTHING_TO_PICK,
    OUTPUT_IS_FULL,
    TAKES_NO_PART,
    TARGET_IS_FULL,
    diagnose,
)

PUBLIC = pytest.mark.parametrize("layout", all_public().values(), ids=all_public().keys())


def share(numerator: int, denominator: int) -> Fraction:
    return Fraction(numerator, denominator)


def test_a_machine_between_fast_arms_is_always_busy() -> None:
    """A gear takes 60 ticks; two plates come in 48."""
    layout = gear_row(FAST, FAST)
    machine = machine_at(layout, 2, 0)
    assert (machine.use, machine.crafts_per_s, machine.reason) == (1, 1, "")
    assert (machine.waits, machine.missing) == ({}, {})
    bringing, taking = arm_at(layout, 1, 1), arm_at(layout, 5, 1)
    assert (bringing.use, bringing.items_per_s) == (share(48, 60), 2)
    assert bringing.waits == {TARGET_IS_FULL: share(12, 60)}
    assert (taking.use, taking.items_per_s) == (share(24, 60), 1)
    assert taking.waits == {NOTHING_TO_PICK: share(36, 60)}


def test_a_machine_behind_a_slow_arm_waits_for_room() -> None:
    """The burner takes a gear in 76 ticks, of which crafting takes 60."""
    layout = gear_row(FAST, BURNER)
    machine = machine_at(layout, 2, 0)
    assert (machine.use, machine.crafts_per_s) == (share(60, 76), share(60, 76))
    assert machine.waits == {OUTPUT_IS_FULL: share(16, 76)}
    assert machine.reason == OUTPUT_IS_FULL
    assert arm_at(layout, 5, 1).use == 1
    assert arm_at(layout, 1, 1).waits == {TARGET_IS_FULL: share(76 - 48, 76)}


def test_a_machine_behind_a_slow_feed_starves() -> None:
    """Two plates come in 140 ticks, of which crafting takes 60."""
    layout = gear_row(arm(EAST), FAST)
    machine = machine_at(layout, 2, 0)
    assert (machine.use, machine.crafts_per_s) == (share(60, 140), share(60, 140))
    assert machine.waits == {"no iron-plate": share(80, 140)}
    assert machine.missing == {IRON: share(80, 140)}
    assert arm_at(layout, 1, 1).use == 1
    assert arm_at(layout, 5, 1).waits == {NOTHING_TO_PICK: share(116, 140)}


def test_of_several_ingredients_the_one_that_lacks_longest_is_named() -> None:
    layout = gear_row(FAST, FAST, asm("transport-belt"))
    machine = machine_at(layout, 2, 0)
    assert machine.waits == {"no iron-gear-wheel": 1}
    assert machine.missing == {GEAR: 1}
    assert arm_at(layout, 1, 1).waits == {TARGET_IS_FULL: 1}


def test_a_furnace_is_timed_by_its_own_speed() -> None:
    for prototype, ticks in (("stone-furnace", 192), ("steel-furnace", 96)):
        layout = draw(
            "CAF.TK\n......",
            C=chest("iron-ore"),
            A=FAST,
            F=furnace(IRON, prototype),
            T=FAST,
            K=chest_sink(IRON),
        )
        assert machine_at(layout, 2, 0).crafts_per_s == share(60, ticks)
        assert arm_at(layout, 4, 0).use == share(24, ticks)


def test_a_machine_without_a_recipe_says_so() -> None:
    layout = gear_row(FAST, FAST, asm(None))
    machine = machine_at(layout, 2, 0)
    assert (machine.use, machine.waits, machine.recipe) == (0, {NO_RECIPE_SET: 1}, None)
    assert arm_at(layout, 1, 1).waits == {TARGET_IS_FULL: 1}
    assert arm_at(layout, 5, 1).waits == {NOTHING_TO_PICK: 1}


def test_an_arm_before_a_belt_that_stands_has_no_room() -> None:
    layout = draw("CA>>", C=chest(), A=arm(EAST))
    blocked = arm_at(layout, 1, 0)
    assert (blocked.use, blocked.items_per_s, blocked.waits) == (0, 0, {NO_ROOM: 1})
    assert blocked.reason == NO_ROOM


def test_arms_that_drop_on_one_lane_share_what_it_passes() -> None:
    """Nine arms could bring 54/7 a second, the lane passes 15/2."""
    layout = all_public()["drop9_one_lane_cap"]
    arms = diagnosed(layout).inserters
    assert sum(one.items_per_s for one in arms) == share(15, 2)
    assert {reason for one in arms for reason in one.waits} == {NO_ROOM}


def test_an_arm_without_a_pickup_or_drop_takes_no_part() -> None:
    for drawing in ("CA.", ".AK", "CAA"):
        layout = draw(drawing, C=chest(), A=arm(EAST), K=chest_sink())
        for one in diagnosed(layout).inserters:
            assert (one.use, one.waits, one.unwanted) == (0, {TAKES_NO_PART: 1}, None)


def test_an_arm_before_the_wrong_item_names_it() -> None:
    stuck = arm_at(dead_end_gear(COPPER, None), 3, 0)
    assert (stuck.use, stuck.waits, stuck.unwanted) == (0, {NOTHING_TO_PICK: 1}, COPPER)
    assert arm_at(dead_end_gear(COPPER, IRON), 3, 0).unwanted is None


@PUBLIC
def test_use_and_waits_make_the_whole(layout: Layout) -> None:
    found = diagnosed(layout)
    for one in (*found.machines, *found.inserters):
        assert one.use + sum(one.waits.values()) == 1
        assert all(wait > 0 for wait in one.waits.values())
        assert (one.reason == "") == (one.use == 1)
    assert len(found.machines) == sum(one.kind in ("asm", "furnace") for one in layout.entities)
    assert len(found.inserters) == sum(one.kind == "inserter" for one in layout.entities)


@PUBLIC
def test_use_of_a_machine_is_its_crafts_times_their_length(layout: Layout) -> None:
    kinds = {(one.x, one.y): one.kind for one in layout.entities}
    for one in diagnosed(layout).machines:
        if one.recipe is not None:
            recipe = recipes_of(kinds[one.x, one.y])[one.recipe]
            ticks = recipe.craft_ticks(MACHINES[one.prototype])
            assert one.use == one.crafts_per_s * ticks / TICKS_PER_S


def moved(layout: Layout, place: tuple[int, int], side: int) -> Fraction:
    """Items per second that arms drop into (1) or take from (-1) what stands at a tile."""
    owner = {tile: entity for entity in layout.entities for tile in entity.tiles()}
    total = Fraction(0)
    for one in diagnosed(layout).inserters:
        entity = owner[one.x, one.y]
        dx, dy = DIRECTION_VECTORS[entity.direction or 0]
        end = owner.get((one.x + side * entity.reach * dx, one.y + side * entity.reach * dy))
        if end is not None and (end.x, end.y) == place:
            total += one.items_per_s
    return total


@PUBLIC
def test_what_a_machine_uses_is_brought_and_what_it_makes_is_taken(layout: Layout) -> None:
    kinds = {(one.x, one.y): one.kind for one in layout.entities}
    for one in diagnosed(layout).machines:
        recipe = recipes_of(kinds[one.x, one.y])[one.recipe] if one.recipe else None
        used = sum(amount for _, amount in recipe.ingredients) if recipe else 0
        made = recipe.products_per_craft if recipe else 0
        assert one.crafts_per_s * used == moved(layout, (one.x, one.y), 1)
        assert one.crafts_per_s * made == moved(layout, (one.x, one.y), -1)


@PUBLIC
def test_what_flows_into_a_sink_is_counted_there(layout: Layout) -> None:
    found = diagnosed(layout)
    for one in layout.entities:
        counted = sum(
            rate.rate for rate in found.verified.rates if (rate.x, rate.y) == (one.x, one.y)
        )
        if one.kind == "sink":
            lanes = lanes_at(layout, one.x, one.y).values()
            assert sum(lane.items_per_s for lane in lanes) == counted
        elif one.kind == "chest_sink":
            assert moved(layout, (one.x, one.y), 1) == counted


@PUBLIC
def test_every_belt_tile_has_two_lanes_in_order(layout: Layout) -> None:
    lanes = diagnosed(layout).lanes
    belts = sorted(
        (one.y, one.x) for one in layout.entities if one.kind in ("belt", "source", "sink")
    )
    expected = [(x, y, side) for y, x in belts for side in ("left", "right")]
    assert [(one.x, one.y, one.lane) for one in lanes] == expected
    assert all(0 <= one.load <= 1 and 0 <= one.stopped <= 1 for one in lanes)


def test_random_layouts_balance_too() -> None:
    for make in (random_layout, mutated_case, random_rings, random_factory):
        for seed in range(60):
            layout = make(seed)
            found = diagnosed(layout, 100_000)
            for one in (*found.machines, *found.inserters):
                assert one.use + sum(one.waits.values()) == 1
            if not found.verified.exact:
                continue
            counted: dict[tuple[int, int], Fraction] = {}
            for rate in found.verified.rates:
                counted[rate.x, rate.y] = counted.get((rate.x, rate.y), Fraction(0)) + rate.rate
            flows: dict[tuple[int, int], Fraction] = {}
            for lane in found.lanes:
                flows[lane.x, lane.y] = flows.get((lane.x, lane.y), Fraction(0)) + lane.items_per_s
            for one in layout.entities:
                if one.kind == "sink":
                    assert flows[one.x, one.y] == counted.get((one.x, one.y), 0)


def test_rates_are_those_of_verify_and_figures_do_not_depend_on_the_order() -> None:
    rng = random.Random(5)
    for layout in list(all_public().values())[::6]:
        entities = list(layout.entities)
        rng.shuffle(entities)
        found = diagnosed(layout)
        assert found.verified == verify(layout)
        assert diagnose(replace(layout, entities=tuple(entities)), TICK_CAP) == found


@pytest.mark.parametrize("cap", [1, 2, 63, 200, 1_000])
def test_without_a_repeat_figures_stay_within_their_bounds(cap: int) -> None:
    inexact = 0
    for layout in all_public().values():
        found = diagnose(layout, cap)
        inexact += not found.verified.exact
        for one in (*found.machines, *found.inserters):
            assert one.use + sum(one.waits.values()) == 1
        assert all(0 <= one.load <= 1 for one in found.lanes)
    assert inexact > 10


def test_parts_that_do_not_touch_are_looked_at_in_their_own_periods() -> None:
    """Periods of 24 and 70 ticks."""
    layout = draw(
        "CFK\n...\nCAK", C=chest(), F=arm(EAST, "fast-inserter"), A=arm(EAST), K=chest_sink()
    )
    assert [one.items_per_s for one in diagnosed(layout).inserters] == [share(5, 2), share(6, 7)]
    assert diagnosed(layout).verified.period_ticks == 840


def test_machines_and_inserters_come_in_row_major_order() -> None:
    for layout in all_public().values():
        found = diagnosed(replace(layout, entities=layout.entities[::-1]))
        for ones in (found.machines, found.inserters):
            places = [(one.y, one.x) for one in ones]
            assert places == sorted(places)


def test_a_layout_without_moving_things_has_no_figures() -> None:
    found = diagnosed(Layout(3, 3, (Entity("inserter", 1, 1, SOUTH),)))
    assert (found.machines, found.lanes, found.verified.rates) == ((), (), ())
    assert [one.waits for one in found.inserters] == [{TAKES_NO_PART: 1}]
    assert diagnosed(Layout(2, 2, ())).inserters == ()
