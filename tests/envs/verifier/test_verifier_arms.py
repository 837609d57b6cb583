"""Inserters: choices, chases, picks, drops and acting order (R27-R34)."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from verifier_layouts import (
    COPPER,
    GEAR,
    IRON,
    Stepped,
    arm,
    arm_line,
    arm_trace,
    asm,
    chest,
    chest_sink,
    draw,
    sink,
    source,
)

from envs.layout import EAST, NORTH, SOUTH, WEST, Entity, Layout
from envs.verifier import verify
from envs.verifier.targets import QUARTER, targets


def arm_at(layout: Layout, ticks: int, number: int = 0):
    return Stepped(layout, ticks).state.arms[number]


def test_r27_arm_takes_the_item_furthest_upstream_on_its_tile():
    """From a stopped lane with 0, 64, 128, 192 taken, the first item to go is at 192."""
    layout = draw("S>\n.A\n.>", S=source(EAST, None, IRON), A=arm(SOUTH))
    arms = [arm_at(layout, t) for t in range(1, 120)]
    first = next(t for t, a in enumerate(arms, 1) if a["held"] >= 0)
    assert Stepped(layout, first - 1).positions(1, 0, 1)[-1] > 128


def test_r27_arm_prefers_the_near_lane_of_a_crossing_belt():
    near = draw("S>\n.A\n.K", S=source(EAST, COPPER, IRON), A=arm(SOUTH), K=sink(SOUTH))
    rates = {rate.item: rate.rate for rate in verify(near).rates}
    assert rates == {IRON: Fraction(15, 16)}
    mirrored = draw(".K\n.A\nS>", S=source(EAST, COPPER, IRON), A=arm(NORTH), K=sink(NORTH))
    rates = {rate.item: rate.rate for rate in verify(mirrored).rates}
    assert set(rates) == {COPPER, IRON}
    assert rates[IRON] == 0


@pytest.mark.parametrize(
    ("text", "flow", "first"),
    [
        ("S>\n.A\n.K", EAST, IRON),  # across, right lane near
        ("<S\nA.\nK.", WEST, COPPER),  # across, left lane near
        ("S\nA\nK", NORTH, COPPER),  # running away from the arm
        ("S\nA\nK", SOUTH, COPPER),  # running towards the arm
        ("Sv\n.A\n.K", EAST, COPPER),  # right turn
        ("vS\nA.\nK.", WEST, COPPER),  # left turn
    ],
)
def test_r27_lane_that_is_looked_at_first(text, flow, first):
    layout = draw(text, S=source(flow, COPPER, IRON), A=arm(SOUTH), K=chest_sink())
    names = Stepped(layout, 0).rows.items
    held = next(a["held"] for a in arm_trace(layout, 400)[200:] if a["held"] >= 0)
    assert names[held] == first


MOVING = """
    C.......
    A.......
    >>>>>>>K
    ....B...
    ....L...
"""


def test_r28_choice_sticks_until_the_item_is_gone_and_then_hangs_on_the_hand_over_the_tile():
    """A slow arm at a lane with few items: it follows one, loses some, and waits or chooses."""
    legend = {"C": chest(), "A": arm(SOUTH, "fast-inserter"), "B": arm(SOUTH, "burner-inserter")}
    layout = draw(MOVING, **legend, K=sink(EAST), L=chest_sink())
    steps = [Stepped(layout, tick) for tick in range(900)]
    kept = waited = chosen = 0
    for before, after in pairwise(steps):
        place, arms = chased_position(before), (before.state.arms[0], after.state.arms[0])
        if place is None or arms[1]["held"] >= 0:
            continue
        if place >= 8:
            kept += any(p > place for p in after.positions(4, 2, 1))
            assert chased_position(after) == place - 8
        elif over_tile(before):
            waited += 1
            assert arms[1]["chase"] == 0
            assert arms[0]["angle"] == arms[1]["angle"]
        else:
            chosen += 1
            assert arms[0]["angle"] != arms[1]["angle"]
    assert min(kept, waited, chosen) > 0


def chased_position(stepped: Stepped) -> int | None:
    """Position of the item that the first arm chases on the right lane of its tile."""
    hand = stepped.state.arms[0]
    if hand["chase"] != 2:
        return None
    lane = stepped.plan.lanes[stepped.plan.arms[0]["from_lane"] + 1]
    return int(stepped.state.position[hand["index"]] - lane["offset"])


def over_tile(stepped: Stepped) -> bool:
    """R28, for the first arm."""
    hand, info = stepped.state.arms[0], stepped.plan.arms[0]
    away = abs(int(hand["angle"]) - int(info["facing"]) * QUARTER)
    length = hand["length"] // 1000
    low, high = (table[info["reach"] - 1, length] for table in targets()[2:])
    return bool(low <= min(away, 4 * QUARTER - away) <= high)


def test_r29_item_goes_from_the_belt_into_the_hand_in_the_tick_of_arrival():
    layout = draw("S>\n.A\n.K", S=source(EAST, None, IRON), A=arm(SOUTH), K=chest_sink())
    held = [a["held"] >= 0 for a in arm_trace(layout, 400)]
    picks = [t for t in range(300, 400) if held[t] and not held[t - 1]]
    assert picks
    for tick in picks:
        before, after = Stepped(layout, tick - 1), Stepped(layout, tick)
        assert before.positions(1, 0, 1) == [0, 64, 128, 192]
        assert after.positions(1, 0, 1) == [0, 64, 128]
        angle, point = after.state.arms["angle"][0], targets().angle[0, 1, 1, 192]
        assert angle == point


def test_r30_arm_takes_only_ingredients_its_machine_lacks():
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


def test_r30_two_arms_overshoot_the_limit_by_one_item_each_at_most():
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


RACE = """
    C......
    A......
    M..BK..
    .......
    ...DL..
    E.F....
    G.H....
"""


@pytest.mark.parametrize(
    ("racing", "winner"), [("BD", "L"), ("BDEF", "H"), ("EF", "H"), ("DE", "G")]
)
def test_r34_the_largest_y_then_the_largest_x_acts_first_and_takes_the_product(racing, winner):
    """All arms wait for the one machine; only the first one to act ever gets anything."""
    layout = draw(
        RACE,
        C=chest(),
        A=arm(SOUTH),
        M=asm("pipe"),
        **{letter: arm(EAST if letter in "BD" else SOUTH, "fast-inserter") for letter in "BDEF"},
        **dict.fromkeys("KLGH", chest_sink("pipe")),
    )
    places = {"B": (3, 2), "D": (3, 4), "E": (0, 5), "F": (2, 5)}
    idle = [places[letter] for letter in "BDEF" if letter not in racing]
    kept = tuple(entity for entity in layout.entities if (entity.x, entity.y) not in idle)
    rates = {(r.x, r.y): r.rate for r in verify(replace(layout, entities=kept)).rates}
    at = {"K": (4, 2), "L": (4, 4), "G": (0, 6), "H": (2, 6)}[winner]
    assert {place: rate for place, rate in rates.items() if rate} == {at: Fraction(6, 7)}


def test_r33_arm_waits_with_its_item_until_there_is_room_and_then_drops_at_once():
    layout = draw("S>\n.A\n.>", S=source(EAST), A=arm(SOUTH))
    late = arm_at(layout, 1500)
    assert late["held"] >= 0
    assert late["angle"] == 2 * QUARTER
    assert late["length"] == 256_000 + 51_200
    assert verify(layout).period_ticks == 1


def test_r31_arm_does_not_pick_what_is_not_the_machines_product():
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


def test_r31_chest_gives_its_item_to_a_machine_that_wants_it_only():
    for item, taken in ((IRON, True), (COPPER, False), (None, False)):
        layout = draw("C..\nA..\nM..\n...\n...", C=chest(item), A=arm(SOUTH), M=asm("pipe"))
        assert any(a["held"] >= 0 for a in arm_trace(layout, 100)) == taken


def test_r30_belts_and_counting_chests_want_everything():
    for target in (chest_sink(GEAR), Entity("belt", 0, 0, EAST), sink(EAST, GEAR)):
        trace = arm_trace(arm_line(SOUTH, "inserter", chest("wood"), target), 30)
        assert any(a["held"] >= 0 for a in trace)


def test_r33_chest_counts_in_the_tick_of_the_drop():
    layout = arm_line(EAST, "inserter", chest(), chest_sink())
    steps = [Stepped(layout, tick) for tick in range(150)]
    for before, after in pairwise(steps):
        dropped = before.state.arms["held"][0] >= 0 > after.state.arms["held"][0]
        assert after.delivered(IRON) - before.delivered(IRON) == dropped
    assert steps[-1].delivered(IRON) == 2


def test_r33_machine_accepts_what_it_no_longer_needs():
    """Two arms that picked at the same time both drop, the second one above the limit."""
    layout = draw("C.C\nA.A\nM..\n...\n...", C=chest(), A=arm(SOUTH), M=asm("pipe"))
    stocks = [Stepped(layout, tick).stock(IRON) for tick in range(0, 9000, 7)]
    assert max(stocks) == 4


def test_r30_unfiltered_arm_blocks_for_ever_on_unwanted_items():
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
