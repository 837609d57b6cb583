"""Solved reference layouts on the device: start states, demonstrations, incomplete layouts.

In: the solved tasks of the pool. Out: batches of boards with what has to be learnt on them.
A start or demonstration keeps a flow-order prefix of a reference or, for a share, a random
subset. Starts lack as many placements as the curriculum's weights say, demonstrations any number.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from envs.actions import NUM_ROTATIONS, encode, finish_action, num_actions
from envs.dynamics import legal_actions
from envs.flow_order import NO_FEEDER, feeders
from envs.solved import Solved
from envs.types import Board, EnvShape, State, Task, stack_tasks, task_arrays
from factorio_rl.model import gather_tasks

DemonstrationTarget = Literal["next", "fed", "missing"]

LEAST_WEIGHT = 1e-9
"""Weight of a level that is not to be drawn: it is, where a short reference has no other."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class References:
    """The solved tasks of a pool; n tasks, F families, L longest reference, V incomplete variants.

    Families are numbered in the order of their first tasks.
    """

    tasks: Task  # leaves [n, ...]
    actions: Int[Array, "n L"]  # placements in flow order, finish where padded
    feeder: Int[Array, "n L"]  # earlier placement that feeds each, NO_FEEDER for a port or none
    length: Int[Array, "n"]
    family: Int[Array, "n"]
    family_tasks: Int[Array, "n"]  # tasks family by family
    family_first: Int[Array, "F"]  # where a family begins there
    family_size: Int[Array, "F"]
    variant_kept: Bool[Array, "n V L"]  # which placements an incomplete layout keeps
    variant_score: Float[Array, "n V"]  # its verified score
    families: tuple[str, ...] = field(metadata={"static": True})  # their names


class Start(NamedTuple):
    """Boards to play on from."""

    task_index: Int[Array, "B"]
    board: Board
    removed: Int[Array, "B"]  # placements of the reference that are missing


class Demonstration(NamedTuple):
    """Unfinished boards and what a reference does next on them."""

    task_index: Int[Array, "B"]
    board: Board
    policy: Float[Array, "B A"]


class Finished(NamedTuple):
    """Finished boards with their verified score."""

    task_index: Int[Array, "B"]
    board: Board
    score: Float[Array, "B"]


def make_references(
    solved: Sequence[Solved],
    variants: Sequence[Sequence[tuple[tuple[bool, ...], float]]],
    shape: EnvShape,
) -> References:
    """The pool as arrays; `variants[i]` holds (kept placements, verified score) of task i."""
    height, width = shape.height, shape.width
    longest = max(len(entry.placements) for entry in solved)
    actions = np.full((len(solved), longest), finish_action(height, width), np.int32)
    feeder = np.full((len(solved), longest), NO_FEEDER, np.int32)
    kept = np.zeros((len(solved), len(variants[0]), longest), np.bool_)
    for index, entry in enumerate(solved):
        length = len(entry.placements)
        actions[index, :length] = [encode(put, height, width) for put in entry.placements]
        feeder[index, :length] = feeders(entry.spec, entry.placements)
        for row, (mask, _) in enumerate(variants[index]):
            kept[index, row, : len(mask)] = mask
    families = tuple(dict.fromkeys(entry.spec.family for entry in solved))
    number = {name: index for index, name in enumerate(families)}
    family = np.array([number[entry.spec.family] for entry in solved], np.int32)
    size = np.bincount(family).astype(np.int32)
    return References(
        tasks=jax.device_put(stack_tasks([task_arrays(entry.spec, shape) for entry in solved])),
        actions=jnp.asarray(actions),
        feeder=jnp.asarray(feeder),
        length=jnp.asarray([len(entry.placements) for entry in solved], jnp.int32),
        family=jnp.asarray(family),
        family_tasks=jnp.asarray(np.argsort(family, kind="stable"), jnp.int32),
        family_first=jnp.asarray(np.cumsum(size) - size, jnp.int32),
        family_size=jnp.asarray(size),
        variant_kept=jnp.asarray(kept),
        variant_score=jnp.asarray([[score for _, score in row] for row in variants], jnp.float32),
        families=families,
    )


def family_longest(references: References) -> tuple[int, ...]:
    """Placements of the longest reference of each family."""
    longest = np.zeros(len(references.families), np.int64)
    np.maximum.at(longest, np.asarray(references.family), np.asarray(references.length))
    return tuple(longest.tolist())


def sample_start(
    key: Array,
    references: References,
    start_weights: Float[Array, "F K"],
    batch: int,
    empty_share: float,
    subset_share: float,
) -> Start:
    """Start states: an empty share, else prefixes or subsets with k placements removed.

    A row of `start_weights` sums to the share of its family. k is drawn from the row, as far as the
    reference has that many; where a row has no weight there, all of them are as likely.
    """
    task_key, level_key, kept_key, empty_key = jax.random.split(key, 4)
    index = _random_tasks(task_key, references, batch, start_weights.sum(axis=1))
    length = references.length[index]
    weights = jnp.maximum(start_weights[references.family[index]], LEAST_WEIGHT)
    removed = jnp.arange(start_weights.shape[1])
    exists = (removed >= 1) & (removed <= length[:, None])
    drawn = jax.random.categorical(level_key, jnp.where(exists, jnp.log(weights), -jnp.inf))
    empty = jax.random.uniform(empty_key, (batch,)) < empty_share
    removed = jnp.where(empty, length, drawn)
    kept = _random_kept(kept_key, references, index, length - removed, subset_share)
    return Start(index, _boards(references, index, kept), removed)


def sample_demonstration(
    key: Array,
    references: References,
    batch: int,
    subset_share: float,
    target: DemonstrationTarget,
    growth_rule: bool,
    family_shares: Float[Array, "F"] | None = None,
) -> Demonstration:
    """Prefixes or subsets of any number of placements, and which to add; finish if none is missing.

    Without `family_shares` all families are as likely.

    `target` is the first missing placement in flow order, which is legal since it is after that
    prefix; or all missing ones alike that are legal and, for "fed", whose feeder is there.
    """
    task_key, count_key, kept_key = jax.random.split(key, 3)
    index = _random_tasks(task_key, references, batch, family_shares)
    # Fewer than the placement limit, since the episode ends with the last one.
    most = jnp.minimum(references.length[index], references.tasks.placement_limit[index] - 1)
    count = jax.random.randint(count_key, (batch,), 0, most + 1)
    kept = _random_kept(kept_key, references, index, count, subset_share)
    board = _boards(references, index, kept)
    wanted = ~kept & _exists(references, index)
    if target == "next":
        wanted = wanted & (wanted.cumsum(axis=-1) == 1)
    else:
        states = State(gather_tasks(references.tasks, index), board)
        legal = jax.vmap(lambda state: legal_actions(state, growth_rule=growth_rule))(states)
        wanted = wanted & jnp.take_along_axis(legal, references.actions[index], axis=1)
    if target == "fed":
        feeder = references.feeder[index]
        has_feeder = jnp.take_along_axis(kept, jnp.maximum(feeder, 0), axis=1)
        wanted = wanted & ((feeder == NO_FEEDER) | has_feeder)
    return Demonstration(index, board, _alike(references, index, wanted))


def sample_finished(
    key: Array,
    references: References,
    batch: int,
    family_shares: Float[Array, "F"] | None = None,
) -> Finished:
    """Finished boards: the whole reference, whose score is 1, or an incomplete one.

    The complete layout is one more variant beside the incomplete ones. Without `family_shares` all
    families are as likely.
    """
    task_key, variant_key = jax.random.split(key)
    index = _random_tasks(task_key, references, batch, family_shares)
    num_variants = references.variant_score.shape[1]
    variant = jax.random.randint(variant_key, (batch,), 0, num_variants + 1)
    is_whole = variant == num_variants
    chosen = jnp.minimum(variant, num_variants - 1)
    whole = _exists(references, index)
    kept = jnp.where(is_whole[:, None], whole, references.variant_kept[index, chosen])
    board = _boards(references, index, kept)
    finished = Board(board.entity, board.rotation, board.placed, jnp.ones(batch, jnp.bool_))
    score = jnp.where(is_whole, 1.0, references.variant_score[index, chosen])
    return Finished(index, finished, score)


def _random_tasks(
    key: Array, references: References, batch: int, family_shares: Float[Array, "F"] | None
) -> Int[Array, "B"]:
    """A family, then any task of it: large families take no more of the batch."""
    family_key, task_key = jax.random.split(key)
    if family_shares is None:
        family_shares = jnp.ones(references.family_size.shape[0])
    family = jax.random.categorical(family_key, jnp.log(family_shares), shape=(batch,))
    within = jax.random.randint(task_key, (batch,), 0, references.family_size[family])
    return references.family_tasks[references.family_first[family] + within]


def _random_kept(
    key: Array,
    references: References,
    index: Int[Array, "B"],
    count: Int[Array, "B"],
    subset_share: float,
) -> Bool[Array, "B L"]:
    """`count` placements that stay: the first in flow order or, for a share, any."""
    order_key, choice_key = jax.random.split(key)
    exists = _exists(references, index)
    noise = jnp.where(exists, jax.random.uniform(order_key, exists.shape), 2.0)
    rank = jnp.argsort(jnp.argsort(noise, axis=-1), axis=-1)
    random_order = jax.random.uniform(choice_key, index.shape) < subset_share
    order = jnp.where(random_order[:, None], rank, jnp.arange(exists.shape[1]))
    return exists & (order < count[:, None])


def _exists(references: References, index: Int[Array, "B"]) -> Bool[Array, "B L"]:
    """Which entries of the references are placements and not padding."""
    return jnp.arange(references.actions.shape[1]) < references.length[index][:, None]


def _alike(
    references: References, index: Int[Array, "B"], wanted: Bool[Array, "B L"]
) -> Float[Array, "B A"]:
    """The policy that makes all wanted placements alike, or finishes where none is wanted."""
    height, width = references.tasks.blocked.shape[1:]
    count = wanted.sum(axis=-1, keepdims=True)
    share = wanted / jnp.maximum(count, 1)

    total, finish = num_actions(height, width), finish_action(height, width)
    # Past the end, and so dropped, each at a place of its own: the order of writes does not matter.
    nowhere = total + jnp.arange(wanted.shape[1])
    places = jnp.where(wanted, references.actions[index], nowhere)

    def spread(places: Array, share: Array) -> Array:
        return jnp.zeros(total).at[places].set(share, mode="drop", unique_indices=True)

    finishes = (count == 0) & (jnp.arange(total) == finish)
    return jnp.where(finishes, 1.0, jax.vmap(spread)(places, share))


def _boards(references: References, index: Int[Array, "B"], kept: Bool[Array, "B L"]) -> Board:
    """Boards of the tasks with the kept placements on them."""
    height, width = references.tasks.blocked.shape[1:]
    kind_cell, rotation = jnp.divmod(references.actions[index], NUM_ROTATIONS)
    kind, cell = jnp.divmod(kind_cell, height * width)
    cell = jnp.where(kept, cell, height * width + jnp.arange(kept.shape[1]))

    def put(cells: Array, codes: Array) -> Array:
        empty = jnp.zeros(height * width, jnp.uint8)
        filled = empty.at[cells].set(codes.astype(jnp.uint8), mode="drop", unique_indices=True)
        return filled.reshape(height, width)

    return Board(
        entity=jax.vmap(put)(cell, kind + 1),
        rotation=jax.vmap(put)(cell, rotation),
        placed=kept.sum(axis=-1, dtype=jnp.int32),
        finished=jnp.zeros(index.shape, jnp.bool_),
    )
