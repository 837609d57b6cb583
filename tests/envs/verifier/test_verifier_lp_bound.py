"""No exact rate exceeds the bound of linear programming, and most come close to it."""

from collections.abc import Iterable

import pytest
from literal_plan import literal_plan
from lp_bound import Flows, cycle_ticks
from random_layouts import mutated_case, random_crowd, random_factory, random_layout, random_rings
from verifier_layouts import IRON, arm, cases, chest, chest_sink, draw, public_layouts, source

from envs.layout import EAST, SOUTH, Layout
from envs.verifier import verify

SLACK = 1e-6
"""Tolerance of the solver, items per second."""


def shares_of_bound(layouts: Iterable[Layout]) -> list[float]:
    """Rate over bound for each item delivered at each sink; fails where a rate is above."""
    shares = []
    for number, layout in enumerate(layouts):
        result, flows = verify(layout, tick_cap=100_000), Flows(layout)
        for rate in result.rates if result.exact else ():
            bound = flows.bound((rate.x, rate.y), rate.item)
            assert rate.rate <= bound + SLACK, f"layout {number}: {rate} exceeds {bound}"
            if rate.rate > 0:
                shares.append(float(rate.rate) / bound)
    return shares


def attained(shares: list[float], share: float = 1) -> float:
    """How many of the rates are at least that share of their bound."""
    return sum(s >= share - SLACK for s in shares) / len(shares)


def test_reference_rates_stay_below_the_bound_and_most_attain_it():
    shares = shares_of_bound(layout for _, layout in cases().values())
    assert len(shares) == 29
    assert attained(shares) > 0.65
    assert attained(shares, 0.9) == 1


def test_public_rates_stay_below_the_bound_and_most_attain_it():
    shares = shares_of_bound(layout for _, layout in public_layouts().values())
    assert len(shares) == 97
    assert attained(shares) > 0.6
    assert attained(shares, 0.75) > 0.9


@pytest.mark.parametrize(
    ("make", "delivered", "at_bound", "near_bound"),
    [
        (random_layout, 60, 0.7, 0.9),
        (mutated_case, 60, 0.6, 0.95),
        (random_rings, 10, 0.8, 0.95),
        (random_factory, 600, 0.5, 0.75),
        (random_crowd, 900, 0.05, 0.3),
    ],
)
def test_random_rates_stay_below_the_bound(make, delivered, at_bound, near_bound):
    shares = shares_of_bound(make(seed) for seed in range(300))
    assert len(shares) > delivered
    assert attained(shares) > at_bound
    assert attained(shares, 0.9) > near_bound


@pytest.mark.parametrize(
    ("prototype", "ticks"),
    [
        ("burner-inserter", 76),
        ("inserter", 70),
        ("long-handed-inserter", 49),
        ("fast-inserter", 24),
    ],
)
def test_bound_of_an_arm_between_chests_is_its_cycle(prototype, ticks):
    text = "C\n.\nA\n.\nK" if prototype == "long-handed-inserter" else "C\nA\nK"
    layout = draw(text, C=chest(), A=arm(SOUTH, prototype), K=chest_sink())
    (hand,) = literal_plan(layout).hands
    assert cycle_ticks(hand, None) == ticks
    assert Flows(layout).bound((0, layout.height - 1), IRON) == pytest.approx(60 / ticks)


@pytest.mark.parametrize("prototype", ["burner-inserter", "inserter", "fast-inserter"])
@pytest.mark.parametrize("text", ["S>\n.A\n.K", "Sv\n.A\n.K"])
def test_bound_of_an_arm_at_a_belt_is_less_than_a_fifth_above_its_rate(prototype, text):
    layout = draw(text, S=source(EAST), A=arm(SOUTH, prototype), K=chest_sink())
    (rate,) = verify(layout).rates
    assert 5 / 6 < float(rate.rate) / Flows(layout).bound((1, 2), IRON) <= 1 + SLACK
