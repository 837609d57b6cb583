"""The compiled engine against the rules written out word by word, on random layouts."""

from fractions import Fraction

import pytest
from engine_states import engine_key
from literal_plan import literal_plan
from literal_rules import Literal
from merged_parts import part_ranges
from random_layouts import mutated_case, random_crowd, random_factory, random_layout, random_rings
from verifier_layouts import arm, asm, cases, chest, chest_sink, draw, whole_plan

from envs.layout import EAST, SOUTH
from envs.verifier import verify
from envs.verifier.compile import compile_layout
from envs.verifier.targets import targets

MAKERS = (random_layout, mutated_case, random_rings, random_factory, random_crowd)


def recurrence_by_hashing(literal: Literal, limit: int) -> tuple[int, int, dict] | None:
    """Least transient and period, and what was delivered in a period, from a table of states."""
    seen: dict[tuple, tuple[int, dict]] = {}
    for tick in range(limit):
        if tick > 0:
            key = literal.key()
            if key in seen:
                first, before = seen[key]
                after = literal.delivered
                counts = {k: after[k] - before.get(k, 0) for k in after}
                return first, tick - first, counts
            seen[key] = tick, dict(literal.delivered)
        literal.tick()
    return None


@pytest.mark.parametrize("make", MAKERS)
def test_r44_states_follow_the_rules_tick_by_tick(make):
    for seed in range(40):
        layout = make(seed)
        literal = Literal(layout, targets())
        for tick in range(1, 241):
            literal.tick()
            if tick % 12 == 0 or tick < 4:
                assert engine_key(layout, tick) == literal.key(), f"seed {seed}, tick {tick}"


@pytest.mark.parametrize("make", MAKERS)
def test_r45_transient_period_and_rates_are_those_of_a_table_of_all_states(make):
    checked = 0
    for seed in range(1000, 1030):
        layout = make(seed)
        expected = recurrence_by_hashing(Literal(layout, targets()), 900)
        if expected is None:
            continue
        transient, period, counts = expected
        found = verify(layout)
        assert (found.transient_ticks, found.period_ticks) == (transient, period), f"seed {seed}"
        rates = {((r.x, r.y), r.item): r.rate for r in found.rates if r.rate}
        by_hand = {key: Fraction(60 * n, period) for key, n in counts.items() if n}
        assert rates == by_hand, f"seed {seed}"
        checked += 1
    assert checked >= 10


def test_r14_lanes_and_their_order_are_those_of_the_rules():
    for seed in range(60):
        for make in MAKERS:
            layout = make(seed)
            plan, literal = whole_plan(layout)[0], literal_plan(layout)
            for part in part_ranges(compile_layout(layout)[0], "chains"):
                order = list(plan.order[part])
                assert order == [n for n in literal.order if n in order], f"{make}, seed {seed}"
            for (x, y, n), lane in literal.lanes.items():
                record = plan.lanes[2 * (y * layout.width + x) + n]
                found = tuple(int(record[f]) for f in ("length", "chain", "offset", "entry"))
                assert found == (lane.length, lane.chain, lane.offset, lane.entry)


def test_r40_stopped_machines_follow_the_literal_rules():
    """A pipe is made in 24 ticks and taken in 76, so the stack of 100 is full after a while."""
    layout = draw(
        "C....\nA....\nM..BK\n.....\n.....",
        C=chest(),
        A=arm(SOUTH, "fast-inserter"),
        M=asm("pipe", "assembling-machine-3"),
        B=arm(EAST, "burner-inserter"),
        K=chest_sink("pipe"),
    )
    literal = Literal(layout, targets())
    made = []
    for tick in range(1, 6001):
        literal.tick()
        made.append(literal.machines[0, 2].made)
        if tick % 100 == 0 or made[-1] == 100:
            assert engine_key(layout, tick) == literal.key()
    assert max(made) == 100
    assert made[-1] >= 99


def test_reference_cases_follow_the_literal_rules_for_a_while():
    for name, (_, layout) in cases().items():
        literal = Literal(layout, targets())
        for tick in range(1, 401):
            literal.tick()
            if tick % 100 == 0:
                assert engine_key(layout, tick) == literal.key(), f"{name}, tick {tick}"
