"""The four rotations of tasks, boards and policies.

Rotating by a quarter turn clockwise moves cell (y, x) of a square grid to (x, W - 1 - y) and
direction d to d + 1. Recipe slots, the rotations of a machine action, stay. Mirror images are
not symmetries of the game: an arm drops onto the lane that is far from it, and an in-line drop
goes to the right lane (R32). Neither are rotations exactly, since arms break ties of a half
turn in world orientation (R24); the layouts that work are the same, rates can differ slightly.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from envs.actions import NUM_KINDS, NUM_ROTATIONS
from envs.task_spec import MACHINE
from envs.types import NO_SLOT, State


def rotate_state(state: State, quarter_turns: Int[Array, ""]) -> State:
    """The state after so many clockwise quarter turns; the grid must be square."""
    return jax.lax.switch(quarter_turns % 4, [_state_turner(turns) for turns in range(4)], state)


def rotate_policy(
    policy: Float[Array, "A"], quarter_turns: Int[Array, ""], size: int
) -> Float[Array, "A"]:
    """The policy on the rotated grid of `size` x `size`: weights move with their actions."""
    turners = [_policy_turner(turns, size) for turns in range(4)]
    return jax.lax.switch(quarter_turns % 4, turners, policy)


def _state_turner(turns: int):
    def turn(state: State) -> State:
        task, board = state.task, state.board
        size = _square(board.entity.shape)
        y, x = jnp.divmod(jnp.maximum(task.port_cell, 0), size)
        for _ in range(turns):
            y, x = x, size - 1 - y
        is_machine = board.entity == MACHINE + 1
        rotation = jnp.where(
            (board.entity > 0) & ~is_machine, (board.rotation + turns) % 4, board.rotation
        )
        return State(
            replace(
                task,
                blocked=jnp.rot90(task.blocked, -turns),
                port_cell=jnp.where(task.port_cell == NO_SLOT, NO_SLOT, y * size + x),
                port_direction=(task.port_direction + turns) % 4,
            ),
            replace(
                board,
                entity=jnp.rot90(board.entity, -turns),
                rotation=jnp.rot90(rotation, -turns),
            ),
        )

    return turn


def _policy_turner(turns: int, size: int):
    def turn(policy: Array) -> Array:
        planes = policy[:-1].reshape(NUM_KINDS, size, size, NUM_ROTATIONS)
        planes = jnp.rot90(planes, -turns, axes=(1, 2))
        turned = jnp.roll(planes, turns, axis=-1).at[MACHINE].set(planes[MACHINE])
        return jnp.concatenate([turned.reshape(-1), policy[-1:]])

    return turn


def _square(shape: tuple[int, ...]) -> int:
    if shape[0] != shape[1]:
        raise ValueError(
            f"the grid is {shape[1]} x {shape[0]}; rotations need a square one, "
            "set env.width equal to env.height"
        )
    return shape[0]
