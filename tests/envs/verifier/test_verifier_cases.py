"""Every reference case and public layout: rates, transient and period, exactly."""

from fractions import Fraction
from typing import Any

import pytest
from verifier_layouts import cases, public_layouts

from envs.layout import SINK_KINDS, Layout
from envs.verifier import score_rate, verify

ALL = {**cases(), **public_layouts()}


def expected_rates(case: dict[str, Any]) -> dict[tuple[int, int, str], Fraction]:
    return {(e["x"], e["y"], e["item"]): Fraction(e["rate"]) for e in case["expect"]}


def test_there_are_28_cases_and_90_layouts():
    assert (len(cases()), len(public_layouts()), len(ALL)) == (28, 90, 118)


@pytest.mark.parametrize("name", ALL)
def test_r46_rates_are_those_of_the_reference(name):
    case, layout = ALL[name]
    result = verify(layout)
    rates = {(rate.x, rate.y, rate.item): rate.rate for rate in result.rates}
    expected = expected_rates(case)
    assert result.exact
    assert {key: rates.get(key) for key in expected} == expected


@pytest.mark.parametrize("name", ALL)
def test_r45_period_and_transient_are_those_of_the_reference(name):
    case, layout = ALL[name]
    result = verify(layout)
    assert result.period_ticks == case["period_ticks"]
    if name in cases():
        assert result.transient_ticks == case["transient_ticks"]


def scored_items(layout: Layout) -> list[str | None]:
    return [entity.item for entity in layout.entities if entity.kind in SINK_KINDS]


SCORABLE = {
    name: items[0]
    for name, (_, layout) in ALL.items()
    if len(items := scored_items(layout)) == 1 and items[0] is not None
}


@pytest.mark.parametrize("name", SCORABLE)
def test_score_rate_is_the_rate_of_the_only_sinks_scored_item(name):
    case, layout = ALL[name]
    expected = {item: rate for (_, _, item), rate in expected_rates(case).items()}
    assert score_rate(layout) == expected[SCORABLE[name]]
