"""Recurrence and its cap (R45-R47), and names of numbers in reports (R43)."""

from fractions import Fraction

import pytest
from engine_states import engine_key
from verifier_layouts import (
    COPPER,
    GEAR,
    IRON,
    Stepped,
    arm,
    cases,
    chest,
    chest_sink,
    draw,
    public_layouts,
    sink,
    source,
)

from envs.layout import EAST, SOUTH, Layout
from envs.verifier import verify


def straight() -> Layout:
    return draw("S>>K", S=source(EAST), K=sink(EAST))


def test_r45_empty_layout_recurs_at_once():
    result = verify(Layout(7, 7, ()))
    assert (result.exact, result.transient_ticks, result.period_ticks) == (True, 1, 1)
    assert result.rates == ()


def test_r47_cap_that_is_too_small_gives_an_estimate_with_bounds():
    result = verify(straight(), tick_cap=150)
    counted = Stepped(straight(), 150).delivered(IRON) - Stepped(straight(), 75).delivered(IRON)
    assert counted > 1
    assert not result.exact
    assert (result.ticks, result.transient_ticks, result.period_ticks) == (150, None, None)
    (rate,) = result.rates
    assert rate.rate == Fraction(60 * counted, 75)
    assert rate.lower == Fraction(60 * (counted - 1), 75)
    assert rate.upper == Fraction(60 * (counted + 1), 75)


def test_r47_lower_bound_is_never_negative():
    (rate,) = verify(straight(), tick_cap=20).rates
    assert (rate.rate, rate.lower, rate.upper) == (0, 0, 6)


def test_r47_odd_cap_counts_in_the_last_half():
    result = verify(straight(), tick_cap=151)
    counted = Stepped(straight(), 151).delivered(IRON) - Stepped(straight(), 75).delivered(IRON)
    assert result.rates[0].rate == Fraction(60 * counted, 76)


def test_r47_result_is_exact_from_the_tick_on_at_which_the_repeat_is_found():
    needed = verify(straight()).ticks
    assert verify(straight(), tick_cap=needed).exact
    assert not verify(straight(), tick_cap=needed - 1).exact


def test_r46_exact_rate_does_not_depend_on_the_cap():
    _, layout = cases()["asm_gear_3in_1out"]
    assert verify(layout) == verify(layout, tick_cap=60_000)


def test_r47_settled_parts_stay_exact_where_others_run_into_the_cap():
    """Items take 704 ticks along the belt, the arm between chests is long settled."""
    layout = draw(
        f"S{20 * '>'}K\nC\nA\nL",
        S=source(EAST, None, IRON),
        K=sink(EAST),
        C=chest("wood"),
        A=arm(SOUTH),
        L=chest_sink("wood"),
    )
    assert verify(layout).exact
    short = verify(layout, tick_cap=720)
    assert not short.exact
    by_item = {rate.item: rate for rate in short.rates}
    assert by_item["wood"].lower == by_item["wood"].upper == Fraction(6, 7)
    assert by_item[IRON].lower < by_item[IRON].rate < by_item[IRON].upper


EXAMPLES = ["p000", "p002", "p006", "p018", "p038", "p043", "p057", "p066", "p087"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_r45_state_recurs_first_at_the_transient_and_with_no_shorter_period(name):
    _, layout = public_layouts()[name]
    result = verify(layout)
    first, period = result.transient_ticks, result.period_ticks
    assert first is not None
    assert period is not None
    state = engine_key(layout, first)
    assert engine_key(layout, first + period) == state
    assert first == 1 or engine_key(layout, first - 1) != engine_key(layout, first - 1 + period)
    shorter = {period // prime for prime in (2, 3, 5, 7, 71) if period % prime == 0}
    assert all(engine_key(layout, first + part) != state for part in shorter)


@pytest.mark.parametrize("name", EXAMPLES)
def test_r44_equal_states_go_on_alike_whatever_has_been_counted(name):
    _, layout = public_layouts()[name]
    result = verify(layout)
    assert result.period_ticks is not None
    tick = (result.transient_ticks or 0) + 17
    for rounds in (1, 2, 5):
        later = tick + rounds * result.period_ticks
        assert engine_key(layout, later) == engine_key(layout, tick)


@pytest.mark.parametrize("name", EXAMPLES)
def test_r46_rate_is_the_count_over_one_period_anywhere_in_the_recurrent_part(name):
    _, layout = public_layouts()[name]
    result = verify(layout)
    period = result.period_ticks
    assert period is not None
    for tick in (result.transient_ticks or 0, (result.transient_ticks or 0) + 31):
        before, after = Stepped(layout, tick), Stepped(layout, tick + period)
        items = {rate.item for rate in result.rates}
        for item in items:
            counted = after.delivered(item) - before.delivered(item)
            total = sum(rate.rate for rate in result.rates if rate.item == item)
            assert total == Fraction(60 * counted, period)


@pytest.mark.parametrize("tick_cap", [0, -1, 1 << 31])
def test_cap_out_of_range_is_refused(tick_cap):
    with pytest.raises(ValueError, match="tick_cap"):
        verify(straight(), tick_cap=tick_cap)


def test_r43_report_lists_scored_and_received_items_of_each_sink_in_row_major_order():
    layout = draw(
        "S>K\nT>L",
        S=source(EAST, IRON, None),
        T=source(EAST, COPPER, "stone"),
        K=sink(EAST, GEAR),
        L=sink(EAST, None),
    )
    found = [(rate.x, rate.y, rate.item, rate.rate) for rate in verify(layout).rates]
    lane = Fraction(15, 2)
    assert found == [
        (2, 0, GEAR, 0),
        (2, 0, IRON, lane),
        (2, 1, COPPER, lane),
        (2, 1, "stone", lane),
    ]


def test_r43_chests_count_each_item_apart_and_report_their_own():
    layout = draw(
        "C.D\nA.B\nL>K",
        C=chest("wood"),
        D=chest(COPPER),
        A=arm(SOUTH),
        B=arm(SOUTH),
        L=chest_sink(GEAR),
        K=sink(EAST, COPPER),
    )
    found = [(rate.x, rate.y, rate.item, rate.rate) for rate in verify(layout).rates]
    each = Fraction(6, 7)
    assert found == [(0, 2, GEAR, 0), (0, 2, "wood", each), (2, 2, COPPER, each)]


def test_r43_a_sink_counts_what_belts_and_arms_bring_in_the_tick_it_leaves():
    layout = draw("C.\nA.\nK.", C=chest(), A=arm(SOUTH), K=sink(SOUTH))
    steps = [Stepped(layout, tick) for tick in range(80)]
    dropped = next(t for t in range(1, 80) if steps[t].positions(0, 2, 1))
    (place,) = steps[dropped].positions(0, 2, 1)
    assert (place, steps[dropped].delivered(IRON)) == (77 - 8, 0)
    left = next(t for t in range(80) if steps[t].delivered(IRON))
    assert left == dropped + place // 8 + 1


def test_items_that_no_recipe_knows_are_carried_under_their_own_names():
    layout = draw("S>K", S=source(EAST, "wood", "raw-fish"), K=sink(EAST, "wood"))
    assert {rate.item: rate.rate for rate in verify(layout).rates} == {
        "wood": Fraction(15, 2),
        "raw-fish": Fraction(15, 2),
    }
