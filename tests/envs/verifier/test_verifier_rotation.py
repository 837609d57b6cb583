"""Turning a layout by quarter turns: what stays, and how much changes (R24, R34).

Belts alone know no preferred direction. Arms do: half turns go through the west or the north
(R24), and arms act row by row (R34).
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction

import pytest
from literal_rules import Arm, Literal
from random_layouts import random_factory, random_layout, random_rings
from verifier_layouts import cases, public_layouts, rotated

from envs.layout import BELT_KINDS, Layout
from envs.verifier import verify
from envs.verifier.targets import QUARTER, targets

CAP = 300_000
Rates = dict[tuple[int, int, str], Fraction]
Recurrence = tuple[int | None, int | None]


def rates_turned_back(layout: Layout, quarters: int) -> tuple[Rates, Recurrence] | None:
    """Nonzero rates of the turned layout by place in the given one; None where not exact."""
    turned = rotated(layout, quarters)
    found = verify(turned, CAP)
    if not found.exact:
        return None
    rates = {}
    for rate in found.rates:
        x, y, width, height = rate.x, rate.y, turned.width, turned.height
        for _ in range(-quarters % 4):
            x, y, width, height = height - 1 - y, x, height, width
        rates[x, y, rate.item] = rate.rate
    nonzero = {key: rate for key, rate in rates.items() if rate}
    return nonzero, (found.transient_ticks, found.period_ticks)


def by_item(rates: Rates) -> dict[str, Fraction]:
    """Totals over all sinks."""
    totals: dict[str, Fraction] = {}
    for (_, _, item), rate in rates.items():
        totals[item] = totals.get(item, Fraction(0)) + rate
    return totals


def differences(
    layouts: Iterable[Layout], view: Callable[[Rates], dict]
) -> tuple[int, list[float]]:
    """Number of rates compared over three turns, and the relative differences found."""
    compared, found = 0, []
    for layout in layouts:
        given = rates_turned_back(layout, 0)
        for quarters in (1, 2, 3):
            turned = rates_turned_back(layout, quarters)
            if given is None or turned is None:
                continue
            one, other = view(given[0]), view(turned[0])
            for key in one.keys() | other.keys():
                a, b = one.get(key, Fraction(0)), other.get(key, Fraction(0))
                compared += 1
                if a != b:
                    found.append(float(abs(a - b) / max(a, b)))
    return compared, found


@pytest.mark.parametrize(("make", "delivering"), [(random_layout, 30), (random_rings, 3)])
def test_belts_alone_do_not_notice_a_turn(make, delivering):
    nonzero = 0
    for seed in range(300):
        layout = make(seed)
        belts = tuple(entity for entity in layout.entities if entity.kind in BELT_KINDS)
        given = rates_turned_back(replace(layout, entities=belts), 0)
        assert given is not None
        nonzero += bool(given[0])
        for quarters in (1, 2, 3):
            assert rates_turned_back(replace(layout, entities=belts), quarters) == given
    assert nonzero >= delivering


def test_r24_reference_rates_do_not_change_when_turned():
    compared, found = differences((layout for _, layout in cases().values()), dict)
    assert compared > 80
    assert found == []


def test_r24_totals_of_public_layouts_do_not_change_when_turned():
    compared, found = differences((layout for _, layout in public_layouts().values()), by_item)
    assert compared == 282
    assert found == []


def test_r34_a_turn_moves_products_from_one_sink_to_another():
    """Of two arms that wait for one machine, the one that acts first takes its products."""
    layouts = [layout for _, layout in public_layouts().values()]
    compared, found = differences(layouts, dict)
    assert (compared, len(found)) == (311, 52)
    assert len([layout for layout in layouts if differences([layout], dict)[1]]) == 13


def delivered_turned(layout: Layout, quarters: int, old_order: bool, ticks: int) -> dict:
    """Items per sink of the turned layout by the literal rules, by place in the given one."""
    turned = Literal(rotated(layout, quarters), targets())
    size = layout.width - 1
    assert layout.width == layout.height

    def back(tile: tuple[int, int]) -> tuple[int, int]:
        for _ in range(-quarters % 4):
            tile = size - tile[1], tile[0]
        return tile

    if old_order:
        turned.plan.hands.sort(key=lambda hand: [-v for v in reversed(back(hand.tile))])
        turned.arms = [Arm(hand.facing * QUARTER) for hand in turned.plan.hands]
    for _ in range(ticks):
        turned.tick()
    return {(back(sink), item): count for (sink, item), count in turned.delivered.items()}


@pytest.mark.parametrize("name", ["p003", "p066"])
def test_r34_it_is_the_acting_order_that_moves_products_between_sinks(name):
    """With the arms acting in their old order, a turn changes nothing in these layouts."""
    _, layout = public_layouts()[name]
    given = delivered_turned(layout, 0, old_order=False, ticks=4000)
    assert delivered_turned(layout, 2, old_order=True, ticks=4000) == given
    assert delivered_turned(layout, 2, old_order=False, ticks=4000) != given


def test_r24_totals_of_random_factories_seldom_change_when_turned():
    compared, found = differences(map(random_factory, range(300)), by_item)
    assert compared > 1500
    assert 0 < len(found) / compared < 0.02
    assert max(found) < 0.1
