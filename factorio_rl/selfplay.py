"""Self-play: B environments search and move side by side; finished ones start anew at once.

In: parameters, references, weights of the levels to start at, actor state. Out: the rows of a
chunk for the replay, and the finished layouts, whose score the host has still to verify.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from envs.actions import num_actions
from envs.dynamics import legal_actions, step
from envs.types import Board, State
from factorio_rl.config import Config
from factorio_rl.demonstrations import References, sample_start
from factorio_rl.model import Predict, gather_tasks, plan
from factorio_rl.network import Params
from factorio_rl.replay import Rows
from factorio_rl.search import SearchSettings, choose_tree


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


class ChunkStats(NamedTuple):
    """Means over the searches of a chunk."""

    target_entropy: Float[Array, ""]  # of the improved policy, nats
    target_divergence: Float[Array, ""]  # KL of the improved policy from the prior, nats
    root_value: Float[Array, ""]


class Chunk(NamedTuple):
    """The outcome of one chunk."""

    rows: Rows
    ended: Ended
    stats: ChunkStats


RunChunk = Callable[
    [Params, References, Float[Array, "F K"], ActorState, Array], tuple[ActorState, Chunk]
]
"""The array holds the weights of `curriculum.level_weights`."""


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
    config: Config, references: References, level_weights: Float[Array, "F K"], key: Array
) -> ActorState:
    """All environments at a fresh start state."""
    actor = config.actor
    start = sample_start(
        key,
        references,
        level_weights,
        actor.num_envs,
        actor.empty_share,
        actor.subset_share,
    )
    numbers = jnp.zeros(actor.num_envs, jnp.int32)
    return ActorState(start.task_index, start.board, numbers, start.removed, start.board.placed)


def make_run_chunk(
    config: Config, predict: Predict, root_predict: Predict | None = None
) -> RunChunk:
    """The function that plays `actor.chunk_moves` moves in every environment.

    With `root_predict` it is this one that evaluates the roots of searches.
    """
    settings = actor_settings(config)
    growth_rule = config.env.growth_rule

    def move(
        params: Params,
        references: References,
        level_weights: Float[Array, "F K"],
        actor: ActorState,
        key: Array,
    ) -> tuple[ActorState, tuple[Rows, Ended, ChunkStats]]:
        search_key, start_key = jax.random.split(key)
        states = State(gather_tasks(references.tasks, actor.task_index), actor.board)
        legal = jax.vmap(lambda state: legal_actions(state, growth_rule=growth_rule))(states)
        found = plan(
            predict, params, search_key, states, settings, jnp.float32(1.0), legal, root_predict
        )
        after = jax.vmap(step)(states, found.action).board
        rows = _rows(actor, found.action_weights, after)
        ended = Ended(
            after.finished,
            actor.task_index,
            after,
            actor.episode,
            actor.removed,
            actor.start_placed,
        )
        fresh = start_actor(config, references, level_weights, start_key)
        next_actor = _restart(fresh, actor, after)
        return next_actor, (rows, ended, _stats(found))

    def run_chunk(
        params: Params,
        references: References,
        level_weights: Float[Array, "F K"],
        actor: ActorState,
        key: Array,
    ) -> tuple[ActorState, Chunk]:
        def play(actor: ActorState, number: Array):
            move_key = jax.random.fold_in(key, number)
            return move(params, references, level_weights, actor, move_key)

        moves = jnp.arange(config.actor.chunk_moves)
        actor, (rows, ended, stats) = jax.lax.scan(play, actor, moves)
        flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), rows)
        return actor, Chunk(flat, ended, jax.tree.map(jnp.mean, stats))

    return run_chunk


def _rows(actor: ActorState, policy: Float[Array, "B A"], after: Board) -> Rows:
    """The row of each move, and one more for each layout that the move finished."""
    env = jnp.arange(actor.episode.shape[0], dtype=jnp.int32)
    always = jnp.ones(env.shape, jnp.bool_)
    before = Rows(actor.task_index, actor.board, policy, env, actor.episode, always)
    final = Rows(
        actor.task_index, after, jnp.zeros_like(policy), env, actor.episode, after.finished
    )
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


def _stats(found) -> ChunkStats:
    weights = found.action_weights
    prior = jax.nn.log_softmax(found.tree.prior_logits[:, 0])
    log_weights = jnp.log(jnp.maximum(weights, 1e-30))
    entropy = -(weights * log_weights).sum(axis=-1)
    divergence = (weights * (log_weights - prior)).sum(axis=-1)
    return ChunkStats(entropy.mean(), divergence.mean(), found.root_value.mean())
