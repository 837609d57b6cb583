"""The bottleneck: what is said of it, and that the suggested change does exactly what is said."""

from dataclasses import replace
from fractions import Fraction

import pytest
from diagnosis_layouts import BURNER, FAST, TICK_CAP, all_public, dead_end_gear, diagnosed, gear_row
from verifier_layouts import (
    COPPER,
    GEAR,
    IRON,
    arm,
    asm,
    chest,
    chest_sink,
    draw,
    rotated,
    sink,
    source,
)

from envs.layout import EAST, SINK_KINDS, Entity, Layout
from envs.verifier import bottleneck as module
from envs.verifier import verify
from envs.verifier.bottleneck import Bottleneck, find_bottleneck, output_rate, percent
from envs.verifier.changes import propose_changes
from envs.verifier.cures import propose_cures


def found(layout: Layout, **options: frozenset[tuple[int, int]]) -> Bottleneck:
    return find_bottleneck(layout, diagnosed(layout), TICK_CAP, **options)


def rate_at(layout: Layout, x: int, y: int, item: str) -> Fraction:
    """The exact rate of an item at a sink, by a whole verification."""
    result = verify(layout)
    assert result.exact
    rates = [one.rate for one in result.rates if (one.x, one.y, one.item) == (x, y, item)]
    return rates[0] if rates else Fraction(0)


def with_prototype(layout: Layout, x: int, y: int, prototype: str) -> Layout:
    """The layout with another kind of entity at a tile."""
    return replace(
        layout,
        entities=tuple(
            replace(one, prototype=prototype) if (one.x, one.y) == (x, y) else one
            for one in layout.entities
        ),
    )


def test_a_slow_arm_is_named_with_what_a_faster_one_gives() -> None:
    layout = gear_row(FAST, BURNER)
    result = found(layout)
    assert result.sentence == (
        "iron-gear-wheel at (6, 1) is limited by the burner-inserter at (5, 1), busy 100 % of the "
        "time; a fast-inserter there lifts it from 15/19 to 1 items/s"
    )
    assert (result.x, result.y, result.item) == (6, 1, GEAR)
    assert (result.rate, result.lifted_rate) == (Fraction(15, 19), 1)
    assert (result.change, result.change_x, result.change_y) == ("a fast-inserter there", 5, 1)
    assert rate_at(with_prototype(layout, 5, 1, "fast-inserter"), 6, 1, GEAR) == 1


def test_a_busy_machine_is_named_with_what_a_faster_one_gives() -> None:
    """An assembler 2 could make a gear in 40 ticks; the arm brings its two plates in 48."""
    layout = gear_row(FAST, FAST)
    result = found(layout)
    assert result.change == "an assembling-machine-2 there"
    changed = with_prototype(layout, 2, 0, "assembling-machine-2")
    assert result.lifted_rate == rate_at(changed, 6, 1, GEAR) == Fraction(5, 4)


def test_a_half_filled_input_is_named() -> None:
    layout = draw("S>K", S=source(EAST, None, IRON), K=sink(EAST))
    result = found(layout)
    assert result.sentence == (
        "iron-plate at (2, 0) is limited by the input at (0, 0), which has iron-plate on one lane "
        "only; iron-plate on its left lane too lifts it from 15/2 to 15 items/s"
    )


def test_a_second_arm_is_suggested_where_none_is_faster() -> None:
    layout = draw("S>>>\n.A..\n>>>K", S=source(EAST), A=arm(2, "fast-inserter"), K=sink(EAST))
    result = found(layout)
    assert result.change is not None
    assert result.change.startswith("a second fast-inserter beside it at (")
    assert result.change_x is not None
    assert result.change_y is not None
    second = Entity("inserter", result.change_x, result.change_y, 2, prototype="fast-inserter")
    changed = replace(layout, entities=(*layout.entities, second))
    assert result.lifted_rate == rate_at(changed, 3, 2, IRON)


@pytest.mark.parametrize("layout", all_public().values(), ids=all_public().keys())
def test_the_suggested_change_gives_exactly_what_is_said(layout: Layout) -> None:
    result = found(layout)
    assert "\n" not in result.sentence
    if result.change is None:
        assert result.lifted_rate is None
        return
    assert (result.x, result.y, result.item) != (None, None, None)
    everywhere = {tile for one in layout.entities for tile in one.tiles()}
    output = next(
        one
        for one in diagnosed(layout).verified.rates
        if (one.x, one.y, one.item) == (result.x, result.y, result.item)
    )
    (changed,) = [
        change.layout
        for change in (
            *propose_changes(layout, diagnosed(layout), everywhere),
            *propose_cures(layout, output),
        )
        if (change.x, change.y, change.words) == (result.change_x, result.change_y, result.change)
    ]
    place = result.x, result.y, result.item
    assert result.rate == rate_at(layout, *place)
    assert result.lifted_rate == rate_at(changed, *place)
    assert result.lifted_rate > result.rate
    assert f"from {result.rate} to {result.lifted_rate} items/s" in result.sentence


def test_no_other_proposed_change_gives_more() -> None:
    layouts = list(all_public().values())[10:100:9]
    for layout in layouts:
        result = found(layout)
        best = result.lifted_rate or result.rate
        everywhere = {tile for one in layout.entities for tile in one.tiles()}
        for change in propose_changes(layout, diagnosed(layout), everywhere):
            assert rate_at(change.layout, result.x, result.y, result.item) <= best


def test_where_no_single_change_helps_it_says_so() -> None:
    full = found(draw("S>K", S=source(EAST), K=sink(EAST)))
    assert full.sentence == (
        "iron-plate at (2, 0) is limited: both lanes of the belt pass all that a belt can; "
        "no single change known lifts it"
    )
    assert (full.change, full.lifted_rate, full.changes_tried) == (None, None, 0)
    layout = draw("CAK", C=chest("stone"), A=arm(EAST), K=chest_sink(IRON))
    none = found(layout)
    assert none.sentence == (
        "iron-plate at (2, 0) delivers nothing: what arrives there is stone; "
        "none of the 5 single changes tried lifts it"
    )
    assert none.changes_tried == 5
    slow = draw("CAK", C=chest(), A=arm(EAST, "fast-inserter"), K=chest_sink())
    assert found(slow).sentence.endswith("; no single change known lifts it")


def test_an_output_that_gets_nothing_has_a_reason() -> None:
    result = found(dead_end_gear(COPPER, None))
    assert result.rate == 0
    assert result.change is None
    assert result.sentence.startswith("iron-gear-wheel at (8, 0) delivers nothing: ")
    assert "is stuck on copper-plate" in result.sentence


def two_rows(upper: str, lower: str) -> Layout:
    """Two chests, arms and counting chests that have nothing to do with each other."""
    return draw(
        "CAK\n...\nCBK",
        C=chest(),
        A=arm(EAST, upper),
        B=arm(EAST, lower),
        K=chest_sink(IRON),
    )


def test_the_output_with_the_lowest_rate_counts() -> None:
    assert (found(two_rows("fast-inserter", "inserter")).y) == 2
    assert (found(two_rows("inserter", "fast-inserter")).y) == 0
    assert (found(two_rows("inserter", "inserter")).y) == 0


def test_only_changes_that_can_reach_the_output_are_tried() -> None:
    assert found(two_rows("inserter", "burner-inserter")).changes_tried == 1
    assert found(two_rows("fast-inserter", "fast-inserter")).changes_tried == 0


def test_what_a_change_takes_from_other_outputs_is_told() -> None:
    """A faster inserter takes 3/2 items/s more off a belt that goes on to another output."""
    assert found(all_public()["pick_moving_near_lane"]).sentence.endswith(
        "lifts it from 1 to 5/2 items/s, but brings iron-plate at (10, 5) from 14 to 25/2 items/s"
    )


def test_unknown_outputs_are_left_out() -> None:
    layout = two_rows("burner-inserter", "inserter")
    assert found(layout).y == 0
    assert found(layout, unknown=frozenset({(2, 0)})).y == 2
    none = found(layout, unknown=frozenset({(2, 0), (2, 2)}))
    assert (none.x, none.rate, none.change) == (None, None, None)
    assert none.sentence == ("no output has a known rate, so nothing can be said of what limits it")


def test_a_layout_without_outputs_says_so() -> None:
    for layout in (Layout(2, 2, ()), draw("S>", S=source(EAST))):
        assert found(layout).sentence == "the layout has no output with an item to count"


def test_a_sink_without_an_item_counts_what_arrives() -> None:
    layout = draw("CAK", C=chest(), A=arm(EAST), K=chest_sink(None))
    assert (found(layout).item, found(layout).lifted_rate) == (IRON, Fraction(5, 2))


def test_an_item_that_a_sink_does_not_count_is_no_output() -> None:
    layout = draw("S>K", S=source(EAST, COPPER, IRON), K=sink(EAST, IRON))
    assert found(layout).item == IRON


def test_the_rate_of_one_output_is_that_of_the_whole_layout() -> None:
    for layout in all_public().values():
        scored = {(one.x, one.y): one.item for one in layout.entities if one.kind in SINK_KINDS}
        for rate in diagnosed(layout).verified.rates:
            if scored[rate.x, rate.y] == rate.item:
                assert output_rate(layout, rate, TICK_CAP)[0] == rate.rate


def test_a_change_whose_rate_is_not_exact_does_not_count() -> None:
    layout = gear_row(FAST, BURNER)
    (output,) = diagnosed(layout).verified.rates
    assert output_rate(layout, output, 40) == (None, output_rate(layout, output, 40)[1])
    assert find_bottleneck(layout, diagnosed(layout), 40).change is None


def test_no_more_changes_are_tried_than_there_is_time_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layout = gear_row(arm(EAST), BURNER, asm(GEAR, "assembling-machine-2"))
    all_tried = found(layout).changes_tried
    monkeypatch.setattr(module, "WORK_BUDGET", 0)
    assert (found(layout).changes_tried, all_tried) == (1, 3)
    monkeypatch.setattr(module, "WORK_BUDGET", 1 << 40)
    monkeypatch.setattr(module, "MAX_CHANGES", 2)
    assert found(layout).changes_tried == 2


def test_the_same_is_said_whatever_the_order_of_the_entities() -> None:
    for layout in list(all_public().values())[::7]:
        other = replace(layout, entities=layout.entities[::-1])
        assert found(other) == found(layout)


def test_words_follow_a_turned_layout() -> None:
    turned = found(rotated(gear_row(arm(EAST), FAST), 1))
    assert turned.lifted_rate == found(gear_row(arm(EAST), FAST)).lifted_rate


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (Fraction(0), "0 %"),
        (Fraction(1, 250), "under 1 %"),
        (Fraction(1, 3), "33 %"),
        (Fraction(994, 1000), "99 %"),
        (Fraction(996, 1000), "over 99 %"),
        (Fraction(1), "100 %"),
    ],
)
def test_only_nothing_is_0_and_only_the_whole_is_100_percent(share: Fraction, text: str) -> None:
    assert percent(share) == text


def test_an_output_that_starves_beside_another_of_its_item_is_not_the_one_spoken_of():
    layout = draw(
        """
        ..A..Fs
        ca.....
        .....Fs
        """,
        a=arm(EAST),
        A=asm(),
        F=replace(arm(EAST), prototype="fast-inserter"),
        c=chest(IRON),
        s=chest_sink(GEAR),
    )
    spoken = found(layout)
    rates = {(rate.x, rate.y): rate.rate for rate in verify(layout).rates}
    assert min(rates.values()) == 0 < max(rates.values())
    assert spoken.rate == max(rates.values())


def test_nothing_is_said_of_what_limits_a_rate_that_is_not_exact():
    layout = gear_row(arm(EAST), arm(EAST))
    short = diagnosed(layout, 30)
    assert not short.verified.exact
    spoken = find_bottleneck(layout, short, 30)
    assert "no exact rate was found" in spoken.sentence
    assert (spoken.change, spoken.lifted_rate) == (None, None)
