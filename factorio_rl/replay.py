"""The replay buffer: rows of self-play on the device, waiting for or carrying their score.

In: the moves of a chunk, and later the verified scores of the episodes that they belong to.
Out: sampled rows. A row enters when its move is made and can be sampled once the score of its
episode is known. Rows are written one after another and overwrite the oldest.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt8

from envs.types import Board


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Replay:
    """Ring of K rows."""

    task_index: Int[Array, "K"]
    entity: UInt8[Array, "K H W"]
    rotation: UInt8[Array, "K H W"]
    finished: Bool[Array, "K"]  # a finished layout: its value is learnt, it has no policy
    policy: Float[Array, "K A"]  # improved policy of the search, float16
    env: Int[Array, "K"]
    episode: Int[Array, "K"]  # number of the episode in its environment, -1 where no row
    value: Float[Array, "K"]  # verified score
    scored: Bool[Array, "K"]
    cursor: Int[Array, ""]  # where the next row goes


class Rows(NamedTuple):
    """Rows to write, in order; those with `valid` False are left out."""

    task_index: Int[Array, "M"]
    board: Board
    policy: Float[Array, "M A"]
    env: Int[Array, "M"]
    episode: Int[Array, "M"]
    valid: Bool[Array, "M"]


class Scores(NamedTuple):
    """Verified scores of the episodes that ended in a chunk, by move and environment."""

    ended: Bool[Array, "T B"]
    episode: Int[Array, "T B"]
    score: Float[Array, "T B"]


class Sample(NamedTuple):
    """Sampled rows."""

    task_index: Int[Array, "M"]
    board: Board
    policy: Float[Array, "M A"]
    value: Float[Array, "M"]


def empty_replay(capacity: int, height: int, width: int, actions: int) -> Replay:
    """A buffer without rows."""
    cells = jnp.zeros((capacity, height, width), jnp.uint8)
    numbers = jnp.zeros(capacity, jnp.int32)
    flags = jnp.zeros(capacity, jnp.bool_)
    return Replay(
        task_index=numbers,
        entity=cells,
        rotation=cells,
        finished=flags,
        policy=jnp.zeros((capacity, actions), jnp.float16),
        env=numbers,
        episode=numbers - 1,
        value=jnp.zeros(capacity, jnp.float32),
        scored=flags,
        cursor=jnp.zeros((), jnp.int32),
    )


def add_rows(replay: Replay, rows: Rows) -> Replay:
    """Writes the valid rows; of more than the capacity only the last ones stay."""
    capacity = replay.value.shape[0]
    order = jnp.cumsum(rows.valid) - 1
    stays = rows.valid & (order > order[-1] - capacity)
    # Past the end, and so dropped, each at a place of its own: the order of writes does not matter.
    nowhere = capacity + jnp.arange(rows.valid.shape[0])
    slot = jnp.where(stays, (replay.cursor + order) % capacity, nowhere)

    def put(ring: Array, new: Array) -> Array:
        return ring.at[slot].set(new.astype(ring.dtype), mode="drop", unique_indices=True)

    unknown = jnp.zeros(rows.valid.shape, jnp.bool_)
    return Replay(
        task_index=put(replay.task_index, rows.task_index),
        entity=put(replay.entity, rows.board.entity),
        rotation=put(replay.rotation, rows.board.rotation),
        finished=put(replay.finished, rows.board.finished),
        policy=put(replay.policy, rows.policy),
        env=put(replay.env, rows.env),
        episode=put(replay.episode, rows.episode),
        value=put(replay.value, jnp.zeros(rows.valid.shape)),
        scored=put(replay.scored, unknown),
        cursor=(replay.cursor + rows.valid.sum(dtype=jnp.int32)) % capacity,
    )


def add_scores(replay: Replay, scores: Scores) -> Replay:
    """Gives every row of the scored episodes its value.

    Each environment ends at most T episodes in a chunk, numbered consecutively, so episode
    number modulo T finds the only candidate.
    """
    moves, envs = scores.ended.shape
    nowhere = moves + jnp.arange(moves)[:, None]
    slot = jnp.where(scores.ended, scores.episode % moves, nowhere)
    columns = jnp.broadcast_to(jnp.arange(envs), (moves, envs))
    number = jnp.full((moves, envs), -1, jnp.int32)
    put = {"mode": "drop", "unique_indices": True}
    number = number.at[slot, columns].set(scores.episode, **put)
    table = jnp.zeros((moves, envs)).at[slot, columns].set(scores.score, **put)
    row_slot = replay.episode % moves
    known = ~replay.scored & (replay.episode >= 0)
    known = known & (number[row_slot, replay.env] == replay.episode)
    value = jnp.where(known, table[row_slot, replay.env], replay.value)
    return replace(replay, value=value, scored=replay.scored | known)


def num_scored(replay: Replay) -> Int[Array, ""]:
    """Rows that can be sampled."""
    return replay.scored.sum(dtype=jnp.int32)


def sample_rows(key: Array, replay: Replay, batch: int) -> Sample:
    """Rows drawn uniformly with replacement from the scored ones; if there are none, the last."""
    rank = jnp.cumsum(replay.scored, dtype=jnp.int32)
    drawn = jax.random.randint(key, (batch,), 0, jnp.maximum(rank[-1], 1))
    row = jnp.searchsorted(rank, drawn + 1).astype(jnp.int32)
    row = jnp.minimum(row, replay.value.shape[0] - 1)
    entity = replay.entity[row]
    board = Board(
        entity=entity,
        rotation=replay.rotation[row],
        placed=(entity > 0).sum(axis=(1, 2), dtype=jnp.int32),
        finished=replay.finished[row],
    )
    policy = replay.policy[row].astype(jnp.float32)
    return Sample(replay.task_index[row], board, policy, replay.value[row])
