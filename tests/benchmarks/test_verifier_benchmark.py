"""The verifier's benchmark: the rows it writes, and what it counts as an error."""

from fractions import Fraction

from benchmarks.layout_sets import LayoutSet, from_file
from benchmarks.verifier import errors, interleaved, measure

HALF, TWO = Fraction(1, 2), Fraction(2)
CABLE, PIPE = (1, 2, "copper-cable"), (3, 4, "pipe")


def test_rows_have_the_same_columns_and_hold_speeds():
    cases = from_file("cases", "cases_public.json")
    assert cases.expected is not None
    two = LayoutSet("two", cases.layouts[:2], cases.expected[:2])
    rows = measure(two, repeats=1)
    assert [entry["call"] for entry in rows[:3]] == ["verify", "score_rate", "verify_many"]
    assert {tuple(entry) for entry in rows} == {tuple(rows[0])}
    assert {(entry["engine"], entry["layouts"]) for entry in rows} == {("ours", "two")}
    assert rows[0]["ticks_per_s_core"] > 0
    assert (rows[0]["mean_error"], rows[0]["inexact"]) == (0, 0)
    assert all(entry["layouts_per_s"] > 0 for entry in rows)


def test_a_rate_that_differs_from_the_known_one_is_counted():
    assert errors([{CABLE: HALF}], [{CABLE: HALF}]) == {"mean_error": 0, "off_by_5_percent": 0}
    found = [{CABLE: 0.4, PIPE: 2.0}, {CABLE: 0.49}]
    true = [{CABLE: HALF, PIPE: TWO}, {CABLE: HALF}]
    assert errors(found, true) == {"mean_error": 0.0367, "off_by_5_percent": 0.5}


def test_a_sink_that_is_not_reported_counts_as_zero():
    assert errors([{}], [{CABLE: HALF}]) == {"mean_error": 0.5, "off_by_5_percent": 1}


def test_a_rate_where_nothing_arrives_is_off():
    assert errors([{CABLE: 0.01}], [{CABLE: Fraction(0)}])["off_by_5_percent"] == 1


def test_calls_take_turns_and_the_first_turn_is_not_timed():
    calls, ticks = [], iter([0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6])
    works = {name: (lambda name=name: calls.append(name), lambda: next(ticks)) for name in "ab"}
    assert interleaved(works, repeats=3) == {"a": 3, "b": 4}
    assert calls == list("abababab")
