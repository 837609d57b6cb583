"""Ways to a reward without a working factory, each seen in a peer or likely: none of them pays."""

from dataclasses import replace
from fractions import Fraction

import pytest
from random_layouts import random_layout
from verifier_layouts import (
    COPPER,
    GEAR,
    IRON,
    arm,
    asm,
    chest,
    chest_sink,
    draw,
    furnace,
    sink,
    source,
)

from envs.layout import EAST, NORTH, SOUTH, WEST, Entity, Layout, LayoutError
from envs.verifier import score_rate, verify, verify_many

GEAR_LINE = """
    S>>>>....
    ..A......
    .M.......
    .........
    .........
    ..B......
    ..>>K....
"""

GEARS_PER_S = Fraction(15, 32)


def gear_line(**changes: Entity) -> Layout:
    """Iron belt, arm, gear machine, arm, belt, sink."""
    legend = {
        "S": source(EAST),
        "A": arm(SOUTH),
        "M": asm(GEAR),
        "B": arm(SOUTH),
        "K": sink(EAST, GEAR),
    }
    return draw(GEAR_LINE, **(legend | changes))


def with_more(layout: Layout, *entities: Entity) -> Layout:
    return replace(layout, entities=(*layout.entities, *entities))


def test_hack_none_the_honest_line_scores():
    assert score_rate(gear_line()) == GEARS_PER_S


def test_hack_bypass_belt_of_raw_items_scores_nothing():
    bypass = draw("S>>>K", S=source(EAST), K=sink(EAST, GEAR))
    assert score_rate(bypass) == 0
    assert {rate.item: rate.rate for rate in verify(bypass).rates} == {GEAR: 0, IRON: 15}


def test_hack_bypass_into_the_sink_of_a_working_line_counts_gears_only():
    """Raw plates go on past the arm and join in front of the sink."""
    line = gear_line()
    kept = tuple(entity for entity in line.entities if (entity.x, entity.y) != (4, 0))
    bypass = [Entity("belt", 4, y, SOUTH) for y in range(6)]
    joined = with_more(replace(line, entities=kept), *bypass)
    rates = {rate.item: rate.rate for rate in verify(joined).rates}
    assert rates[IRON] > 7
    assert score_rate(joined) == rates[GEAR] == Fraction(1, 2)


def test_hack_wrong_item_scores_nothing():
    assert score_rate(gear_line(M=asm("pipe"))) == 0
    assert score_rate(gear_line(K=sink(EAST, "pipe"))) == 0
    assert score_rate(gear_line(S=source(EAST, COPPER, COPPER))) == 0


def test_hack_unused_sink_shows_its_own_zero():
    """One good sink does not hide a dead one: each has its rate, and a score wants just one."""
    layout = with_more(gear_line(), Entity("sink", 7, 2, EAST, item=GEAR))
    rates = {(rate.x, rate.y): rate.rate for rate in verify(layout).rates}
    assert rates == {(7, 2): 0, (4, 6): GEARS_PER_S}
    with pytest.raises(LayoutError, match="2 sinks"):
        score_rate(layout)


def test_hack_more_sinks_share_what_there_is():
    """A second exit for the same machine does not count an item twice."""
    layout = with_more(
        gear_line(),
        Entity("inserter", 4, 3, EAST),
        Entity("chest_sink", 5, 3, item=GEAR),
    )
    rates = [rate.rate for rate in verify(layout).rates]
    assert len(rates) == 2
    assert sum(rates) == GEARS_PER_S


DECOYS = (
    Entity("belt", 8, 1, WEST),
    Entity("belt", 7, 1, SOUTH),
    Entity("inserter", 8, 3, NORTH),
    Entity("asm", 5, 2, recipe=GEAR),
)


def test_hack_decoys_that_nothing_reaches_change_no_rate():
    decoyed = with_more(gear_line(), *DECOYS)
    assert verify(decoyed).rates == verify(gear_line()).rates
    assert score_rate(decoyed) == GEARS_PER_S


def test_hack_decoys_alone_score_nothing():
    ports = draw(
        "S........\n.........\n.........\n.........\n.........\n........K",
        S=source(EAST),
        K=sink(EAST, GEAR),
    )
    assert score_rate(with_more(ports, *DECOYS)) == 0


@pytest.mark.parametrize("item", [GEAR, IRON, "iron-ore", "nonsense"])
def test_hack_empty_layout_scores_exactly_zero(item):
    score = score_rate(draw("S...K", S=source(EAST), K=sink(EAST, item)))
    assert score == 0
    assert isinstance(score, Fraction)
    assert score_rate(Layout(3, 3, (Entity("sink", 1, 1, EAST, item=item),))) == 0


def test_hack_source_beside_the_sink_scores_no_product():
    assert score_rate(draw("SK", S=source(EAST), K=sink(EAST, GEAR))) == 0
    both = verify(draw("SK", S=source(EAST), K=sink(EAST, GEAR)))
    assert {rate.item: rate.rate for rate in both.rates} == {GEAR: 0, IRON: 15}


def test_hack_arm_from_source_to_sink_scores_no_product():
    assert score_rate(draw("SAK", S=source(NORTH), A=arm(EAST), K=sink(NORTH, GEAR))) == 0


def test_hack_sink_loop_does_not_count_an_item_twice():
    """An arm takes gears back from the sink tile and sends them round."""
    layout = draw(
        """
        S>>>>....
        ..A......
        .M.......
        .........
        .........
        ..B......
        ..>>>>K..
        ...^..C..
        ...^<<<..
        """,
        S=source(EAST),
        A=arm(SOUTH),
        M=asm(GEAR),
        B=arm(SOUTH),
        C=arm(SOUTH),
        K=sink(EAST, GEAR),
    )
    assert score_rate(layout) == GEARS_PER_S


def test_hack_items_going_round_a_ring_are_not_counted():
    ring = draw("S>>v.\n.^.v.\n.^<<.\n....K", S=source(EAST, GEAR, GEAR), K=sink(EAST, GEAR))
    assert score_rate(ring) == 0


def test_hack_chest_of_the_product_counts_only_where_the_layout_holds_one():
    """A chest that gives is an entity of the layout; a task must not let an agent place one."""
    layout = draw("C\nA\nK", C=chest(GEAR), A=arm(SOUTH), K=chest_sink(GEAR))
    assert score_rate(layout) == Fraction(6, 7)


CIRCUITS = """
    S>>>>>....
    ....A.....
    ...M......
    ..........
    ..........
    ....B.....
    ....>>>K..
"""


def test_hack_deadlock_of_plate_and_cable_on_one_dead_end_lane_is_exactly_zero():
    """A flow model gives a rate; the lane stops with what the machine has enough of in front."""
    cable = "copper-cable"
    legend = {"A": arm(SOUTH), "M": asm("electronic-circuit"), "B": arm(SOUTH)}
    ends = {"K": sink(EAST, "electronic-circuit"), "P": arm(SOUTH), "I": chest(IRON)}
    mixed = draw(
        """
        .I...C....
        .P...Q....
        .>>>>>....
        ....A.....
        ...M......
        ..........
        ..........
        ....B.....
        ....>>>K..
        """,
        **legend,
        **ends,
        C=chest(cable),
        Q=arm(SOUTH),
    )
    result = verify(mixed)
    assert result.exact
    assert score_rate(mixed) == 0
    apart = draw(CIRCUITS, S=source(EAST, IRON, cable), **legend, K=ends["K"])
    assert (score_rate(apart) or 0) > 0


def test_hack_machine_of_the_other_category_is_refused():
    with pytest.raises(LayoutError, match="no recipe of"):
        score_rate(gear_line(M=asm(IRON)))
    with pytest.raises(LayoutError, match="no recipe of"):
        score_rate(gear_line(M=furnace(GEAR)))


@pytest.mark.parametrize(
    "more",
    [
        Entity("belt", 1, 2, EAST),
        Entity("asm", 8, 5, recipe=GEAR),
        Entity("belt", -1, 0, EAST),
        Entity("pump", 8, 6, EAST),
        Entity("belt", 8, 6, None),
        Entity("belt", 8, 6, 4),
        Entity("asm", 6, 1, recipe=IRON),
        Entity("inserter", 8, 6, EAST, prototype="stack-inserter"),
    ],
)
def test_hack_invalid_layout_is_refused_instead_of_scored(more):
    layout = with_more(gear_line(), more)
    for use in (verify, score_rate):
        with pytest.raises(LayoutError):
            use(layout)
    with pytest.raises(LayoutError):
        verify_many([gear_line(), layout], threads=2)


def test_hack_random_building_seldom_scores_the_product():
    """A random layout with a gear sink delivers gears almost never, so nothing is free."""
    scored = 0
    for seed in range(300):
        found = verify(random_layout(seed), tick_cap=20_000)
        scored += any(rate.item == GEAR and rate.rate > 0 for rate in found.rates)
    assert scored <= 3
