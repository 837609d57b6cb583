"""What an update or the searches of a move were computed from, and what is not finite in them.

In: a case as training had it. Out: its numbers computed again on this device, counted leaf by
leaf in the order in which they depend on each other, so that the first is where it began.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float32, UInt32

from envs.dynamics import legal_actions
from envs.observe_choice import choose_observe
from envs.types import State
from factorio_rl.checkpoint_manifest import named_leaves
from factorio_rl.config import Config
from factorio_rl.learner import apply_gradients, make_gradient, make_optimizer, trained_network
from factorio_rl.losses import Batch, LossFigures
from factorio_rl.model import Prediction, make_predict, plan
from factorio_rl.network import Network, NetworkOutput, Params, evaluate
from factorio_rl.selfplay import actor_settings


class UpdateCase(NamedTuple):
    """An update that was skipped."""

    params: Params
    optimizer: optax.OptState
    batch: Batch
    scales: Float32[Array, "L"]  # only read with `learner.qat`


class SearchCase(NamedTuple):
    """The searches of one move of all B environments."""

    params: Params  # of the learner, also where the actor has them in FP8
    scales: Float32[Array, "L"]  # only read in FP8
    in_fp8: Bool[Array | np.ndarray, ""]
    states: State  # leaves [B, ...]
    non_finite: Bool[Array, "B"]  # whose search was not finite; the other rows fill the batch
    key: UInt32[Array, "2"]  # of the searches


class UpdateNumbers(NamedTuple):
    """What an update computes, causes before effects."""

    parameter: Params
    optimizer_state: optax.OptState
    batch: Batch
    scale: Array
    network_output: NetworkOutput
    loss: LossFigures
    gradient: Params
    gradient_norm: Array
    new_parameter: Params
    new_optimizer_state: optax.OptState


class SearchNumbers(NamedTuple):
    """What searches compute, causes before effects."""

    parameter: Params
    scale: Array
    network_output_at_the_root: Prediction  # from here on of the rows in question
    prior_logits_in_the_tree: Array
    values_in_the_tree: Array
    rewards_in_the_tree: Array
    mean_values: Array
    improved_policy: Array


class Finding(NamedTuple):
    """How much of one array is not finite."""

    quantity: str
    leaf: str  # dotted path in the quantity, empty if it is one array
    nan: int
    infinite: int
    size: int

    @property
    def is_finite(self) -> bool:
        return not self.nan and not self.infinite


def look_again(config: Config, network: Network, case: UpdateCase | SearchCase) -> list[Finding]:
    """Computes a case again; all its arrays of floating-point numbers, causes before effects."""
    if isinstance(case, UpdateCase):
        numbers = jax.jit(partial(_update, config, network))(case)
    else:
        numbers = jax.jit(partial(_search, config, network, bool(case.in_fp8)))(case)
        rows = np.asarray(case.non_finite)
        of_inputs, of_rows = numbers[:2], jax.tree.map(lambda leaf: leaf[rows], numbers[2:])
        numbers = SearchNumbers(*of_inputs, *of_rows)
    return list(_findings(jax.device_get(numbers)))


def _update(config: Config, network: Network, case: UpdateCase) -> UpdateNumbers:
    trained, variables_of = trained_network(config, network)
    observations = jax.vmap(choose_observe())(case.batch.states)
    gradients, figures = make_gradient(config, network)(case.params, case.batch, case.scales)
    params, optimizer_state = apply_gradients(
        make_optimizer(config), case.params, case.optimizer, gradients
    )
    return UpdateNumbers(
        parameter=case.params,
        optimizer_state=case.optimizer,
        batch=case.batch,
        scale=case.scales,
        network_output=evaluate(trained, variables_of(case.params, case.scales), observations),
        loss=figures,
        gradient=gradients,
        gradient_norm=optax.tree.norm(gradients),
        new_parameter=params,
        new_optimizer_state=optimizer_state,
    )


def _search(config: Config, network: Network, in_fp8: bool, case: SearchCase) -> SearchNumbers:
    growth_rule = config.env.growth_rule
    predict, root_predict, params = make_predict(network, growth_rule), None, case.params
    if in_fp8:
        # Loaded where it is used: other dumps touch nothing of FP8.
        from factorio_rl.fp8_network import frozen_variables
        from factorio_rl.precision import fp8_predicts

        predict, root_predict = fp8_predicts(config, network)
        params = frozen_variables(network, case.params, case.scales)
    legal = jax.vmap(lambda state: legal_actions(state, growth_rule=growth_rule))(case.states)
    key, scale = jax.random.wrap_key_data(case.key), jnp.float32(1.0)
    settings = actor_settings(config)
    found = plan(predict, params, key, case.states, settings, scale, legal, root_predict)
    return SearchNumbers(
        parameter=case.params,
        scale=case.scales,
        network_output_at_the_root=(root_predict or predict)(params, case.states),
        prior_logits_in_the_tree=found.tree.prior_logits,
        values_in_the_tree=found.tree.raw_values,
        rewards_in_the_tree=found.tree.rewards,
        mean_values=found.tree.values,
        improved_policy=found.action_weights,
    )


def _findings(numbers: UpdateNumbers | SearchNumbers) -> Iterator[Finding]:
    for quantity, tree in numbers._asdict().items():
        for place, leaf in named_leaves(tree).items():
            if np.issubdtype(leaf.dtype, np.floating):
                nan, infinite = int(np.isnan(leaf).sum()), int(np.isinf(leaf).sum())
                name = quantity.replace("_", " ")
                yield Finding(name, place, nan, infinite, leaf.size)
