"""Every reference case made of supported entities: rates, transient and period, exactly."""

from fractions import Fraction

import pytest
from verifier_layouts import supported_cases

from envs.verifier import score_rate, verify


def test_most_reference_cases_are_supported():
    assert len(supported_cases()) >= 21


@pytest.mark.parametrize("name", supported_cases())
def test_reference_case_is_reproduced(name):
    case, layout = supported_cases()[name]
    result = verify(layout)
    rates = {(rate.x, rate.y, rate.item): rate.rate for rate in result.rates}
    expected = {(e["x"], e["y"], e["item"]): Fraction(e["rate"]) for e in case["expect"]}
    assert {key: rates.get(key) for key in expected} == expected
    assert result.exact
    assert result.transient_ticks == case["transient_ticks"]
    assert result.period_ticks == case["period_ticks"]


def _sinks(layout):
    return [entity for entity in layout.entities if entity.kind == "sink"]


ONE_SINK = [name for name, (_, layout) in supported_cases().items() if len(_sinks(layout)) == 1]


@pytest.mark.parametrize("name", ONE_SINK)
def test_score_rate_is_the_rate_of_the_only_sinks_scored_item(name):
    case, layout = supported_cases()[name]
    expected = {e["item"]: Fraction(e["rate"]) for e in case["expect"]}
    assert score_rate(layout) == expected[_sinks(layout)[0].item]
