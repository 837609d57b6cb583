"""Which single changes are proposed: each is valid, small, and does what its words say."""

from collections import Counter
from dataclasses import replace

import pytest
from diagnosis_layouts import BURNER, FAST, all_public, diagnosed, gear_row, passing_copper
from verifier_layouts import COPPER, GEAR, IRON, arm, asm, chest, chest_sink, draw, sink, source

from envs.catalogue import ARMS, MACHINES
from envs.layout import EAST, SOUTH, Entity, Layout, validate
from envs.verifier.changes import FASTER, Change, article, propose_changes


def proposed(layout: Layout) -> list[Change]:
    everywhere = {tile for one in layout.entities for tile in one.tiles()}
    return list(propose_changes(layout, diagnosed(layout), everywhere))


def differing(before: Layout, after: Layout) -> tuple[list[Entity], list[Entity]]:
    """Entities that only one of two layouts has."""
    return (
        list((Counter(before.entities) - Counter(after.entities)).elements()),
        list((Counter(after.entities) - Counter(before.entities)).elements()),
    )


@pytest.mark.parametrize("layout", all_public().values(), ids=all_public().keys())
def test_each_change_is_valid_and_touches_one_entity(layout: Layout) -> None:
    for change in proposed(layout):
        validate(change.layout)
        assert (change.layout.width, change.layout.height) == (layout.width, layout.height)
        gone, new = differing(layout, change.layout)
        assert len(new) == 1
        assert (new[0].x, new[0].y) == (change.x, change.y)
        assert [(one.x, one.y) for one in gone] in ([], [(change.x, change.y)])
        assert "\n" not in change.subject + change.words


def test_what_counts_as_faster_is_faster_and_fits_in_the_same_place() -> None:
    for old, new in FASTER.items():
        if old in ARMS:
            assert ARMS[new].rotation_per_tick > ARMS[old].rotation_per_tick
            assert ARMS[new].reach_tiles == ARMS[old].reach_tiles
        else:
            assert MACHINES[new].speed_quarters > MACHINES[old].speed_quarters
            assert MACHINES[new].size == MACHINES[old].size
            assert MACHINES[new].smelts == MACHINES[old].smelts


def test_the_busiest_come_first() -> None:
    """Uses: machine 15/19, bringing arm 12/19, taking arm 1."""
    assert [(one.subject, one.words) for one in proposed(gear_row(FAST, BURNER))] == [
        ("burner-inserter at (5, 1)", "a fast-inserter there"),
        ("assembling-machine-1 at (2, 0)", "an assembling-machine-2 there"),
    ]


def test_only_entities_within_are_changed() -> None:
    layout = gear_row(arm(EAST), BURNER)
    changes = propose_changes(layout, diagnosed(layout), {(1, 1)})
    assert {change.subject for change in changes} == {"inserter at (1, 1)"}


BETWEEN_BELTS = draw(
    """
    S>>>
    .A..
    >>>K
    """,
    S=source(EAST),
    A=arm(SOUTH),
    K=sink(EAST),
)


def places_of_second(layout: Layout) -> list[tuple[int, int]]:
    return [(one.x, one.y) for one in proposed(layout) if one.words.startswith("a second")]


def test_a_second_arm_stands_beside_the_first_on_free_tiles() -> None:
    assert places_of_second(BETWEEN_BELTS) == [(0, 1), (2, 1), (3, 1)]
    taken = replace(BETWEEN_BELTS, entities=(*BETWEEN_BELTS.entities, Entity("chest_sink", 2, 1)))
    assert places_of_second(taken) == [(0, 1), (3, 1)]


def test_a_second_arm_serves_the_same_machine() -> None:
    layout = draw(
        """
        ..M...v
        CB...Tv
        ......K
        """,
        C=chest(),
        B=FAST,
        M=asm(GEAR),
        T=arm(EAST),
        K=sink(SOUTH, GEAR),
    )
    assert places_of_second(layout) == [(5, 0), (5, 2)]


def test_a_second_arm_does_not_fill_another_chest() -> None:
    layout = draw("CAK\nC.K", C=chest(), A=FAST, K=chest_sink())
    assert places_of_second(layout) == []


def test_no_second_arm_beside_one_that_never_moves() -> None:
    assert places_of_second(passing_copper()) == []


def test_an_empty_source_lane_is_filled_with_the_other_lanes_item() -> None:
    layout = draw("S>K", S=source(EAST, None, COPPER), K=sink(EAST, COPPER))
    (change,) = proposed(layout)
    assert differing(layout, change.layout)[1] == [replace(source(EAST, COPPER, COPPER), x=0, y=0)]
    assert change.words == "copper-plate on its left lane too"
    assert change.subject == "input at (0, 0), which has copper-plate on one lane only"
    for both in (source(EAST, IRON, COPPER), source(EAST, None, None)):
        assert proposed(draw("S>K", S=both, K=sink(EAST, COPPER))) == []


def test_what_is_fastest_is_left_alone() -> None:
    layout = draw(
        "CAM..TK\n.......\n.......",
        C=chest(),
        A=FAST,
        M=asm(GEAR, "assembling-machine-3"),
        T=FAST,
        K=chest_sink(GEAR),
    )
    assert proposed(layout) == []


def test_articles_fit_the_word() -> None:
    assert article("assembling-machine-2") == "an assembling-machine-2"
    assert article("fast-inserter") == "a fast-inserter"
