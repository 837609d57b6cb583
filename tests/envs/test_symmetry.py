"""Quarter turns: they commute with the game, and recipe slots are not directions."""

from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from example_states import (
    batch_legal,
    batch_of,
    batch_step,
    placements_on,
    random_action,
    random_spec,
    random_states,
    state_of,
    unbatched,
)

from envs.actions import decode, encode, num_actions
from envs.geometry import transform_cell, transform_direction, transform_spec
from envs.observation import observe
from envs.reach import reachable_items
from envs.symmetry import rotate_policy, rotate_state
from envs.task_spec import BELT, INSERTER, MACHINE, Placement
from envs.types import EnvShape, State

SIZE = 7
SHAPE = EnvShape(SIZE, SIZE, item_slots=5, recipe_slots=4, max_ports=4)
ACTIONS = num_actions(SIZE, SIZE)
BATCH = 24

batch_reach = jax.jit(jax.vmap(reachable_items))
batch_observe = jax.jit(jax.vmap(observe))
rotate_states = jax.jit(jax.vmap(rotate_state, in_axes=(0, None)))
rotate_policies = jax.jit(jax.vmap(rotate_policy, in_axes=(0, None, None)), static_argnums=2)


def rotate_placement(put: Placement, width: int, height: int, quarter_turns: int) -> Placement:
    """A placement on a grid of `width` x `height` turned clockwise; recipe slots stay."""
    x, y = transform_cell(put.x, put.y, width, height, quarter_turns)
    turned = (
        put.rotation if put.kind == MACHINE else transform_direction(put.rotation, quarter_turns)
    )
    return Placement(put.kind, x, y, turned)


def turns_array(quarter_turns: int) -> jax.Array:
    return jnp.asarray(quarter_turns, jnp.int32)


def rotate_action(action: int, quarter_turns: int) -> int:
    """By the jax-free geometry; finish stays."""
    if action == ACTIONS - 1:
        return action
    put = rotate_placement(decode(action, SIZE, SIZE), SIZE, SIZE, quarter_turns)
    return encode(put, SIZE, SIZE)


def assert_same(left: State, right: State) -> None:
    """Equal but for the direction of ports that are not there."""
    present = left.task.port_cell >= 0
    left, right = (
        replace(
            state,
            task=replace(
                state.task, port_direction=jnp.where(present, state.task.port_direction, 0)
            ),
        )
        for state in (left, right)
    )
    for one, other in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.fixture(scope="module")
def states() -> State:
    return random_states(31, BATCH, SHAPE, 12)[1]


@pytest.mark.parametrize("quarter_turns", range(4))
def test_turned_states_equal_states_of_turned_tasks(quarter_turns: int) -> None:
    specs, states = random_states(32, BATCH, SHAPE, 12)
    boards = jax.device_get(states.board)
    turned = [
        state_of(
            transform_spec(spec, quarter_turns),
            SHAPE,
            [
                rotate_placement(put, SIZE, SIZE, quarter_turns)
                for put in placements_on(unbatched(boards, index))
            ],
        )
        for index, spec in enumerate(specs)
    ]
    assert_same(rotate_states(states, turns_array(quarter_turns)), batch_of(turned))


def test_four_quarter_turns_are_the_identity(states: State) -> None:
    turned = states
    for _ in range(4):
        turned = rotate_states(turned, turns_array(1))
    assert_same(turned, states)
    assert_same(rotate_states(states, turns_array(4)), states)
    policy = jax.random.uniform(jax.random.key(0), (2, ACTIONS))
    turned_policy = policy
    for _ in range(4):
        turned_policy = rotate_policies(turned_policy, turns_array(1), SIZE)
    np.testing.assert_array_equal(turned_policy, policy)


def test_turns_add_up(states: State) -> None:
    twice = rotate_states(rotate_states(states, turns_array(1)), turns_array(2))
    assert_same(twice, rotate_states(states, turns_array(3)))
    assert_same(rotate_states(states, turns_array(-1)), rotate_states(states, turns_array(3)))


def test_types_survive_a_turn(states: State) -> None:
    turned = rotate_states(states, turns_array(1))
    assert jax.tree.map(jax.typeof, turned) == jax.tree.map(jax.typeof, states)


@pytest.mark.parametrize("quarter_turns", [1, 2, 3])
def test_weights_of_a_policy_move_with_their_actions(quarter_turns: int) -> None:
    policy = jnp.arange(ACTIONS, dtype=jnp.float32)
    turned = rotate_policies(policy[None], turns_array(quarter_turns), SIZE)[0]
    turned = np.asarray(turned)
    for action in range(ACTIONS):
        assert turned[rotate_action(action, quarter_turns)] == action


def test_recipe_slots_are_not_turned() -> None:
    machine, belt = Placement(MACHINE, 2, 3, 2), Placement(BELT, 5, 5, 3)
    arm = Placement(INSERTER, 1, 5, 0)
    spec = replace(random_spec(np.random.default_rng(1), SIZE, SIZE), ports=(), blocked=())
    turned = rotate_state(state_of(spec, SHAPE, [machine, belt, arm]), turns_array(1))
    assert set(placements_on(turned.board)) == {
        Placement(MACHINE, 3, 2, 2),
        Placement(BELT, 1, 5, 0),
        Placement(INSERTER, 1, 1, 1),
    }


@pytest.mark.parametrize("quarter_turns", [1, 2, 3])
def test_turning_commutes_with_step_and_legal_actions(states: State, quarter_turns: int) -> None:
    turned = rotate_states(states, turns_array(quarter_turns))
    masks = batch_legal(states)
    moved_masks = rotate_policies(masks.astype(jnp.float32), turns_array(quarter_turns), SIZE)
    np.testing.assert_array_equal(batch_legal(turned), moved_masks > 0)

    rng = np.random.default_rng(quarter_turns)
    actions = [random_action(rng, mask, finish_chance=0.1) for mask in np.asarray(masks)]
    turned_actions = [rotate_action(action, quarter_turns) for action in actions]
    assert_same(
        batch_step(turned, jnp.asarray(turned_actions, jnp.int32)),
        rotate_states(
            batch_step(states, jnp.asarray(actions, jnp.int32)), turns_array(quarter_turns)
        ),
    )


def turned_planes(planes: np.ndarray, quarter_turns: int) -> np.ndarray:
    """Observed planes `[B, H, W, C]` turned: cells move, direction groups roll."""
    moved = np.rot90(planes, -quarter_turns, axes=(1, 2)).copy()
    slots = SHAPE.recipe_slots
    direction_groups: Sequence[int] = (0, 4, 8 + 2 * slots, 12 + 2 * slots)
    for start in direction_groups:
        group = moved[..., start : start + 4]
        moved[..., start : start + 4] = np.roll(group, quarter_turns, axis=-1)
    return moved


@pytest.mark.parametrize("quarter_turns", [1, 2, 3])
def test_turning_commutes_with_reach_and_observation(states: State, quarter_turns: int) -> None:
    turned = rotate_states(states, turns_array(quarter_turns))
    np.testing.assert_array_equal(
        batch_reach(turned), np.rot90(batch_reach(states), -quarter_turns, axes=(1, 2))
    )
    views, turned_views = batch_observe(states), batch_observe(turned)
    np.testing.assert_array_equal(turned_views.context, views.context)
    np.testing.assert_array_equal(
        turned_views.planes, turned_planes(np.asarray(views.planes), quarter_turns)
    )


def test_a_grid_that_is_not_square_cannot_be_turned() -> None:
    shape = EnvShape(5, 7, 5, 4, 4)
    spec = random_spec(np.random.default_rng(0), 5, 7)
    with pytest.raises(ValueError, match=r"7 x 5.*square.*env\.width equal to env\.height"):
        rotate_state(state_of(spec, shape, []), turns_array(1))
