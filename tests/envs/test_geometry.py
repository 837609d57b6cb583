"""Symmetries of tasks and placements: group laws and one case worked by hand."""

from fractions import Fraction

import pytest

from envs.geometry import (
    NUM_SYMMETRIES,
    transform_cell,
    transform_direction,
    transform_placement,
    transform_spec,
)
from envs.layout import DIRECTION_VECTORS, EAST, SOUTH, WEST
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, Port, TaskSpec

SPEC = TaskSpec(
    width=5,
    height=4,
    blocked=((1, 2), (3, 0)),
    ports=(
        Port(0, 1, EAST, False, "iron-plate", None),
        Port(4, 3, SOUTH, True, "pipe", "pipe"),
    ),
    recipes=("pipe",),
    target_item="pipe",
    target_rate=Fraction(6, 7),
    placement_limit=20,
    family="pipe",
)


def test_quarter_turn_matches_a_case_worked_by_hand() -> None:
    turned = transform_spec(SPEC, 1)
    assert (turned.width, turned.height) == (4, 5)
    assert turned.blocked == ((1, 1), (3, 3))
    assert turned.ports == (
        Port(2, 0, SOUTH, False, "iron-plate", None),
        Port(0, 4, WEST, True, "pipe", "pipe"),
    )


def test_mirror_swaps_east_and_west_and_the_lanes() -> None:
    mirrored = transform_spec(SPEC, 4)
    assert mirrored.blocked == ((1, 0), (3, 2))
    assert mirrored.ports[0] == Port(4, 1, WEST, False, None, "iron-plate")
    assert mirrored.ports[1] == Port(0, 3, SOUTH, True, "pipe", "pipe")


@pytest.mark.parametrize("symmetry", range(NUM_SYMMETRIES))
def test_directions_turn_with_the_cells(symmetry: int) -> None:
    for direction, (dx, dy) in enumerate(DIRECTION_VECTORS):
        x, y = transform_cell(1, 1, 5, 4, symmetry)
        ahead_x, ahead_y = transform_cell(1 + dx, 1 + dy, 5, 4, symmetry)
        vector = DIRECTION_VECTORS[transform_direction(direction, symmetry)]
        assert (ahead_x - x, ahead_y - y) == vector


@pytest.mark.parametrize("symmetry", range(1, 4))
def test_turning_back_restores_the_task(symmetry: int) -> None:
    assert transform_spec(transform_spec(SPEC, symmetry), 4 - symmetry) == SPEC


@pytest.mark.parametrize("symmetry", range(4, NUM_SYMMETRIES))
def test_each_mirror_undoes_itself(symmetry: int) -> None:
    assert transform_spec(transform_spec(SPEC, symmetry), symmetry) == SPEC


def test_the_eight_symmetries_differ() -> None:
    forms = {transform_spec(SPEC, symmetry) for symmetry in range(NUM_SYMMETRIES)}
    assert len(forms) == NUM_SYMMETRIES


@pytest.mark.parametrize("symmetry", range(4))
@pytest.mark.parametrize("kind", [MACHINE, BELT, INSERTER])
def test_a_placement_turns_with_its_task_and_back(symmetry: int, kind: int) -> None:
    put = Placement(kind, 2, 1, EAST)
    turned = transform_placement(put, 5, 4, symmetry)
    spec = transform_spec(SPEC, symmetry)
    assert all(0 <= x < spec.width and 0 <= y < spec.height for x, y in turned.cells())
    assert transform_placement(turned, spec.width, spec.height, -symmetry % 4) == put


def test_a_belt_turns_its_flow_and_a_machine_keeps_its_recipe() -> None:
    assert transform_placement(Placement(BELT, 0, 1, EAST), 5, 4, 1) == Placement(BELT, 2, 0, SOUTH)
    assert transform_placement(Placement(MACHINE, 1, 1, 3), 5, 4, 1) == Placement(MACHINE, 2, 1, 3)
    assert transform_placement(Placement(INSERTER, 0, 1, EAST), 5, 4, 4) == Placement(
        INSERTER, 4, 1, WEST
    )
