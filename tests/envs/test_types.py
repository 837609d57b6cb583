"""Tasks as arrays: padding, dtypes, and what does not fit."""

from dataclasses import fields, replace
from fractions import Fraction

import jax
import numpy as np
import pytest

from envs.errors import UserError
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, Port, TaskSpec
from envs.types import (
    NO_SLOT,
    EnvShape,
    State,
    Task,
    TaskShapeError,
    board_placements,
    stack_tasks,
    task_arrays,
)

SHAPE = EnvShape(height=6, width=9, item_slots=6, recipe_slots=4, max_ports=4)


@pytest.fixture
def spec() -> TaskSpec:
    """A circuit from cables that are made here; items: plate, cable, circuit, copper plate."""
    ports = (
        Port(0, 2, 1, False, "iron-plate", None),
        Port(4, 0, 2, False, None, "copper-plate"),
        Port(8, 5, 1, True, "electronic-circuit", "electronic-circuit"),
    )
    recipes = ("electronic-circuit", "copper-cable")
    return TaskSpec(
        9, 6, ((3, 1), (7, 4)), ports, recipes, "electronic-circuit", Fraction(3, 7), 25, "circuits"
    )


def test_arrays_hold_the_task_in_its_own_slots(spec: TaskSpec) -> None:
    task = task_arrays(spec, SHAPE)
    assert np.argwhere(task.blocked).tolist() == [[1, 3], [4, 7]]
    assert task.port_cell.tolist() == [2 * 9, 4, 5 * 9 + 8, NO_SLOT]
    assert task.port_direction.tolist() == [1, 2, 1, 0]
    assert task.port_is_sink.tolist() == [False, False, True, False]
    assert task.port_items.tolist() == [[0, -1], [-1, 3], [2, 2], [-1, -1]]
    assert task.ingredients.tolist() == [[1, 3, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0] * 6, [0] * 6]
    assert task.products.tolist() == [[0, 0, 1, 0, 0, 0], [0, 2, 0, 0, 0, 0], [0] * 6, [0] * 6]
    assert task.craft_ticks.tolist() == [60, 60, 0, 0]
    scalars = (task.target_slot, task.target_numerator, task.target_denominator)
    assert [int(scalar) for scalar in (*scalars, task.placement_limit)] == [2, 3, 7, 25]


def test_every_leaf_is_numpy_int32_or_bool(spec: TaskSpec) -> None:
    task = task_arrays(spec, SHAPE)
    for field in fields(Task):
        leaf = getattr(task, field.name)
        is_flag = field.name in ("blocked", "port_is_sink")
        assert isinstance(leaf, np.ndarray | np.generic)
        assert leaf.dtype == (np.bool_ if is_flag else np.int32)


def test_all_tasks_of_a_shape_have_the_same_avals(spec: TaskSpec) -> None:
    small = replace(spec, ports=spec.ports[2:], recipes=spec.recipes[:1], blocked=())
    shapes = [jax.tree.map(np.shape, task_arrays(one, SHAPE)) for one in (spec, small)]
    assert shapes[0] == shapes[1]


def test_stacked_tasks_get_a_leading_axis(spec: TaskSpec) -> None:
    tasks = [task_arrays(one, SHAPE) for one in (spec, replace(spec, placement_limit=7), spec)]
    stacked = stack_tasks(tasks)
    assert stacked.blocked.shape == (3, 6, 9)
    assert stacked.placement_limit.tolist() == [25, 7, 25]
    assert all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(stacked))
    second = jax.tree.map(lambda leaf: leaf[1], stacked)
    assert int(second.placement_limit) == 7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 8}, r"grid is 8 x 6, the environment's 9 x 6; set env\.width and env\.height"),
        ({"height": 9}, r"grid is 9 x 9, the environment's 9 x 6"),
        (
            {"recipes": ("electronic-circuit", "pipe", "assembling-machine-1", "splitter")},
            r"needs env\.item_slots >= 8, it is 6; raise it",
        ),
        (
            {"recipes": ("pipe", "iron-stick", "pipe", "iron-stick", "pipe")},
            r"needs env\.recipe_slots >= 5, it is 4; raise it",
        ),
        (
            {"ports": (Port(0, 0, 1, False, "iron-plate", None),) * 5},
            r"needs env\.max_ports >= 5, it is 4; raise it",
        ),
        (
            {"ports": (Port(0, 0, 1, False, "stone", None),)},
            r"ports or target name stone, which no recipe .* its items are iron-plate, copper-cab",
        ),
        ({"target_item": "pipe"}, r"ports or target name pipe, which no recipe"),
    ],
)
def test_a_task_that_does_not_fit_is_refused_with_the_setting_to_change(
    spec: TaskSpec, change: dict, message: str
) -> None:
    with pytest.raises(TaskShapeError, match=message) as caught:
        task_arrays(replace(spec, **change), SHAPE)
    assert isinstance(caught.value, UserError)


@pytest.mark.parametrize(
    ("slots", "message"),
    [
        ({"item_slots": 9}, r"env\.item_slots is 9; it must be 1 to 8"),
        ({"item_slots": 0}, r"env\.item_slots is 0; it must be 1 to 8"),
        ({"recipe_slots": 5}, r"env\.recipe_slots is 5; it must be 1 to 4"),
    ],
)
def test_a_shape_with_too_many_slots_is_refused(slots: dict, message: str) -> None:
    with pytest.raises(TaskShapeError, match=message):
        replace(SHAPE, **slots)


def test_placements_of_a_board_come_in_row_major_order() -> None:
    entity, rotation = np.zeros((6, 9), np.uint8), np.zeros((6, 9), np.uint8)
    placements = [
        Placement(BELT, 8, 0, 3),
        Placement(MACHINE, 2, 3, 1),
        Placement(INSERTER, 4, 3, 2),
        Placement(BELT, 0, 5, 0),
    ]
    for put in placements:
        entity[put.y, put.x], rotation[put.y, put.x] = put.kind + 1, put.rotation
    assert board_placements(entity, rotation) == placements


def test_pytrees_survive_maps_to_other_leaves(spec: TaskSpec) -> None:
    task = task_arrays(spec, SHAPE)
    flags = jax.tree.map(lambda leaf: True, State(task, None))  # pyright: ignore
    assert flags.task.blocked is True
    shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), task)
    assert shapes.ingredients.shape == (4, 6)
