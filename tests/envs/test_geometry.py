"""Symmetries of tasks and placements: group laws and one case worked by hand."""

from fractions import Fraction

import pytest

from envs.geometry import (
    NUM_SYMMETRIES,
    transform_cell,
    transform_direction,
    transform_spec,
)
from envs.layout import DIRECTION_VECTORS, EAST, SOUTH, WEST
from envs.task_spec import Port, TaskSpec

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
