"""Solved tasks: their JSON form, and figures of difficulty counted by hand."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from envs.layout import EAST, NORTH, WEST
from envs.solved import (
    Difficulty,
    Solved,
    difficulty,
    recipe_depth,
    solved_from_json,
    solved_to_json,
)
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, Port, TaskSpec

CABLE, CIRCUIT, GEAR = "copper-cable", "electronic-circuit", "iron-gear-wheel"
SPEC = TaskSpec(
    width=12,
    height=5,
    blocked=((0, 4),),
    ports=(
        Port(0, 1, EAST, False, "copper-plate", None),
        Port(8, 4, EAST, False, "iron-plate", "iron-plate"),
        Port(11, 1, EAST, True, CIRCUIT, CIRCUIT),
    ),
    recipes=(CABLE, CIRCUIT),
    target_item=CIRCUIT,
    target_rate=Fraction(2, 7),
    placement_limit=12,
    family="circuit-own-cable-direct",
)
FROM_COPPER = (
    Placement(BELT, 1, 1, EAST),
    Placement(INSERTER, 2, 1, EAST),
    Placement(MACHINE, 4, 1, 0),
    Placement(INSERTER, 6, 1, EAST),
    Placement(MACHINE, 8, 1, 1),
)
FROM_IRON, TO_SINK = Placement(INSERTER, 8, 3, NORTH), Placement(INSERTER, 10, 1, EAST)
SOLVED = Solved(SPEC, (*FROM_COPPER, FROM_IRON, TO_SINK))


def test_json_form_restores_the_solved_task() -> None:
    assert solved_from_json(json.loads(json.dumps(solved_to_json(SOLVED)))) == SOLVED


def test_figures_of_a_module_by_hand() -> None:
    # The longest way: belt, arm, cable machine, arm, circuit machine, arm.
    assert difficulty(SOLVED) == Difficulty(placements=7, machines=2, depth=2, path_length=6)


def test_the_length_of_the_path_does_not_depend_on_the_order() -> None:
    machine = FROM_COPPER[-1]
    iron_first = (FROM_IRON, machine, *FROM_COPPER[:-1], TO_SINK)
    assert difficulty(Solved(SPEC, iron_first)).path_length == 6


def test_side_branches_count_as_placements_but_not_into_the_path() -> None:
    detour = (Placement(BELT, 0, 2, WEST), Placement(BELT, 9, 4, EAST))
    assert difficulty(Solved(SPEC, (*SOLVED.placements, *detour))) == Difficulty(9, 2, 2, 6)


def test_an_empty_reference_has_no_length() -> None:
    assert difficulty(Solved(SPEC, ())) == Difficulty(0, 0, 2, 0)


def test_figures_are_stored_with_the_task() -> None:
    stored = solved_to_json(SOLVED)["difficulty"]
    assert stored == {"placements": 7, "machines": 2, "depth": 2, "path_length": 6}


@pytest.mark.parametrize(
    ("recipes", "target", "depth"),
    [
        ((GEAR,), GEAR, 1),
        ((CABLE, CIRCUIT), CIRCUIT, 2),
        ((CABLE, CIRCUIT), CABLE, 1),
        ((GEAR, "inserter"), "inserter", 2),
        ((GEAR, CABLE, CIRCUIT, "inserter"), "inserter", 3),
        ((GEAR, "transport-belt", "underground-belt"), "underground-belt", 3),
    ],
)
def test_depth_is_the_longest_chain_of_stages(
    recipes: tuple[str, ...], target: str, depth: int
) -> None:
    assert recipe_depth(replace(SPEC, recipes=recipes, target_item=target)) == depth
