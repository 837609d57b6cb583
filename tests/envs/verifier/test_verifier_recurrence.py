"""Recurrence and its cap (R45-R47), and names of numbers in reports (R43)."""

from fractions import Fraction

import pytest
from verifier_layouts import COPPER, GEAR, IRON, Stepped, draw, sink, source, supported_cases

from envs.layout import EAST, Layout
from envs.verifier import verify


def straight() -> Layout:
    return draw("S>>K", S=source(EAST), K=sink(EAST))


def test_empty_layout_recurs_at_once():
    result = verify(Layout(7, 7, ()))
    assert (result.exact, result.transient_ticks, result.period_ticks) == (True, 1, 1)
    assert result.rates == ()


def test_cap_that_is_too_small_gives_an_estimate_with_bounds():
    result = verify(straight(), tick_cap=150)
    counted = Stepped(straight(), 150).delivered(IRON) - Stepped(straight(), 75).delivered(IRON)
    assert counted > 1
    assert not result.exact
    assert (result.ticks, result.transient_ticks, result.period_ticks) == (150, None, None)
    (rate,) = result.rates
    assert rate.rate == Fraction(60 * counted, 75)
    assert rate.lower == Fraction(60 * (counted - 1), 75)
    assert rate.upper == Fraction(60 * (counted + 1), 75)


def test_lower_bound_is_never_negative():
    (rate,) = verify(straight(), tick_cap=20).rates
    assert (rate.rate, rate.lower, rate.upper) == (0, 0, 6)


def test_odd_cap_counts_in_the_last_half():
    result = verify(straight(), tick_cap=151)
    counted = Stepped(straight(), 151).delivered(IRON) - Stepped(straight(), 75).delivered(IRON)
    assert result.rates[0].rate == Fraction(60 * counted, 76)


def test_result_is_exact_from_the_tick_on_at_which_the_repeat_is_found():
    needed = verify(straight()).ticks
    assert verify(straight(), tick_cap=needed).exact
    assert not verify(straight(), tick_cap=needed - 1).exact


def test_exact_rate_does_not_depend_on_the_cap():
    _, layout = supported_cases()["asm_gear_3in_1out"]
    assert verify(layout) == verify(layout, tick_cap=60_000)


@pytest.mark.parametrize("tick_cap", [0, -1, 1 << 31])
def test_cap_out_of_range_is_refused(tick_cap):
    with pytest.raises(ValueError, match="tick_cap"):
        verify(straight(), tick_cap=tick_cap)


def test_report_lists_scored_and_received_items_of_each_sink_in_row_major_order():
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


def test_items_that_no_recipe_knows_are_carried_under_their_own_names():
    layout = draw("S>K", S=source(EAST, "wood", "raw-fish"), K=sink(EAST, "wood"))
    assert {rate.item: rate.rate for rate in verify(layout).rates} == {
        "wood": Fraction(15, 2),
        "raw-fish": Fraction(15, 2),
    }
