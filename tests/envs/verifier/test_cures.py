"""Changes that make a silent output flow: what is tried, in which order, and what it cures."""

from fractions import Fraction

from diagnosis_layouts import TICK_CAP, all_public, diagnosed
from verifier_layouts import COPPER, GEAR, IRON, arm, asm, chest_sink, draw, sink, source

from envs.layout import EAST, SOUTH, Layout, validate
from envs.verifier.bottleneck import Bottleneck, find_bottleneck
from envs.verifier.changes import Change
from envs.verifier.cures import propose_cures


def found(layout: Layout) -> Bottleneck:
    return find_bottleneck(layout, diagnosed(layout), TICK_CAP)


def cures_of(layout: Layout) -> list[Change]:
    """What is proposed for the first output."""
    return list(propose_cures(layout, diagnosed(layout).verified.rates[0]))


def test_a_belt_turned_the_wrong_way_is_turned_back() -> None:
    result = found(draw("S>^>K", S=source(EAST), K=sink(EAST)))
    assert result.sentence == (
        "iron-plate at (4, 0) delivers nothing because of the belt at (2, 0), which flows north; "
        "turning it east lifts it from 0 to 15 items/s"
    )


def test_an_inserter_turned_the_wrong_way_is_turned_back() -> None:
    layout = draw(
        "S>>>\n..A.\nM...\n...BK\n.....",
        S=source(EAST),
        A=arm(0),
        M=asm(GEAR),
        B=arm(EAST),
        K=chest_sink(GEAR),
    )
    result = found(layout)
    assert (result.rate, result.change, result.change_x, result.change_y) == (
        0,
        "turning it south",
        2,
        1,
    )


def test_an_item_that_blocks_the_machine_is_taken_off_its_input() -> None:
    result = found(all_public()["p083"])
    assert result.sentence == (
        "electronic-circuit at (3, 3) delivers nothing because of the input at (0, 5), which "
        "brings iron-plate on its left lane; leaving its left lane empty lifts it from 0 to 2/3 "
        "items/s"
    )


def test_outputs_that_get_something_are_not_cured() -> None:
    """Without its other input this belt would bring twice as much of the scored item."""
    result = found(all_public()["sideload_T"])
    assert (result.rate, result.change, result.changes_tried) == (Fraction(15, 2), None, 0)


def test_half_of_the_public_layouts_that_deliver_nothing_are_cured() -> None:
    silent = [one for one in map(found, all_public().values()) if one.rate == 0]
    assert 2 * sum(one.change is not None for one in silent) >= len(silent) >= 30


def test_inputs_come_before_inserters_and_these_before_belts() -> None:
    layout = draw("S>>\n.A.\n>>K", S=source(EAST, COPPER), A=arm(SOUTH), K=sink(EAST, GEAR))
    words = [(one.words, one.x, one.y) for one in cures_of(layout)]
    assert words[:3] == [
        ("leaving its left lane empty", 0, 0),
        ("leaving its right lane empty", 0, 0),
        ("leaving both its lanes empty", 0, 0),
    ]
    assert words[3:7] == [
        ("turning it west", 1, 1),
        ("turning it north", 1, 1),
        ("turning it east", 1, 1),
        ("removing it", 1, 1),
    ]
    assert len(words) == 3 + 4 + 4 * 4


def test_what_could_bring_items_to_the_output_comes_first_then_what_is_next_to_it() -> None:
    layout = draw(">....\n.....\nv....\nS>>K.", S=source(EAST), K=sink(EAST, COPPER))
    belts = [(one.x, one.y) for one in cures_of(layout) if one.words == "removing it"]
    assert belts == [(1, 3), (2, 3), (0, 2), (0, 0)]


def test_each_cure_is_valid_and_changes_one_entity() -> None:
    for layout in list(all_public().values())[::9]:
        for change in cures_of(layout):
            validate(change.layout)
            gone = set(layout.entities) - set(change.layout.entities)
            new = set(change.layout.entities) - set(layout.entities)
            assert [(one.x, one.y) for one in gone] == [(change.x, change.y)]
            assert len(new) <= 1
            assert {(one.kind, one.x, one.y) for one in new} <= {
                (one.kind, one.x, one.y) for one in gone
            }


def test_an_input_without_items_has_nothing_to_take_off() -> None:
    layout = draw("SK", S=source(EAST, None, IRON), K=sink(EAST, COPPER))
    assert [one.subject for one in cures_of(layout)] == [
        "input at (0, 0), which brings iron-plate on its right lane"
    ]
