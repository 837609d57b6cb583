"""Solved reference layouts on the device: start states, demonstrations, incomplete layouts.

In: the solved tasks of the pool. Out: batches of boards with what has to be learnt on them.
A start or demonstration keeps a flow-order prefix of a reference or, for a share, a random
subset; its target is the first missing placement in flow order, which is always legal.
One-hot next-piece targets on prefix states learnt fastest on 7x7 (raw policy .96 at 133 s
against .88 for uniform targets; one seed each).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from envs.actions import NUM_ROTATIONS, encode, finish_action
from envs.solved import Solved
from envs.types import Board, EnvShape, Task, stack_tasks, task_arrays


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class References:
    """The solved tasks of a pool; n tasks, L longest reference, V incomplete variants."""

    tasks: Task  # leaves [n, ...]
    actions: Int[Array, "n L"]  # placements in flow order, finish where padded
    length: Int[Array, "n"]
    variant_kept: Bool[Array, "n V L"]  # which placements an incomplete layout keeps
    variant_score: Float[Array, "n V"]  # its verified score


class Start(NamedTuple):
    """Boards to play on from."""

    task_index: Int[Array, "B"]
    board: Board
    removed: Int[Array, "B"]  # placements of the reference that are missing


class Demonstration(NamedTuple):
    """Boards with the action that a reference takes next, or with a known score."""

    task_index: Int[Array, "B"]
    board: Board
    action: Int[Array, "B"]
    value: Float[Array, "B"]


def make_references(
    solved: Sequence[Solved],
    variants: Sequence[Sequence[tuple[tuple[bool, ...], float]]],
    shape: EnvShape,
) -> References:
    """The pool as arrays; `variants[i]` holds (kept placements, verified score) of task i."""
    height, width = shape.height, shape.width
    longest = max(len(entry.placements) for entry in solved)
    actions = np.full((len(solved), longest), finish_action(height, width), np.int32)
    kept = np.zeros((len(solved), len(variants[0]), longest), np.bool_)
    for index, entry in enumerate(solved):
        for position, placement in enumerate(entry.placements):
            actions[index, position] = encode(placement, height, width)
        for row, (mask, _) in enumerate(variants[index]):
            kept[index, row, : len(mask)] = mask
    return References(
        tasks=jax.device_put(stack_tasks([task_arrays(entry.spec, shape) for entry in solved])),
        actions=jnp.asarray(actions),
        length=jnp.asarray([len(entry.placements) for entry in solved], jnp.int32),
        variant_kept=jnp.asarray(kept),
        variant_score=jnp.asarray([[score for _, score in row] for row in variants], jnp.float32),
    )


def sample_start(
    key: Array, references: References, batch: int, empty_share: float, subset_share: float
) -> Start:
    """Start states: an empty share, else prefixes or subsets with k removed, k uniform."""
    task_key, kept_key, empty_key = jax.random.split(key, 3)
    index = _random_tasks(task_key, references, batch)
    kept = _random_kept(kept_key, references, index, subset_share)
    empty = jax.random.uniform(empty_key, (batch,)) < empty_share
    kept = kept & ~empty[:, None]
    removed = references.length[index] - kept.sum(axis=-1)
    return Start(index, _boards(references, index, kept), removed)


def sample_demonstration(
    key: Array, references: References, batch: int, subset_share: float
) -> Demonstration:
    """Unfinished boards, the next placement of the reference (finish if none), value 1."""
    task_key, kept_key = jax.random.split(key)
    index = _random_tasks(task_key, references, batch)
    kept = _random_kept(kept_key, references, index, subset_share)
    position = jnp.argmin(kept, axis=-1)  # first missing; padding counts as missing
    complete = kept.sum(axis=-1) >= references.length[index]
    actions = references.actions[index]
    following = jnp.take_along_axis(actions, position[:, None], axis=1)[:, 0]
    finish = _finish(references)
    action = jnp.where(complete, finish, following)
    return Demonstration(index, _boards(references, index, kept), action, jnp.ones(batch))


def sample_finished(key: Array, references: References, batch: int) -> Demonstration:
    """Finished boards with their verified score: the whole reference (1) or an incomplete one.

    The complete layout is one more variant beside the incomplete ones.
    """
    task_key, variant_key = jax.random.split(key)
    index = _random_tasks(task_key, references, batch)
    num_variants = references.variant_score.shape[1]
    variant = jax.random.randint(variant_key, (batch,), 0, num_variants + 1)
    is_whole = variant == num_variants
    chosen = jnp.minimum(variant, num_variants - 1)
    slots = jnp.arange(references.actions.shape[1])
    whole = slots < references.length[index][:, None]
    kept = jnp.where(is_whole[:, None], whole, references.variant_kept[index, chosen])
    board = _boards(references, index, kept)
    finished = Board(board.entity, board.rotation, board.placed, jnp.ones(batch, jnp.bool_))
    score = jnp.where(is_whole, 1.0, references.variant_score[index, chosen])
    action = jnp.full(batch, _finish(references))
    return Demonstration(index, finished, action, score)


def _random_tasks(key: Array, references: References, batch: int) -> Int[Array, "B"]:
    return jax.random.randint(key, (batch,), 0, references.length.shape[0])


def _random_kept(
    key: Array, references: References, index: Int[Array, "B"], subset_share: float
) -> Bool[Array, "B L"]:
    """Placements that stay: as many as a uniform draw says, in flow order or at random.

    Fewer than the placement limit, since the episode ends with the last one.
    """
    count_key, order_key, choice_key = jax.random.split(key, 3)
    batch, longest = index.shape[0], references.actions.shape[1]
    length = references.length[index]
    most = jnp.minimum(length, references.tasks.placement_limit[index] - 1)
    count = jax.random.randint(count_key, (batch,), 0, most + 1)
    slots = jnp.arange(longest)
    exists = slots < length[:, None]
    noise = jnp.where(exists, jax.random.uniform(order_key, (batch, longest)), 2.0)
    rank = jnp.argsort(jnp.argsort(noise, axis=-1), axis=-1)
    random_order = jax.random.uniform(choice_key, (batch,)) < subset_share
    order = jnp.where(random_order[:, None], rank, slots)
    return exists & (order < count[:, None])


def _boards(references: References, index: Int[Array, "B"], kept: Bool[Array, "B L"]) -> Board:
    """Boards of the tasks with the kept placements on them."""
    height, width = references.tasks.blocked.shape[1:]
    kind_cell, rotation = jnp.divmod(references.actions[index], NUM_ROTATIONS)
    kind, cell = jnp.divmod(kind_cell, height * width)
    cell = jnp.where(kept, cell, height * width)

    def put(cells: Array, codes: Array) -> Array:
        empty = jnp.zeros(height * width, jnp.uint8)
        return empty.at[cells].set(codes.astype(jnp.uint8), mode="drop").reshape(height, width)

    return Board(
        entity=jax.vmap(put)(cell, kind + 1),
        rotation=jax.vmap(put)(cell, rotation),
        placed=kept.sum(axis=-1, dtype=jnp.int32),
        finished=jnp.zeros(index.shape, jnp.bool_),
    )


def _finish(references: References) -> int:
    height, width = references.tasks.blocked.shape[1:]
    return finish_action(height, width)
