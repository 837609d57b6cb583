"""How arms swing: constants, points, steps, half turns, long arms, start (R20-R26, R35)."""

from itertools import pairwise

import pytest
from verifier_layouts import IRON, Stepped, arm, arm_line, arm_trace, chest, chest_sink, draw

from envs.catalogue import ARMS
from envs.layout import EAST, NORTH, SOUTH, WEST, Entity
from envs.verifier import verify
from envs.verifier.targets import HALF, QUARTER, TURN

DIRECTIONS = [NORTH, EAST, SOUTH, WEST]
CYCLES = [
    ("burner-inserter", 38, 38),
    ("inserter", 35, 35),
    ("long-handed-inserter", 24, 25),
    ("fast-inserter", 12, 12),
]
"""Ticks out with an item and ticks back, from chest to chest (R20)."""

RETURN, WAIT_PICK, CARRY, WAIT_DROP = range(4)


def chest_line(direction: int, prototype: str):
    """A chest, an arm and a chest that counts."""
    return arm_line(direction, prototype, chest(), chest_sink())


def pick_and_drop_ticks(direction: int, prototype: str, ticks: int) -> tuple[list[int], list[int]]:
    """Ticks at whose ends the hand has become full, and empty."""
    held = [a["held"] >= 0 for a in arm_trace(chest_line(direction, prototype), ticks)]
    changes = [t for t in range(1, ticks) if held[t] != held[t - 1]]
    return [t for t in changes if held[t]], [t for t in changes if not held[t]]


@pytest.mark.parametrize(("prototype", "out", "back"), CYCLES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_r20_chest_to_chest_swings_take_the_stated_ticks(prototype, out, back, direction):
    picks, drops = pick_and_drop_ticks(direction, prototype, 4 * (out + back))
    assert [drop - pick for pick, drop in zip(picks, drops, strict=False)][:3] == [out] * 3
    assert [pick - drop for drop, pick in zip(drops, picks[1:], strict=False)][:2] == [back] * 2
    assert verify(chest_line(direction, prototype)).period_ticks == out + back


@pytest.mark.parametrize("prototype", ARMS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_r21_arm_waits_at_its_pickup_point_and_at_its_drop_point(prototype, direction):
    reach, away, toward = ARMS[prototype].reach_tiles, (direction + 2) % 4, direction
    empty = arm_line(direction, prototype, Entity("belt", 0, 0, away), chest_sink())
    waiting = arm_trace(empty, 60)[-1]
    assert waiting["phase"] == WAIT_PICK
    assert (waiting["angle"], waiting["length"]) == (away * QUARTER, 256_000 * reach)
    full = arm_line(direction, prototype, chest(), Entity("belt", 0, 0, toward))
    holding = arm_trace(full, 900)[-1]
    assert holding["phase"] == WAIT_DROP
    assert (holding["angle"], holding["length"]) == (toward * QUARTER, 256_000 * reach + 51_200)


@pytest.mark.parametrize("prototype", ARMS)
def test_r23_arm_turns_by_its_rotation_and_covers_the_rest_at_the_end(prototype):
    """The last step may cover less than two steps at once, once the length is right."""
    rotation = ARMS[prototype].rotation_per_tick
    trace = arm_trace(chest_line(SOUTH, prototype), 200)
    picks, drops = pick_and_drop_ticks(SOUTH, prototype, 200)
    angles = [int(a["angle"]) for a in trace[picks[0] : drops[0] + 1]]
    turns = [(b - a + HALF) % TURN - HALF for a, b in pairwise(angles)]
    assert {abs(turn) for turn in turns[:-1]} == {rotation}
    assert sum(map(abs, turns)) == HALF
    assert rotation < abs(turns[-1]) <= 2 * rotation
    assert (abs(turns[-1]) == 2 * rotation) == (prototype == "long-handed-inserter")


@pytest.mark.parametrize("prototype", ARMS)
def test_r23_arm_extends_by_its_extension_and_covers_the_rest_at_once(prototype):
    extension = ARMS[prototype].extension_per_tick
    trace = arm_trace(chest_line(SOUTH, prototype), 200)
    picks, _ = pick_and_drop_ticks(SOUTH, prototype, 200)
    lengths = [int(a["length"]) for a in trace[picks[0] : picks[0] + 8]]
    steps = [b - a for a, b in pairwise(lengths)]
    ticks = 51_200 // extension
    rest = 51_200 - (ticks - 1) * extension
    assert steps == ([extension] * (ticks - 1) + [rest] + [0] * 7)[:7]
    assert extension <= rest < 2 * extension


@pytest.mark.parametrize("prototype", ARMS)
@pytest.mark.parametrize(
    ("direction", "through"), [(NORTH, WEST), (SOUTH, WEST), (EAST, NORTH), (WEST, NORTH)]
)
def test_r24_half_turns_go_through_west_or_north_both_ways(prototype, direction, through):
    trace = arm_trace(chest_line(direction, prototype), 400)[100:]
    for loaded in (True, False):
        angles = [int(a["angle"]) for a in trace if (a["held"] >= 0) == loaded]
        assert min(_away(angle, through * QUARTER) for angle in angles) < QUARTER // 4
        assert min(_away(angle, (through + 2) * QUARTER) for angle in angles) >= QUARTER


def _away(angle: int, point: int) -> int:
    d = (angle - point) % TURN
    return min(d, TURN - d)


def test_r25_long_arm_covers_two_whole_steps_at_once_only_with_an_item():
    trace = arm_trace(chest_line(EAST, "long-handed-inserter"), 120)
    picks, drops = pick_and_drop_ticks(EAST, "long-handed-inserter", 120)
    loaded = [_away(int(trace[t]["angle"]), int(trace[t - 1]["angle"])) for t in (drops[0],)]
    empty = [_away(int(trace[t]["angle"]), int(trace[t - 1]["angle"])) for t in (picks[1],)]
    assert (loaded, empty) == ([400_000], [200_000])
    assert (drops[0] - picks[0], picks[1] - drops[0]) == (24, 25)


def test_r26_arm_starts_to_move_in_the_tick_after_a_pick_or_drop():
    trace = arm_trace(chest_line(EAST, "inserter"), 200)
    picks, drops = pick_and_drop_ticks(EAST, "inserter", 200)
    for tick, angle, phase in ((picks[1], WEST, CARRY), (drops[0], EAST, RETURN)):
        assert trace[tick]["angle"] == angle * QUARTER
        assert trace[tick]["phase"] == phase
        assert _away(int(trace[tick + 1]["angle"]), angle * QUARTER) == 140_000


def test_r26_failed_pick_waits_and_a_product_is_taken_in_the_tick_after_it_was_made():
    layout = draw(
        "C..\nA..\nM..\n...\n...\nB..\nK..",
        C=chest(),
        A=arm(SOUTH, "fast-inserter"),
        M=Entity("asm", 0, 0, recipe="pipe"),
        B=arm(SOUTH),
        K=chest_sink("pipe"),
    )
    states = [Stepped(layout, tick).state for tick in range(140)]
    made = next(t for t, state in enumerate(states) if state.machines["made"][0])
    assert states[made].arms[0]["phase"] == WAIT_PICK
    assert states[made].arms[0]["held"] < 0
    assert states[made + 1].arms[0]["phase"] == CARRY
    assert states[made + 1].machines["made"][0] == 0


@pytest.mark.parametrize("prototype", ARMS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_r35_arm_starts_empty_and_short_at_its_pickup_angle(prototype, direction):
    trace = arm_trace(chest_line(direction, prototype), 40)
    start = trace[0]
    assert (start["angle"], start["length"]) == ((direction + 2) % 4 * QUARTER, 179_200)
    assert (start["phase"], start["chase"]) == (RETURN, 0)
    assert start["held"] < 0
    assert trace[1]["length"] == 179_200 + ARMS[prototype].extension_per_tick
    first = next(t for t, a in enumerate(trace) if a["held"] >= 0)
    missing = 256_000 * ARMS[prototype].reach_tiles - 179_200
    assert first == missing // ARMS[prototype].extension_per_tick


def test_r20_burner_arms_never_slow_down():
    layout = chest_line(EAST, "burner-inserter")
    late = Stepped(layout, 76_000 + 76 * 10).delivered(IRON) - Stepped(layout, 76_000).delivered(
        IRON
    )
    assert late == 10
