"""Items over each lane's edge: against counts by hand, and against items seen to cross it."""

from fractions import Fraction

import numpy as np
import pytest
from diagnosis_layouts import (
    TICK_CAP,
    all_public,
    dead_end_gear,
    diagnosed,
    lanes_at,
    passing_copper,
    ring_with_arms,
)
from verifier_layouts import IRON, Stepped, arm, chest, draw, sink, source

from envs.layout import EAST, NORTH, SOUTH, Layout
from envs.verifier.compile import compile_layout
from envs.verifier.lane_flow import chain_lanes, lane_counts
from envs.verifier.observe import Observed, observe
from envs.verifier.recurrence import Run, run
from envs.verifier.report import per_second
from envs.verifier.targets import targets

FULL = Fraction(15, 2)

SIDELOAD = draw(
    """
    .S..
    .v..
    >>>K
    """,
    S=source(SOUTH, IRON, None),
    K=sink(EAST),
)


def flows(layout: Layout, x: int, y: int) -> tuple[Fraction, Fraction]:
    """Items per second over the edge of a tile's left and right lane."""
    lanes = lanes_at(layout, x, y)
    return lanes["left"].items_per_s, lanes["right"].items_per_s


def crossings(layout: Layout, x: int, y: int, lane: int) -> Fraction:
    """Items per second seen to leave a tile on which no arm works, over one period."""
    verified = diagnosed(layout).verified
    assert verified.transient_ticks is not None
    assert verified.period_ticks is not None
    first, count = verified.transient_ticks, 0
    before = Stepped(layout, first).positions(x, y, lane)
    for tick in range(first + 1, first + verified.period_ticks + 1):
        after = Stepped(layout, tick).positions(x, y, lane)
        if before and before[0] < 8 and (not after or after[0] > before[0]):
            count += 1
        before = after
    return per_second(count, verified.period_ticks)


def test_every_lane_lies_in_one_chain_once() -> None:
    for layout in (ring_with_arms("fast-inserter", "inserter"), SIDELOAD):
        plan, _ = compile_layout(layout)
        chains = chain_lanes(plan)
        assert [lanes[0] for lanes in chains] == plan.chains["front"].tolist()
        flat = [lane for lanes in chains for lane in lanes]
        assert sorted(flat) == np.flatnonzero(plan.lanes["length"]).tolist()
        for lanes in chains:
            assert list(plan.lanes["offset"][lanes]) == sorted(plan.lanes["offset"][lanes])


def test_a_source_lane_that_flows_off_is_full_on_every_tile() -> None:
    layout = draw("S>v\n..>K", S=source(EAST, None, IRON), K=sink(EAST))
    for tile in ((0, 0), (1, 0), (2, 0), (2, 1), (3, 1)):
        assert flows(layout, *tile) == (0, FULL)
        assert [lane.load for lane in lanes_at(layout, *tile).values()] == [0, 1]


def test_items_pass_only_as_far_as_the_arm_that_takes_them() -> None:
    layout = dead_end_gear(None, IRON)
    for x in range(2):
        assert flows(layout, x, 0) == (0, Fraction(10, 11))
    assert flows(layout, 2, 0) == (0, 0)
    assert [lane.stopped for lane in lanes_at(layout, 2, 0).values()] == [0, 1]


def test_a_flowing_belt_is_not_stopped() -> None:
    lanes = lanes_at(passing_copper(), 2, 0).values()
    assert [(lane.items_per_s, lane.stopped) for lane in lanes] == [(FULL, 0)] * 2


def test_a_drop_counts_from_its_tile_on_and_on_its_lane() -> None:
    layout = draw(">>>K\n.A..\n.C..", A=arm(NORTH), C=chest(IRON), K=sink(EAST))
    assert [flows(layout, x, 0)[0] for x in range(4)] == [0, *[Fraction(6, 7)] * 3]
    assert [flows(layout, x, 0)[1] for x in range(4)] == [0] * 4


def test_a_sideload_counts_from_the_tile_that_it_enters() -> None:
    assert flows(SIDELOAD, 1, 1) == (FULL, 0)
    assert [flows(SIDELOAD, x, 2) for x in range(4)] == [(0, 0), *[(FULL, 0)] * 3]


def test_two_sideloads_share_what_one_lane_can_pass() -> None:
    layout = draw("SS..\nvv..\n>>>K", S=source(SOUTH, IRON, None), K=sink(EAST))
    first, second = flows(layout, 0, 1)[0], flows(layout, 1, 1)[0]
    assert first + second == FULL
    assert flows(layout, 2, 2) == (first + second, 0) == flows(layout, 3, 2)


def test_a_ring_carries_what_circulates_and_what_passes_through() -> None:
    layout = ring_with_arms("fast-inserter", "inserter")
    (rate,) = diagnosed(layout).verified.rates
    assert rate.rate == Fraction(9, 10)
    ring = [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (3, 2), (2, 2), (0, 1)]
    assert {flows(layout, *tile) for tile in ring} == {(0, FULL - Fraction(9, 10))}
    assert flows(layout, 1, 2) == (0, FULL)
    assert flows(layout, 0, 2) == (0, FULL - Fraction(9, 10))


WATCHED = [
    (ring_with_arms("fast-inserter", "inserter"), (3, 1)),
    (ring_with_arms("inserter", "inserter"), (1, 0)),
    (SIDELOAD, (2, 2)),
    (draw("SS..\nvv..\n>>>K", S=source(SOUTH, IRON, None), K=sink(EAST)), (0, 1)),
    (dead_end_gear(IRON, IRON), (0, 0)),
    (draw(">v..\nA>>K\nC...", A=arm(NORTH, "fast-inserter"), C=chest(), K=sink(EAST)), (1, 0)),
]


@pytest.mark.parametrize(("layout", "tile"), WATCHED)
def test_as_many_items_as_counted_are_seen_to_cross(layout: Layout, tile: tuple[int, int]) -> None:
    seen = tuple(crossings(layout, *tile, lane) for lane in range(2))
    assert seen == flows(layout, *tile)
    assert any(seen)


@pytest.mark.parametrize("cap", [30, 300, 1_000])
def test_lanes_of_a_sink_pass_what_it_counts_also_without_a_repeat(cap: int) -> None:
    for layout in all_public().values():
        found = diagnosed(layout, cap)
        assert all(lane.items_per_s >= 0 for lane in found.lanes)
        for one in layout.entities:
            if one.kind == "sink":
                here = [lane for lane in found.lanes if (lane.x, lane.y) == (one.x, one.y)]
                rates = [
                    rate for rate in found.verified.rates if (rate.x, rate.y) == (one.x, one.y)
                ]
                assert sum(lane.items_per_s for lane in here) == sum(rate.rate for rate in rates)


@pytest.mark.parametrize("name", ["belt_curve", "sideload_T", "asm_circuit_two_belts", "belt_fac"])
def test_growth_of_a_lane_is_the_difference_of_the_items_on_it(name: str) -> None:
    layout = all_public()[name]
    plan, _ = compile_layout(layout)
    ticks = (np.full(len(plan.parts), count, np.int64) for count in (90, 110))
    seen = Observed(*observe(plan, targets(), *ticks))
    before, after = Stepped(layout, 90), Stepped(layout, 200)
    for lane in np.flatnonzero(plan.lanes["length"]).tolist():
        y, x = divmod(lane // 2, layout.width)
        on_it = [len(stepped.positions(x, y, lane % 2)) for stepped in (before, after)]
        assert seen.grown[lane] == on_it[1] - on_it[0]
    assert seen.grown.any()


def test_counts_of_whole_periods_are_within_what_a_lane_passes() -> None:
    for layout in all_public().values():
        plan, _ = compile_layout(layout)
        result = Run(*run(plan, targets(), TICK_CAP))
        seen = Observed(*observe(plan, targets(), result.transient, result.period))
        windows = np.repeat(result.period, np.diff(plan.parts["chains"], prepend=0))
        for chain, items in lane_counts(plan, seen).values():
            assert 0 <= 8 * items <= windows[chain]


def test_a_loop_gains_as_much_as_it_loses() -> None:
    layout = ring_with_arms("fast-inserter", "burner-inserter")
    plan, _ = compile_layout(layout)
    result = Run(*run(plan, targets(), TICK_CAP))
    seen = Observed(*observe(plan, targets(), result.transient, result.period))
    counts = lane_counts(plan, seen)
    (right,) = [n for n, one in enumerate(plan.chains) if one["is_loop"] and seen.left[n]]
    front = int(plan.chains["front"][right])
    assert counts[front] == (right, int(seen.left[right]))
