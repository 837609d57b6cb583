"""Belts in motion: packing, puts, sideloads, loops, sources and sinks (R11-R18)."""

from fractions import Fraction

import pytest
from verifier_layouts import COPPER, IRON, Stepped, arm, draw, sink, source

from envs.layout import EAST, NORTH, SOUTH, WEST, Layout
from envs.verifier import verify


def rate_of(layout: Layout, item: str = IRON) -> Fraction:
    return sum((rate.rate for rate in verify(layout).rates if rate.item == item), Fraction(0))


def test_r12_stopped_lane_packs_to_multiples_of_64():
    stepped = Stepped(draw("S>>", S=source(EAST)), 300)
    for lane in range(2):
        assert stepped.positions(1, 0, lane) == [0, 64, 128, 192]
        assert stepped.positions(2, 0, lane) == [0, 64, 128, 192]


def test_r17_first_item_appears_at_248_and_moves_8_per_tick():
    layout = draw("S>", S=source(EAST))
    assert Stepped(layout, 1).positions(0, 0, 0) == [248]
    assert Stepped(layout, 2).positions(0, 0, 0) == [240]
    assert Stepped(layout, 9).positions(0, 0, 0) == [184, 248]


def test_r10_items_cross_tiles_without_delay():
    layout = draw("S>", S=source(EAST))
    assert Stepped(layout, 32).positions(0, 0, 0)[0] == 0
    assert Stepped(layout, 33).positions(1, 0, 0)[0] == 248


def test_r17_null_lane_of_a_source_stays_empty():
    stepped = Stepped(draw("S>", S=source(EAST, IRON, None)), 200)
    assert len(stepped.positions(1, 0, 0)) == 4
    assert stepped.positions(1, 0, 1) == []


def test_r17_source_refills_a_stopped_lane_only_up_to_its_own_tile():
    stepped = Stepped(draw("S.", S=source(EAST)), 500)
    assert stepped.positions(0, 0, 0) == [0, 64, 128, 192]


@pytest.mark.parametrize(("left", "right", "rate"), [(IRON, None, "15/2"), (IRON, IRON, "15")])
def test_r12_lane_passes_seven_and_a_half_items_per_second(left, right, rate):
    layout = draw("S>>K", S=source(EAST, left, right), K=sink(EAST))
    assert rate_of(layout) == Fraction(rate)


def test_r18_sink_beside_the_source_passes_a_full_belt():
    layout = draw("SK", S=source(EAST), K=sink(EAST))
    assert rate_of(layout) == 15


def test_r9_head_on_belts_deliver_nothing():
    assert rate_of(draw("S>><<T", S=source(EAST), T=source(WEST))) == 0
    layout = draw("S>><K", S=source(EAST), K=sink(WEST))
    assert rate_of(layout) == 0


def test_r13_side_feed_uses_one_lane_of_the_belt():
    layout = draw("..S.\n..v.\n>>>K", S=source(SOUTH), K=sink(EAST))
    assert rate_of(layout) == Fraction(15, 2)
    stepped = Stepped(layout, 300)
    assert stepped.positions(3, 2, 1) == []


def test_r13_packed_moving_lane_refuses_a_sideload():
    layout = draw("..S.\n..v.\nT>>K", S=source(SOUTH, COPPER, COPPER), T=source(EAST), K=sink(EAST))
    assert rate_of(layout) == 15
    assert rate_of(layout, COPPER) == 0


def test_r13_two_side_feeds_use_one_lane_each():
    layout = draw(
        "..S.\n..v.\n.>>K\n..^.\n..T.",
        S=source(SOUTH),
        T=source(NORTH, COPPER, COPPER),
        K=sink(EAST),
    )
    assert rate_of(layout) == rate_of(layout, COPPER) == Fraction(15, 2)


@pytest.mark.parametrize(
    ("left", "right", "places"),
    [
        (IRON, None, [0, 64, 128]),  # enters at 67, on the downstream side
        (None, IRON, [0, 64, 128, 192]),  # enters at 188
    ],
)
def test_r11_sideload_on_a_stopped_lane_is_refused_once_its_entry_is_taken(left, right, places):
    layout = draw(".S\n>>", S=source(SOUTH, left, right))
    assert Stepped(layout, 400).positions(1, 1, 0) == places


def test_r13_sideloaded_item_enters_aimed_at_what_it_had_left_to_go():
    """The front stands at 0 < 8, so its place is 188 + 0 - 8 (R11, R13)."""
    layout = draw(".S\n>>", S=source(SOUTH, None, IRON))
    entered = next(t for t in range(1, 100) if Stepped(layout, t).positions(1, 1, 0))
    assert Stepped(layout, entered).positions(1, 1, 0) == [180]


def test_r11_drop_at_128_on_a_stopped_lane_needs_one_of_its_first_three_places():
    layout = draw("T>\n.A\n.>", T=source(EAST), A=arm(SOUTH))
    stepped = Stepped(layout, 2000)
    assert stepped.positions(1, 2, 1) == [0, 64, 128]
    assert stepped.state.arms["held"][0] >= 0


def test_r11_dropped_item_has_already_made_its_move():
    layout = draw("T>\n.A\n.>", T=source(EAST), A=arm(SOUTH))
    first = next(t for t in range(1, 200) if Stepped(layout, t).positions(1, 2, 1))
    assert Stepped(layout, first).positions(1, 2, 1) == [120]
    assert Stepped(layout, first + 1).positions(1, 2, 1) == [112]


RING = """
    ..S.
    >>>v
    ^..v
    ^<<<
"""


def test_r16_loop_with_room_rotates_at_full_speed():
    layout = draw(RING, S=source(SOUTH, IRON, COPPER))
    before, after = Stepped(layout, 150), Stepped(layout, 151)
    loop = before.plan.chains["is_loop"].nonzero()[0][0]
    total = int(before.plan.chains["total"][loop])
    places = {(p - 8) % total for p in _loop_positions(before, loop)}
    assert total == 6 * 256 + 4 * 295
    assert len(places) > 10
    assert places <= set(_loop_positions(after, loop))


def test_r16_loop_takes_an_item_more_than_fits_with_full_gaps_and_stops():
    """A put looks only at the items it consults, so the last gap may be below 64 (R11, R16)."""
    layout = draw(RING, S=source(SOUTH, IRON, COPPER))
    before, after = Stepped(layout, 3000), Stepped(layout, 3001)
    loop = before.plan.chains["is_loop"].nonzero()[0][0]
    total, count = before.plan.chains["total"][loop], before.state.chains["count"][loop]
    assert count == total // 64 + 1
    assert _loop_positions(before, loop) == _loop_positions(after, loop)
    assert verify(layout).period_ticks == 1


def _loop_positions(stepped: Stepped, loop: int) -> list[int]:
    chain = stepped.state.chains[loop]
    return [int(p) for p in stepped.state.position[chain["first"] :][: chain["count"]]]


def test_lane_of_a_ring_that_nothing_feeds_stays_empty():
    stepped = Stepped(draw(RING, S=source(SOUTH)), 500)
    assert sorted(stepped.state.chains["count"][-2:])[0] == 0


def test_r15_chain_that_feeds_itself_fills_up_and_recurs():
    layout = draw("S>>v\n.^.v\n.^<<", S=source(EAST, None, IRON))
    plan, lanes = Stepped(layout, 1).plan, Stepped(layout, 1).plan.lanes
    own = [lanes[lanes[c["front"]]["target"]]["chain"] == n for n, c in enumerate(plan.chains)]
    assert any(own)
    assert verify(layout).exact
    assert len(Stepped(layout, 900).positions(1, 1, 1)) == 4
