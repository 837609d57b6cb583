"""What the compiler makes of a layout: shapes, lengths, links, order, drops (R6-R10, R14, R32)."""

from dataclasses import replace

import pytest
from verifier_layouts import arm, asm, chest, chest_sink, draw, furnace, sink, source, whole_plan

from envs.layout import EAST, NORTH, SOUTH, WEST, Entity, Layout
from envs.verifier import verify
from envs.verifier.compile import compile_layout
from envs.verifier.records import CONTINUE, DEAD_END, SIDELOAD


def lanes_at(layout: Layout, x: int, y: int):
    plan, _ = compile_layout(layout)
    return plan.lanes[2 * (y * layout.width + x) :][:2]


def lengths_at(layout: Layout, x: int, y: int) -> list[int]:
    return [int(length) for length in lanes_at(layout, x, y)["length"]]


def chains_in_order(layout: Layout) -> list[tuple[int, int, int]]:
    """(x, y, lane) of each chain's front, in moving order, part by part."""
    plan, _ = whole_plan(layout)
    fronts = [int(plan.chains[number]["front"]) for number in plan.order]
    return [(f // 2 % layout.width, f // 2 // layout.width, f % 2) for f in fronts]


def test_r8_one_side_feeder_makes_a_turn_and_lengthens_its_outer_lane():
    right_turn = draw(">v\n.v")
    left_turn = draw(">^\n..")
    assert lengths_at(right_turn, 1, 0) == [295, 106]
    assert lengths_at(left_turn, 1, 0) == [106, 295]


def test_r7_feeder_behind_or_two_at_the_sides_keep_a_belt_straight():
    assert lengths_at(draw(".v\n>v\n.v"), 1, 1) == [256, 256]
    assert lengths_at(draw("...\n>v<\n.v."), 1, 1) == [256, 256]


def test_r7_sources_feed_and_sinks_turn_but_a_sink_feeds_nothing():
    assert lengths_at(draw("SK", S=source(EAST), K=sink(SOUTH)), 1, 0) == [295, 106]
    assert lengths_at(draw("Kv", K=sink(EAST)), 1, 0) == [256, 256]


def test_r7_inserters_and_belts_pointing_elsewhere_do_not_shape_a_belt():
    assert lengths_at(draw("Av\n..", A=arm(EAST)), 1, 0) == [256, 256]
    assert lengths_at(draw("^v\n.."), 1, 0) == [256, 256]


@pytest.mark.parametrize("text", [">.", "><", ">S"])
def test_r9_lane_dead_ends_before_nothing_head_on_and_before_a_source(text):
    layout = draw(text, S=source(EAST))
    assert list(lanes_at(layout, 0, 0)["link"]) == [DEAD_END, DEAD_END]


def test_r9_head_on_sink_is_a_dead_end():
    layout = draw(">K", K=sink(WEST))
    assert list(lanes_at(layout, 0, 0)["link"]) == [DEAD_END, DEAD_END]


def test_r9_lane_continues_into_the_same_lane_ahead_and_round_a_turn():
    layout = draw(">>v\n..v")
    for x, ahead in ((0, 1), (1, 2)):
        lanes = lanes_at(layout, x, 0)
        assert list(lanes["link"]) == [CONTINUE, CONTINUE]
        assert list(lanes["target"]) == [2 * ahead, 2 * ahead + 1]


@pytest.mark.parametrize(
    ("text", "side_belt", "target_lane", "entries"),
    [
        (".^\n>^\n.^", (0, 1), 0, [67, 188]),  # from the left
        ("^.\n^<\n^.", (1, 1), 1, [188, 67]),  # from the right
    ],
)
def test_r9_sideload_uses_the_near_lane_and_two_entry_points(text, side_belt, target_lane, entries):
    layout = draw(text)
    lanes = lanes_at(layout, *side_belt)
    target = side_belt[1] * layout.width + (1 - side_belt[0])
    assert list(lanes["link"]) == [SIDELOAD, SIDELOAD]
    assert list(lanes["target"]) == [2 * target + target_lane] * 2
    assert list(lanes["entry"]) == entries


def test_r10_chain_offsets_add_the_lengths_ahead():
    layout = draw(">v\n.v")
    plan, _ = compile_layout(layout)
    outer = [plan.lanes[2 * tile]["offset"] for tile in (3, 1, 0)]
    assert outer == [0, 256, 256 + 295]


def test_r10_ring_gives_two_loops_with_coordinate_zero_on_the_first_tile():
    plan, _ = compile_layout(draw(">v\n^<"))
    assert list(plan.chains["is_loop"]) == [1, 1]
    assert list(plan.chains["total"]) == [4 * 295, 4 * 106]
    assert [int(offset) for offset in plan.lanes["offset"][::2]] == [0, 885, 295, 590]


def test_r14_chains_move_after_their_target_and_downstream_entries_first():
    layout = draw("..^\n..^<\n.>^\n..^")
    assert chains_in_order(layout) == [
        (2, 0, 0),
        (1, 2, 0),
        (1, 2, 1),
        (2, 0, 1),
        (3, 1, 1),  # right lane at 67 of the second tile
        (3, 1, 0),  # then 188
    ]


def test_r14_chain_that_comes_earlier_by_its_tile_still_waits_for_its_target():
    layout = draw("v.\nv<\nv.\n>^")
    order = chains_in_order(layout)
    assert order.index((1, 1, 0)) > order.index((1, 3, 0))


def test_r34_arms_act_from_the_last_row_and_the_last_column_first():
    layout = draw(
        """
        >>>>
        AAAA
        >>>>
        .B..
        >>>>
        """,
        A=arm(SOUTH),
        B=arm(SOUTH),
    )
    plan, _ = compile_layout(layout)
    picked = [int(lane) // 2 for lane in plan.arms["from_lane"]]
    assert picked == [9, 3, 2, 1, 0]


PICKUPS = {
    "belt": True,
    "source": True,
    "sink": True,
    "asm": True,
    "furnace": True,
    "chest_src": True,
    "chest_sink": False,
    "inserter": False,
    None: False,
}
DROPS = {**PICKUPS, "source": False, "chest_src": False, "chest_sink": True}
"""Which kinds an arm that takes part may pick from and drop to (R6); None: empty ground."""

ENDS = {
    "belt": Entity("belt", 0, 0, NORTH),
    "source": source(NORTH),
    "sink": sink(NORTH),
    "asm": asm(None),
    "furnace": furnace(None),
    "chest_src": chest(),
    "chest_sink": chest_sink(),
    "inserter": arm(NORTH),
}


def row(middle: Entity, pickup: Entity | None, target: Entity | None) -> Layout:
    """An arm that drops east, at x = 6, with what stands at its reach on both sides."""
    entities = [replace(middle, x=6, y=2)]
    if pickup is not None:
        left = 6 - middle.reach - (pickup.size - 1)
        entities.append(replace(pickup, x=left, y=2))
    if target is not None:
        entities.append(replace(target, x=6 + middle.reach, y=2))
    return Layout(14, 6, tuple(entities))


@pytest.mark.parametrize("prototype", ["inserter", "long-handed-inserter"])
@pytest.mark.parametrize("pickup", PICKUPS)
@pytest.mark.parametrize("target", DROPS)
def test_r6_arm_takes_part_only_between_usable_tiles(prototype, pickup, target):
    layout = row(arm(EAST, prototype), ENDS.get(pickup), ENDS.get(target))
    plan, _ = compile_layout(layout)
    active = [a for a in plan.arms if a["tile"] == 2 * 14 + 6]
    assert len(active) == (PICKUPS[pickup] and DROPS[target])


@pytest.mark.parametrize("prototype", ["inserter", "long-handed-inserter"])
@pytest.mark.parametrize("shift", [0, 1])
def test_r6_arm_reaching_off_the_grid_takes_no_part(prototype, shift):
    """The same three entities, with the grid cut right at or right before the far one."""
    hand = arm(EAST, prototype)
    whole = row(hand, ENDS["chest_src"], ENDS["chest_sink"])
    cut = Layout(7 + hand.reach - shift, 6, whole.entities[: 3 - shift])
    assert len(compile_layout(cut)[0].arms) == 1 - shift


def test_r6_inert_arms_change_nothing_and_never_move():
    layout = draw("S>K\n.A.\n...", S=source(EAST), K=sink(EAST), A=arm(SOUTH))
    result = verify(layout)
    bare = verify(draw("S>K\n...\n...", S=source(EAST), K=sink(EAST)))
    assert result == bare


def test_r6_arm_between_machines_without_recipe_takes_part():
    layout = draw("M..AN..\n.......\n.......", M=asm(None), N=asm(None), A=arm(EAST))
    assert len(compile_layout(layout)[0].arms) == 1


def test_r6_reach_is_two_for_long_arms_and_one_for_others():
    layout = row(arm(EAST, "long-handed-inserter"), ENDS["belt"], ENDS["belt"])
    (hand,) = compile_layout(layout)[0].arms
    assert (hand["from_lane"] // 2, hand["to_lane"] // 2) == (2 * 14 + 4, 2 * 14 + 8)


@pytest.mark.parametrize(
    ("text", "drop", "lane", "position"),
    [
        ("K\nA\n>", SOUTH, 1, 128),  # across: the lane far from the arm
        ("K\nA\n<", SOUTH, 0, 128),
        ("K\nA\nv", SOUTH, 1, 77),  # running away from the arm
        ("K\nA\n^", SOUTH, 1, 179),  # running towards the arm
        (".K\n.A\n>v", SOUTH, 1, 53),  # right turn, towards the inner corner
        (">v\n.A\n.K", NORTH, 0, 147),  # right turn, away from it
        ("K.\nA.\nv<", SOUTH, 0, 53),  # left turn, towards the inner corner
        ("v<\nA.\nK.", NORTH, 1, 147),  # left turn, away from it
    ],
)
def test_r32_drop_lane_and_position(text, drop, lane, position):
    plan, _ = compile_layout(draw(text, A=arm(drop), K=sink(NORTH)))
    assert [(int(a["to_lane"]) % 2, int(a["to_position"])) for a in plan.arms] == [(lane, position)]
