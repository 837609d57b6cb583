"""Self-play: B environments search and move side by side; finished ones start anew at once.

In: parameters, references, weights of the levels to start at, actor state. Out: the rows of a
chunk for the replay, and the finished layouts, whose score the host has still to verify. Where the
network or the search is not finite the move is finish, and the replay gets nothing of it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from envs.actions import finish_action, num_actions
from envs.dynamics import legal_actions, step
from envs.types import Board, State
from factorio_rl.config import Config
from factorio_rl.demonstrations import References, sample_start
from factorio_rl.model import Predict, gather_tasks, plan
from factorio_rl.network import Params
from factorio_rl.replay import Rows
from factorio_rl.search import SearchOutput, SearchSettings, choose_tree
from factorio_rl.search.tree_figures import root_q_range, tree_depth


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class ActorState:
    """The environments between two chunks."""

    task_index: Int[Array, "B"]
    board: Board
    episode: Int[Array, "B"]  # number of the running episode
    removed: Int[Array, "B"]  # placements that were missing at its start
    start_placed: Int[Array, "B"]  # placements that were there at its start


class Ended(NamedTuple):
    """What each move of a chunk ended; entries count where `ended`."""

    ended: Bool[Array, "T B"]
    task_index: Int[Array, "T B"]
    board: Board  # after the move, leaves [T, B, ...]
    episode: Int[Array, "T B"]
    removed: Int[Array, "T B"]
    start_placed: Int[Array, "T B"]
    non_finite: Bool[Array, "T B"]  # a search with numbers that are not finite, so it ended


class ChunkStats(NamedTuple):
    """Means over the searches of a chunk that are finite; NaN where none is."""

    target_entropy: Float[Array, ""]  # of the improved policy, nats
    target_divergence: Float[Array, ""]  # KL of the improved policy from the prior, nats
    root_value: Float[Array, ""]
    root_q_range: Float[Array, ""]  # largest less smallest Q of the root's visited actions
    search_depth: Float[Array, ""]  # edges from the root to the deepest node


class Chunk(NamedTuple):
    """The outcome of one chunk."""

    rows: Rows
    ended: Ended
    stats: ChunkStats


RunChunk = Callable[
    [Params, References, Float[Array, "F K"], ActorState, Array], tuple[ActorState, Chunk]
]
"""The array holds the weights of `curriculum.start_weights`."""


def search_settings(
    config: Config, num_simulations: int, max_num_considered_actions: int
) -> SearchSettings:
    """The search settings of a configuration, with the budget of self-play or evaluation.

    Raises `KernelTreeError` where the configuration wants the kernel tree and it cannot run.
    """
    search = config.search
    settings = SearchSettings(
        num_simulations=num_simulations,
        max_num_considered_actions=max_num_considered_actions,
        max_depth=search.max_depth,
        value_scale=search.value_scale,
        maxvisit_init=search.maxvisit_init,
        rescale_values=search.rescale_values,
        use_mixed_value=search.use_mixed_value,
        epsilon=search.epsilon,
    )
    actions = num_actions(config.env.height, config.env.width)
    return replace(settings, tree=choose_tree(search.tree, settings, actions))


def actor_settings(config: Config) -> SearchSettings:
    """The search settings of self-play. Raises as `search_settings` does."""
    search = config.search
    return search_settings(config, search.num_simulations, search.max_num_considered_actions)


def start_actor(
    config: Config, references: References, start_weights: Float[Array, "F K"], key: Array
) -> ActorState:
    """All environments at a fresh start state."""
    actor = config.actor
    start = sample_start(
        key,
        references,
        start_weights,
        actor.num_envs,
        actor.empty_share,
        actor.subset_share,
    )
    numbers = jnp.zeros(actor.num_envs, jnp.int32)
    return ActorState(start.task_index, start.board, numbers, start.removed, start.board.placed)


def nothing_ended(config: Config, actor: ActorState) -> Ended:
    """A chunk in which no episode ended, numpy."""

    def zeros(leaf: Array) -> np.ndarray:
        return np.zeros((config.actor.chunk_moves, *leaf.shape), leaf.dtype)

    numbers = actor.episode
    flags = actor.board.finished
    after_a_move = Ended(flags, numbers, actor.board, numbers, numbers, numbers, flags)
    return jax.tree.map(zeros, after_a_move)


def make_run_chunk(
    config: Config, predict: Predict, root_predict: Predict | None = None
) -> RunChunk:
    """The function that plays `actor.chunk_moves` moves in every environment.

    With `root_predict` it is this one that evaluates the roots of searches.
    """
    settings = actor_settings(config)
    growth_rule = config.env.growth_rule
    finish = finish_action(config.env.height, config.env.width)

    def move(
        params: Params,
        references: References,
        start_weights: Float[Array, "F K"],
        actor: ActorState,
        key: Array,
    ) -> tuple[ActorState, tuple[Rows, Ended, ChunkStats]]:
        search_key, start_key = _keys_of_move(key)
        states = State(gather_tasks(references.tasks, actor.task_index), actor.board)
        legal = jax.vmap(lambda state: legal_actions(state, growth_rule=growth_rule))(states)
        found = plan(
            predict, params, search_key, states, settings, jnp.float32(1.0), legal, root_predict
        )
        finite = _is_finite(found)
        action = jnp.where(finite, found.action, finish)
        after = jax.vmap(step)(states, action).board
        rows = _rows(actor, found.action_weights, after, finite)
        ended = Ended(
            after.finished,
            actor.task_index,
            after,
            actor.episode,
            actor.removed,
            actor.start_placed,
            ~finite,
        )
        fresh = start_actor(config, references, start_weights, start_key)
        next_actor = _restart(fresh, actor, after)
        return next_actor, (rows, ended, _stats(found))

    def run_chunk(
        params: Params,
        references: References,
        start_weights: Float[Array, "F K"],
        actor: ActorState,
        key: Array,
    ) -> tuple[ActorState, Chunk]:
        def play(actor: ActorState, number: Array):
            move_key = jax.random.fold_in(key, number)
            return move(params, references, start_weights, actor, move_key)

        moves = jnp.arange(config.actor.chunk_moves)
        actor, (rows, ended, stats) = jax.lax.scan(play, actor, moves)
        flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), rows)
        means = jax.tree.map(partial(_mean, ~ended.non_finite), stats)
        return actor, Chunk(flat, ended, means)

    return run_chunk


def search_key(chunk_key: Array, move: int) -> Array:
    """The key of the searches of a move, from the one of its chunk."""
    return _keys_of_move(jax.random.fold_in(chunk_key, move))[0]


def _keys_of_move(key: Array) -> Array:
    """The keys of the searches and of the fresh starts."""
    return jax.random.split(key)


def _is_finite(found: SearchOutput) -> Bool[Array, "B"]:
    """Whether all that the network said in a search, and what came of it, is finite.

    Logits need no look: the value of a node is not finite where one of its logits is not.
    """
    tree = found.tree
    seen = (tree.raw_values, tree.rewards, tree.values, found.action_weights)
    return jnp.stack([jnp.isfinite(leaf).all(axis=-1) for leaf in seen]).all(axis=0)


def _rows(
    actor: ActorState, policy: Float[Array, "B A"], after: Board, finite: Bool[Array, "B"]
) -> Rows:
    """The row of each move, and one more for each layout that the move finished."""
    env = jnp.arange(actor.episode.shape[0], dtype=jnp.int32)
    before = Rows(actor.task_index, actor.board, policy, env, actor.episode, finite)
    is_final = after.finished & finite
    final = Rows(actor.task_index, after, jnp.zeros_like(policy), env, actor.episode, is_final)
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), before, final)


def _restart(fresh: ActorState, actor: ActorState, after: Board) -> ActorState:
    """Finished environments at a fresh start state, the others as they are."""
    ended = after.finished
    going_on = ActorState(actor.task_index, after, actor.episode, actor.removed, actor.start_placed)
    fresh = ActorState(
        fresh.task_index, fresh.board, actor.episode + 1, fresh.removed, fresh.start_placed
    )

    def choose(new: Array, old: Array) -> Array:
        return jnp.where(ended.reshape(-1, *(1,) * (old.ndim - 1)), new, old)

    return jax.tree.map(choose, fresh, going_on)


def _stats(found: SearchOutput) -> ChunkStats:
    """The figures of each search, leaves [B]."""
    weights = found.action_weights
    prior = jax.nn.log_softmax(found.tree.prior_logits[:, 0])
    log_weights = jnp.log(jnp.maximum(weights, 1e-30))
    entropy = -(weights * log_weights).sum(axis=-1)
    divergence = (weights * (log_weights - prior)).sum(axis=-1)
    return ChunkStats(
        target_entropy=entropy,
        target_divergence=divergence,
        root_value=found.root_value,
        root_q_range=root_q_range(found.tree),
        search_depth=tree_depth(found.tree).astype(jnp.float32),
    )


def _mean(counted: Bool[Array, "T B"], values: Float[Array, "T B"]) -> Float[Array, ""]:
    return jnp.where(counted, values, 0.0).sum() / counted.sum()
