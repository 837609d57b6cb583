"""Charts have round ticks, keep every figure that they are given, and stand any numbers."""

import re
from itertools import pairwise

import pytest
from page_reader import read_page

from envs.heat_colours import success_colour
from factorio_rl.chart_axes import figure, round_ticks, seconds_text, short
from factorio_rl.chart_grid import Bar, Cell, bar_chart, evenly, heat_chart
from factorio_rl.chart_lines import MOST_POINTS, Point, line_chart, stack_chart, thinned
from factorio_rl.html_page import Section, page


def read(body: str):
    return read_page(page("t", "", "", [Section("s", "s", body)]))


def coordinates(body: str) -> list[float]:
    (points,) = re.findall(r'<polyline[^>]*points="([^"]*)"', body)
    return [float(one) for pair in points.split() for one in pair.split(",")]


@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 1), (0.2, 0.9), (-3, 5), (0, 123456789), (1e-12, 3e-12), (5, 5), (0, 0), (1, 1 + 1e-15)],
)
def test_ticks_are_round_few_and_hold_the_range(low: float, high: float) -> None:
    ticks = round_ticks(low, high)
    assert ticks[0] <= low
    assert ticks[-1] >= high
    assert 2 <= len(ticks) <= 7
    steps = {f"{after - before:.3g}" for before, after in pairwise(ticks)}
    assert len(steps) == 1
    assert set(steps.pop().strip("0.").split("e")[0].strip("0.")) <= set("125.")


def test_ticks_of_a_share_are_these() -> None:
    assert round_ticks(0, 1) == [0, 0.25, 0.5, 0.75, 1]


def test_figures_in_few_letters() -> None:
    assert [short(one) for one in (0.25, 20_000, 163_840_000)] == ["0.25", "20k", "164M"]
    assert [figure(one) for one in (None, 3.0, 0.12345, 12345.6)] == ["-", "3", "0.1235", "12,346"]
    assert [seconds_text(one) for one in (None, 45, 720, 11_100)] == [
        "-",
        "45 s",
        "12 min",
        "3 h 5 min",
    ]


def test_a_line_goes_up_where_values_do_and_shows_them() -> None:
    points = [Point(100, {"a": 0.0}), Point(200, {"a": 1.0}), Point(300, {"b": 5.0})]
    chart = line_chart("title", "steps", {"a": "first"}, points)
    x, y, other_x, other_y = coordinates(chart)
    assert other_x > x
    assert other_y < y
    assert "steps: 200\nfirst: 1" in read(chart).text
    assert "steps: 300" not in read(chart).text


def test_points_of_the_same_time_are_shown_together() -> None:
    chart = line_chart("title", "steps", {"a": "one"}, [Point(0, {"a": 0.25}), Point(0, {"a": 1})])
    assert "steps: 0\none: 0.25\none: 1" in read(chart).text


def test_long_series_become_means_and_keep_their_first_point() -> None:
    points = [Point(number, {"a": float(number > 0)}) for number in range(10_000)]
    kept = thinned(points)
    assert len(kept) <= MOST_POINTS
    assert kept[0] == points[0]
    assert all(point.values == {"a": 1.0} for point in kept[1:])


def test_points_out_of_order_are_put_in_order() -> None:
    found = coordinates(
        line_chart("t", "x", {"a": "a"}, [Point(9, {"a": 1}), Point(0, {"a": 2}), Point(4, {})])
    )
    assert found[0] < found[2]


@pytest.mark.parametrize("values", [[1e30, -1e30], [0.0], [1e-300, 2e-300], [5, 5, 5]])
def test_any_numbers_make_a_chart_without_infinities(values: list[float]) -> None:
    points = [Point(1e29 * place, {"a": value}) for place, value in enumerate(values)]
    chart = line_chart("t", "x", {"a": "a"}, points) + stack_chart("t", "x", {"a": "a"}, points)
    read(chart)
    assert not re.search(r'="[^"]*(nan|inf|e\+)', chart)


def test_stacked_areas_end_where_the_sum_does() -> None:
    points = [Point(0, {"a": 1, "b": 2}), Point(1, {"a": 1, "b": 2})]
    chart = stack_chart("t", "x", {"a": "a", "b": "b"}, points)
    lower, upper = re.findall(r'<polygon class="f\d" points="([^"]*)"', chart)
    assert lower.split()[:2] == upper.split()[:1:-1]


def test_a_heat_map_names_rows_whole_for_the_pointer() -> None:
    name = "a-family-with-a-very-long-name"
    cells = {name: [None, Cell(0.5, "0.50", f"{name}: 0.5")]}
    found = read(heat_chart("t", ["1", "2"], cells, "x")).text
    assert f"{name}: 0.5" in found
    assert "no figure" in found


def test_columns_that_are_left_out_are_spread_and_never_the_ends() -> None:
    chosen = evenly(1_000, 40)
    assert (chosen[0], chosen[-1], len(chosen)) == (0, 999, 40)
    assert evenly(3, 40) == [0, 1, 2]


def test_darker_is_more() -> None:
    def light(colour: str) -> int:
        return sum(bytes.fromhex(colour[1:]))

    shades = [light(success_colour(share)) for share in (-1, 0, 0.25, 0.5, 0.75, 1, 7)]
    assert shades == sorted(shades, reverse=True)
    assert shades[0] == shades[1]
    assert shades[-1] == shades[-2]


def test_bars_are_as_long_as_their_values() -> None:
    chart = bar_chart("t", [Bar("a", 0.5, None, "w"), Bar("b", 1.0, 0.2, "w")], "x")
    half, whole = (
        float(one) for one in re.findall(r'<rect class="f0"[^>]* width="([^"]*)"', chart)
    )
    assert whole == pytest.approx(2 * half, rel=0.01)
