"""The action numbering, as the design fixes it."""

import jax.numpy as jnp
import numpy as np
import pytest

from envs.actions import decode, encode, finish_action, num_actions
from envs.task_spec import BELT, INSERTER, MACHINE, Placement


def test_a_12_by_12_grid_has_1729_actions() -> None:
    assert num_actions(12, 12) == 1729
    assert finish_action(12, 12) == 1728


@pytest.mark.parametrize(("height", "width"), [(12, 12), (5, 8), (8, 5)])
def test_every_action_but_finish_is_one_placement_and_back(height: int, width: int) -> None:
    placements = [decode(action, height, width) for action in range(finish_action(height, width))]
    assert [encode(put, height, width) for put in placements] == list(range(len(placements)))
    assert len(set(placements)) == num_actions(height, width) - 1
    assert {put.kind for put in placements} == {MACHINE, BELT, INSERTER}
    assert {put.x for put in placements} == set(range(width))
    assert {put.y for put in placements} == set(range(height))
    assert {put.rotation for put in placements} == set(range(4))


def test_digits_of_an_action_are_kind_row_column_and_rotation() -> None:
    assert encode(Placement(BELT, x=3, y=2, rotation=1), 5, 7) == ((1 * 35) + 2 * 7 + 3) * 4 + 1
    assert decode(0, 5, 7) == Placement(MACHINE, 0, 0, 0)
    assert decode(finish_action(5, 7) - 1, 5, 7) == Placement(INSERTER, 6, 4, 3)


@pytest.mark.parametrize("number", [np.int32, jnp.int32])
def test_array_scalars_are_decoded_like_ints(number: type) -> None:
    assert decode(number(777), 12, 12) == decode(777, 12, 12)


@pytest.mark.parametrize("action", [-1, 1728, 1729, 5000])
def test_decoding_no_placement_says_what_is_allowed(action: int) -> None:
    with pytest.raises(ValueError, match=rf"action {action} is no placement.* 0 to 1727"):
        decode(action, 12, 12)
