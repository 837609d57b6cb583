"""What is counted over a window of ticks: activities, picks, drops, crafts, items fed and gone."""

import numpy as np
import pytest
from diagnosis_layouts import (
    BURNER,
    FAST,
    all_public,
    dead_end_gear,
    gear_row,
    passing_copper,
)
from verifier_layouts import COPPER, IRON, arm, chest_sink, draw, run_parts, sink, source

from envs.layout import EAST, NORTH, SOUTH, Entity, Layout
from envs.verifier.compile import compile_layout
from envs.verifier.observe import Observed, observe
from envs.verifier.records import DRAIN, NONE, Plan
from envs.verifier.recurrence import Run, run
from envs.verifier.targets import targets


def watched(layout: Layout, warmup: int, window: int) -> tuple[Plan, Observed]:
    """What all parts do in `window` ticks after `warmup` ticks."""
    plan, _ = compile_layout(layout)
    ticks = (np.full(len(plan.parts), count, np.int64) for count in (warmup, window))
    return plan, Observed(*observe(plan, targets(), *ticks))


def recurrent(layout: Layout) -> tuple[Plan, Run, Observed]:
    """What all parts do in one period."""
    plan, _ = compile_layout(layout)
    result = Run(*run(plan, targets(), 1_000_000))
    return plan, result, Observed(*observe(plan, targets(), result.transient, result.period))


def ticks_of(counts: np.ndarray, windows: np.ndarray, ends: np.ndarray) -> list[int]:
    """The window of each record's part, where the record has counts over a window."""
    return np.repeat(windows, np.diff(ends, prepend=0))[: len(counts)].tolist()


def test_an_arm_between_chests_swings_in_every_tick() -> None:
    layout = draw("CBK", C=Entity("chest_src", 0, 0, item=IRON), B=FAST, K=chest_sink())
    _, seen = watched(layout, 100, 240)
    assert seen.arm_ticks.tolist() == [[240, 0, 0, 0]]
    assert seen.picks.tolist() == [[0, 10]]
    assert seen.drops.tolist() == [10]


def test_a_machine_that_is_never_idle_crafts_in_every_tick() -> None:
    _, seen = watched(gear_row(FAST, FAST), 1_200, 600)
    assert seen.machine_ticks.tolist() == [[600, 0, 0, 0]]
    assert seen.crafts.tolist() == [10]
    assert not seen.missing_ticks.any()


def test_arms_wait_for_the_reason_that_they_meet_at_their_turn() -> None:
    _, seen = watched(gear_row(FAST, FAST), 1_200, 600)
    taking, bringing = seen.arm_ticks.tolist()
    assert taking == [240, 360, 0, 0]
    assert bringing == [480, 0, 120, 0]


def test_a_full_output_stops_a_machine() -> None:
    _, seen = watched(gear_row(FAST, BURNER), 30_400, 760)
    assert seen.machine_ticks.tolist() == [[600, 160, 0, 0]]
    assert seen.crafts.tolist() == [10]


def test_a_machine_that_starves_names_each_ingredient_it_lacks() -> None:
    layout = gear_row(FAST, FAST, Entity("asm", 0, 0, recipe="transport-belt"))
    plan, seen = watched(layout, 1_000, 100)
    assert seen.machine_ticks.tolist() == [[0, 0, 100, 0]]
    needs = int(plan.machines["needs"][0])
    assert seen.missing_ticks[0][:needs].tolist() == [0, 100]
    _, empty = watched(layout, 0, 5)
    assert empty.missing_ticks[0][:needs].tolist() == [5, 5]


def test_a_machine_without_a_recipe_is_told_apart() -> None:
    _, seen = watched(gear_row(FAST, FAST, Entity("asm", 0, 0)), 100, 50)
    assert seen.machine_ticks.tolist() == [[0, 0, 0, 50]]
    taking, bringing = seen.arm_ticks.tolist()
    assert taking == [0, 50, 0, 0]
    assert bringing == [0, 0, 50, 0]


def test_an_arm_before_a_full_belt_waits_to_drop() -> None:
    layout = draw("CBv\n..>", C=Entity("chest_src", 0, 0, item=IRON), B=arm(EAST))
    _, seen = watched(layout, 2_000, 30)
    assert seen.arm_ticks.tolist() == [[0, 0, 0, 30]]
    assert seen.drops.tolist() == [0]


def test_picks_are_counted_by_lane() -> None:
    for lanes, expected in (((IRON, None), [10, 0]), ((None, IRON), [0, 10])):
        layout = draw("S>AK", S=source(EAST, *lanes), A=arm(EAST), K=chest_sink())
        _, seen = watched(layout, 660, 660)
        assert seen.picks.tolist() == [expected]
        assert seen.drops.tolist() == [10]


def chains_with(plan: Plan, values: np.ndarray, x: int, width: int) -> list[int]:
    """Left and right lane's value of the chains that lie on tile (x, 0)."""
    front = plan.chains["front"] // 2 % width
    return [int(value) for value in values[np.flatnonzero(front == x)]]


def test_items_fed_and_gone_are_counted_by_chain() -> None:
    layout = draw("S>K", S=source(EAST, IRON, None), K=sink(EAST))
    plan, seen = watched(layout, 200, 80)
    assert chains_with(plan, seen.fed, 2, 3) == [10, 0]
    assert chains_with(plan, seen.left, 2, 3) == [10, 0]
    assert not seen.stopped_ticks.any()


def test_a_lane_that_stands_at_a_closed_end_is_stopped() -> None:
    plan, seen = watched(draw("S>", S=source(EAST, IRON, None)), 200, 80)
    assert chains_with(plan, seen.stopped_ticks, 1, 2) == [80, 0]
    assert not seen.fed.any()
    assert not seen.left.any()


def unwanted(layout: Layout, warmup: int) -> list[str | None]:
    """Item names before the arms, in acting order."""
    _, rows = compile_layout(layout)
    _, seen = watched(layout, warmup, 10)
    return [None if item == NONE else rows.items[item] for item in seen.unwanted]


@pytest.mark.parametrize("layout", [dead_end_gear(COPPER, None), passing_copper()])
def test_an_item_that_a_waiting_arm_does_not_want_is_named(layout: Layout) -> None:
    assert unwanted(layout, 1_000) == [None, COPPER]


@pytest.mark.parametrize("left", [IRON, None])
def test_no_item_is_named_before_an_arm_that_finds_what_it_wants(left: str | None) -> None:
    assert unwanted(dead_end_gear(left, None), 1_000) == [None, None]


def test_an_item_that_comes_within_reach_after_the_turn_is_not_unwanted() -> None:
    layout = draw(
        """
        .C.
        .B.
        K<>
        .D.
        .L.
        """,
        C=Entity("chest_src", 0, 0, item=IRON),
        B=arm(SOUTH),
        K=Entity("belt", 0, 0, NORTH),
        D=arm(SOUTH, "fast-inserter"),
        L=chest_sink(),
    )
    assert all(unwanted(layout, warmup) == [None, None] for warmup in range(200, 270))


@pytest.mark.parametrize("layout", all_public().values(), ids=all_public().keys())
def test_every_tick_of_a_period_has_one_activity_and_what_comes_goes(layout: Layout) -> None:
    plan, result, seen = recurrent(layout)
    for counts, kind in ((seen.arm_ticks, "arms"), (seen.machine_ticks, "machines")):
        expected = ticks_of(counts, result.period, plan.parts[kind])
        assert counts.sum(axis=1).tolist() == expected
    assert seen.picks.sum(axis=1).tolist() == seen.drops.tolist()
    assert (seen.crafts * plan.machines["craft_ticks"]).tolist() == seen.machine_ticks[
        :, 0
    ].tolist()


def state_counts(layout: Layout, ticks: int) -> tuple[int, int]:
    """Items on all lanes and in all hands after some ticks."""
    states = run_parts(compile_layout(layout)[0], ticks)
    lying = sum(int(state.chains["count"].sum()) for state in states)
    held = sum(int((state.arms["held"] != NONE).sum()) for state in states)
    return lying, held


def test_counts_over_any_window_account_for_every_item() -> None:
    for name in ("sideload_T", "drop9_one_lane_cap", "unneeded_item_blocks_lane"):
        layout = all_public()[name]
        plan, seen = watched(layout, 37, 211)
        (lying, held), (lying_after, held_after) = (
            state_counts(layout, ticks) for ticks in (37, 248)
        )
        assert int(seen.picks.sum() - seen.drops.sum()) == held_after - held
        fronts = plan.lanes[plan.chains["front"]]
        drained = seen.left[fronts["link"] == DRAIN].sum()
        onto_belts = seen.drops[plan.arms["to_lane"] != NONE].sum()
        off_belts = seen.picks[plan.arms["from_lane"] != NONE].sum()
        gained = int(seen.fed.sum() + onto_belts - off_belts - drained)
        assert gained == lying_after - lying
