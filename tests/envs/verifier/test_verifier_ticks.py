"""Units and the order of things within a tick (R1, R2)."""

from fractions import Fraction
from itertools import pairwise

from verifier_layouts import IRON, Stepped, arm, asm, chest, chest_sink, draw, sink, source

from envs.catalogue import BELT_SPEED_PER_TICK, TICKS_PER_S
from envs.layout import EAST, SOUTH
from envs.verifier import verify
from envs.verifier.targets import (
    HALF,
    LENGTH_PER_POSITION,
    QUARTER,
    TILE,
    TURN,
    targets,
)


def test_r1_units_are_ticks_tiles_of_256_and_turns_of_ten_million():
    assert TICKS_PER_S == 60
    assert (TILE, BELT_SPEED_PER_TICK) == (256, 8)
    assert (TURN, HALF, QUARTER) == (10_000_000, 5_000_000, 2_500_000)
    assert LENGTH_PER_POSITION * TILE == 256_000


def test_r1_rates_are_exact_items_per_second():
    (rate,) = verify(draw("C\nA\nK", C=chest(), A=arm(SOUTH), K=chest_sink())).rates
    assert isinstance(rate.rate, Fraction)
    assert rate.rate == Fraction(60, 70)


def test_r2_arms_see_belts_as_they_have_just_moved():
    """At the pick the hand points at where the item is after the tick's move, not before it."""
    layout = draw("S>>K\n.A..\n.L..", S=source(EAST), A=arm(SOUTH), K=sink(EAST), L=chest_sink())
    steps = [Stepped(layout, tick) for tick in range(500)]
    checked = 0
    for before, after in pairwise(steps):
        hand, later = before.state.arms[0], after.state.arms[0]
        if hand["chase"] != 2 or later["held"] < 0:
            continue
        edge = before.plan.lanes[before.plan.arms[0]["from_lane"] + 1]["offset"]
        place = before.state.position[hand["index"]] - edge
        if place >= 8:
            assert later["angle"] == targets().angle[0, 1, 1, place - 8]
            checked += 1
    assert checked > 3


def test_r2_machine_starts_in_the_tick_in_which_its_last_ingredient_is_dropped():
    layout = draw("C..\nA..\nM..\n...\n...", C=chest(), A=arm(SOUTH), M=asm("pipe"))
    steps = [Stepped(layout, tick) for tick in range(80)]
    dropped = next(
        t
        for t in range(1, 80)
        if steps[t - 1].state.arms["held"][0] >= 0 > steps[t].state.arms["held"][0]
    )
    assert steps[dropped - 1].state.machines["remaining"][0] == 0
    assert steps[dropped].state.machines["remaining"][0] == 120 // 2
    assert steps[dropped].stock(IRON) == 0


def test_r2_an_arm_sees_what_another_has_put_down_in_the_same_tick():
    """The lower arm acts first and drops at 77; so the upper one's item is kept 64 behind it."""
    layout = draw("..C\n..A\nCB>", C=chest(), A=arm(SOUTH), B=arm(EAST))
    drops = [Stepped(layout, tick).positions(2, 2, 1) for tick in range(60)]
    first = next(places for places in drops if places)
    assert first == [77 - 8, 77 - 8 + 64]
