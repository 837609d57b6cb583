"""Inserters: swings, choices, drops and acting order (R21-R35)."""

from fractions import Fraction
from itertools import pairwise

import pytest
from verifier_layouts import COPPER, GEAR, IRON, Stepped, arm, asm, draw, sink, source

from envs.layout import EAST, NORTH, SOUTH, WEST, Layout
from envs.verifier import verify

QUARTER = 2_500_000


def arm_at(layout: Layout, ticks: int, number: int = 0):
    return Stepped(layout, ticks).state.arms[number]


@pytest.mark.parametrize("drop", [NORTH, EAST, SOUTH, WEST])
def test_arm_starts_short_at_its_pickup_side_and_extends_first(drop):
    text = {NORTH: ">\nA\n>", SOUTH: ">\nA\n>", EAST: ">A>", WEST: ">A>"}[drop]
    layout = draw(text, A=arm(drop))
    start = arm_at(layout, 0)
    assert (start["angle"], start["length"]) == ((drop + 2) % 4 * QUARTER, 179_200)
    assert arm_at(layout, 1)["length"] == 179_200 + 8_960
    assert arm_at(layout, 8)["length"] == 256_000


@pytest.mark.parametrize(
    ("letter", "through"), [("Z", WEST), ("E", NORTH), ("W", NORTH), ("N", WEST)]
)
def test_half_turns_go_through_west_or_north_both_ways(letter, through):
    layout = draw(
        """
        ..S.>..
        ..A.N..
        ..M....
        >W...E>
        .......
        ...Z...
        ...v...
        """,
        S=source(EAST, COPPER, COPPER),
        A=arm(SOUTH),
        M=asm("copper-cable"),
        N=arm(NORTH),
        E=arm(EAST),
        Z=arm(SOUTH),
        W=arm(WEST),
    )
    seen = [arm_at(layout, tick, "ZEWN".index(letter)) for tick in range(300, 1200, 7)]
    for part in ([a for a in seen if a["held"] >= 0], [a for a in seen if a["held"] < 0]):
        angles = [int(a["angle"]) for a in part]
        assert min(_away(angle, through * QUARTER) for angle in angles) < QUARTER // 4
        assert min(_away(angle, (through + 2) * QUARTER) for angle in angles) >= QUARTER


def _away(angle: int, point: int) -> int:
    d = (angle - point) % (4 * QUARTER)
    return min(d, 4 * QUARTER - d)


def test_machine_to_machine_swing_takes_70_ticks():
    """Cable machine feeds a circuit machine that lacks iron: only the first cables move."""
    layout = draw(
        """
        SS>......
        ..A......
        .M..BN...
        .........
        .........
        """,
        S=source(EAST, COPPER, COPPER),
        A=arm(SOUTH),
        M=asm("copper-cable"),
        B=arm(EAST),
        N=asm("electronic-circuit"),
    )
    times = [t for t in range(1, 900) if _gains(layout, "copper-cable", t, 1)]
    assert [b - a for a, b in pairwise(times)][1:3] == [70, 70]


def _gains(layout: Layout, item: str, tick: int, machine: int) -> bool:
    return Stepped(layout, tick).stock(item, machine) > Stepped(layout, tick - 1).stock(
        item, machine
    )


def test_arm_takes_the_item_furthest_upstream_on_its_tile():
    """From a stopped lane with 0, 64, 128, 192 taken, the first item to go is at 192."""
    layout = draw("S>\n.A\n.>", S=source(EAST, None, IRON), A=arm(SOUTH))
    arms = [arm_at(layout, t) for t in range(1, 120)]
    first = next(t for t, a in enumerate(arms, 1) if a["held"] >= 0)
    assert Stepped(layout, first - 1).positions(1, 0, 1)[-1] > 128


def test_arm_prefers_the_near_lane_of_a_crossing_belt():
    near = draw("S>\n.A\n.K", S=source(EAST, COPPER, IRON), A=arm(SOUTH), K=sink(SOUTH))
    rates = {rate.item: rate.rate for rate in verify(near).rates}
    assert rates == {IRON: Fraction(15, 16)}
    mirrored = draw(".K\n.A\nS>", S=source(EAST, COPPER, IRON), A=arm(NORTH), K=sink(NORTH))
    rates = {rate.item: rate.rate for rate in verify(mirrored).rates}
    assert set(rates) == {COPPER, IRON}
    assert rates[IRON] == 0


def test_arm_takes_only_ingredients_its_machine_lacks():
    layout = draw(
        """
        S>>..
        ..A..
        .M...
        .....
        .....
        """,
        S=source(EAST, COPPER, IRON),
        A=arm(SOUTH),
        M=asm(GEAR),
    )
    steps = [Stepped(layout, tick) for tick in range(100, 900, 5)]
    iron = steps[0].rows.items.index(IRON)
    assert {int(step.state.arms["held"][0]) for step in steps} == {-1, iron}
    assert steps[-1].state.machines["made"][0] > 0


def test_two_arms_overshoot_the_limit_by_one_item_each_at_most():
    layout = draw(
        """
        S>>>.
        .AB..
        .M...
        .....
        .....
        """,
        S=source(EAST),
        A=arm(SOUTH),
        B=arm(SOUTH),
        M=asm("electronic-circuit"),
    )
    stocks = [Stepped(layout, tick).stock(IRON) for tick in range(0, 900, 3)]
    assert (stocks[-1], max(stocks)) == (4, 4)
    one = draw("S>>..\n..A..\n..M..\n.....\n.....", S=source(EAST), A=arm(SOUTH), M=asm("pipe"))
    assert Stepped(one, 9000).stock(IRON) == 3


def test_arm_at_the_later_tile_drops_first():
    """Both arms want the far lane's place at 128 at once; the one acting first gets it."""
    layout = draw("S>>>T\n.AB..\n.>>>>", S=source(EAST), T=sink(EAST), A=arm(SOUTH), B=arm(SOUTH))
    stepped = Stepped(layout, 1)
    picked = [int(lane) // 2 % 5 for lane in stepped.plan.arms["from_lane"]]
    assert picked == [2, 1]


def test_arm_waits_with_its_item_until_there_is_room_and_then_drops_at_once():
    layout = draw("S>\n.A\n.>", S=source(EAST), A=arm(SOUTH))
    late = arm_at(layout, 1500)
    assert late["held"] >= 0
    assert late["angle"] == 2 * QUARTER
    assert late["length"] == 256_000 + 51_200
    assert verify(layout).period_ticks == 1


def test_arm_does_not_pick_what_is_not_the_machines_product():
    layout = draw(
        """
        S>>...
        ..A...
        .M..BK
        ......
        ......
        """,
        S=source(EAST),
        A=arm(SOUTH),
        M=asm(GEAR),
        B=arm(EAST),
        K=sink(NORTH, GEAR),
    )
    assert {rate.item for rate in verify(layout).rates} == {GEAR}


def test_unfiltered_arm_blocks_for_ever_on_unwanted_items():
    """A dead-end lane whose pickup tile holds only copper never lets the iron through."""
    layout = draw(
        """
        >>>>...
        .T.A...
        ..M....
        .....BK
        .......
        """,
        T=source(NORTH, COPPER, IRON),
        A=arm(SOUTH),
        M=asm(GEAR),
        B=arm(EAST),
        K=sink(NORTH, GEAR),
    )
    stuck = Stepped(layout, 2000)
    assert stuck.delivered(GEAR) == 1
    assert {item for _, item in stuck.items(3, 0, 1)} == {COPPER}
    assert {item for _, item in stuck.items(1, 1, 1)} == {IRON}
    assert [rate.rate for rate in verify(layout).rates] == [0]
