"""How well the network in FP8 agrees with itself, on fixed positions of the training tasks.

In: parameters, and the same frozen in FP8. Out: an `Agreement`. Policies and values are compared
as the networks give them, search targets as self-play would make them from these positions with
the same noise.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from envs.dynamics import legal_actions
from envs.types import State
from factorio_rl.config import Config
from factorio_rl.demonstrations import References, sample_start
from factorio_rl.fp8_network import fp8_network
from factorio_rl.model import Predict, gather_tasks, make_predict, plan
from factorio_rl.network import Network, Params
from factorio_rl.precision_switch import Agreement
from factorio_rl.search.tree import ROOT, SearchTree
from factorio_rl.selfplay import actor_settings


class Prediction(NamedTuple):
    """What a network says of the positions."""

    policy_logits: Float[Array, "B A"]
    value: Float[Array, "B"]


class Targets(NamedTuple):
    """What a search makes of them."""

    policy: Float[Array, "B A"]
    value_spread: Float[Array, "B"]  # NaN at roots with fewer than two visited actions


class Probe:
    """The positions, and the compiled comparison.

    Each network's predictions and searches are programs of their own: XLA before 0.12.0.1 takes
    FP8 convolutions in one computation of a program only (openxla/xla #49007).
    """

    def __init__(
        self, config: Config, network: Network, references: References, key: Array
    ) -> None:
        states_key, self._search_key = jax.random.split(key)
        self._states = jax.jit(_probe_states, static_argnums=0)(config, references, states_key)
        growth_rule = config.env.growth_rule
        predict = make_predict(network, growth_rule)
        fp8_predict = make_predict(fp8_network(network), growth_rule)
        root_predict = predict if config.search.root_precision == "bf16" else None
        self._predict = jax.jit(_predictor(predict))
        self._fp8_predict = jax.jit(_predictor(fp8_predict))
        self._search = jax.jit(_searcher(config, predict, None))
        self._fp8_search = jax.jit(_searcher(config, fp8_predict, root_predict))
        self._compare = jax.jit(compare_outputs)

    def compare(self, params: Params, frozen: Params) -> Agreement:
        """The agreement of `fp8_network.frozen_variables` with the parameters they are made of."""
        states, key = self._states, self._search_key
        compared = self._compare(
            self._predict(params, states),
            self._fp8_predict(frozen, states),
            self._search(params, states, key),
            self._fp8_search(frozen, states, key),
        )
        return Agreement(*(float(figure) for figure in compared))


def _probe_states(config: Config, references: References, key: Array) -> State:
    """Start states as self-play has them, all levels alike."""
    alike = jnp.ones((len(references.families), references.actions.shape[1] + 1), jnp.float32)
    actor = config.actor
    start = sample_start(
        key, references, alike, actor.switch.probe_positions, actor.empty_share, actor.subset_share
    )
    return State(gather_tasks(references.tasks, start.task_index), start.board)


def _predictor(predict: Predict):
    def predictions(params: Params, states: State) -> Prediction:
        found = predict(params, states)
        return Prediction(found.policy_logits, found.value)

    return predictions


def _searcher(config: Config, predict: Predict, root_predict: Predict | None):
    settings, growth_rule = actor_settings(config), config.env.growth_rule

    def targets(params: Params, states: State, key: Array) -> Targets:
        legal = jax.vmap(lambda state: legal_actions(state, growth_rule=growth_rule))(states)
        found = plan(predict, params, key, states, settings, jnp.float32(1.0), legal, root_predict)
        return Targets(found.action_weights, root_spread(found.tree))

    return targets


def root_spread(tree: SearchTree) -> Float[Array, "B"]:
    """Largest minus smallest Q-value of the actions that were visited at the root."""
    is_child = (tree.parents == ROOT) & (tree.visits > 0)
    values = tree.rewards + tree.discounts * tree.values
    largest = jnp.where(is_child, values, -jnp.inf).max(axis=-1)
    smallest = jnp.where(is_child, values, jnp.inf).min(axis=-1)
    return jnp.where(is_child.sum(axis=-1) > 1, largest - smallest, jnp.nan)


def compare_outputs(
    own: Prediction, fp8: Prediction, own_targets: Targets, fp8_targets: Targets
) -> tuple[Array, Array, Array]:
    """The figures of an `Agreement`."""
    same = own.policy_logits.argmax(axis=-1) == fp8.policy_logits.argmax(axis=-1)
    rms = jnp.sqrt(jnp.square(own.value - fp8.value).mean())
    # The spread of values that are all alike is no scale to judge an error by.
    spread = jnp.maximum(jnp.nanmean(own_targets.value_spread), 1e-6)
    weights, others = own_targets.policy, fp8_targets.policy
    log_ratio = jnp.log(jnp.maximum(weights, 1e-30)) - jnp.log(jnp.maximum(others, 1e-30))
    divergence = (weights * log_ratio).sum(axis=-1)
    return same.mean(), rms / spread, divergence.mean()
