"""The training loss: cross-entropy to the policy target and to the two-hot value.

In: a batch of states with their targets. Out: a scalar and the figures to log.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from envs.dynamics import legal_actions
from envs.observation import observe
from envs.observe_choice import Observe
from envs.types import State
from factorio_rl.network import (
    Network,
    Params,
    evaluate,
    expected_value,
    mask_illegal,
    two_hot,
)


class Batch(NamedTuple):
    """States and what has to be learnt about them."""

    states: State
    policy: Float[Array, "B A"]
    has_policy: Bool[Array, "B"]
    value: Float[Array, "B"]
    has_value: Bool[Array, "B"]


class LossFigures(NamedTuple):
    """Means over the rows of a batch that have the target in question."""

    loss: Float[Array, ""]
    policy_loss: Float[Array, ""]
    value_loss: Float[Array, ""]
    policy_accuracy: Float[Array, ""]  # likeliest action is one of the target's
    value_error: Float[Array, ""]  # root mean square
    finished_value_error: Float[Array, ""]  # the same over finished layouts


def loss_function(
    network: Network,
    params: Params,
    batch: Batch,
    *,
    growth_rule: bool,
    value_weight: float,
    observe: Observe = observe,
) -> tuple[Float[Array, ""], LossFigures]:
    """The mean loss of a batch and its figures."""
    output = evaluate(network, params, jax.vmap(observe)(batch.states))
    legal = jax.vmap(lambda state: legal_actions(state, growth_rule=growth_rule))(batch.states)
    log_policy = jax.nn.log_softmax(mask_illegal(output.policy_logits, legal))
    # A target has no weight on illegal actions, whose log-probability is hugely negative.
    terms = jnp.where(batch.policy > 0, batch.policy * log_policy, 0.0)
    policy_loss = _mean(-terms.sum(axis=-1), batch.has_policy)
    target = two_hot(batch.value, output.value_logits.shape[-1])
    value_terms = -(target * jax.nn.log_softmax(output.value_logits)).sum(axis=-1)
    value_loss = _mean(value_terms, batch.has_value)
    loss = policy_loss + value_weight * value_loss
    likeliest = log_policy.argmax(axis=-1)
    of_likeliest = jnp.take_along_axis(batch.policy, likeliest[:, None], axis=-1)[:, 0]
    agrees = of_likeliest == batch.policy.max(axis=-1)
    squared = jnp.square(expected_value(output.value_logits) - batch.value)
    finished = batch.has_value & batch.states.board.finished
    figures = LossFigures(
        loss=loss,
        policy_loss=policy_loss,
        value_loss=value_loss,
        policy_accuracy=_mean(agrees.astype(jnp.float32), batch.has_policy),
        value_error=jnp.sqrt(_mean(squared, batch.has_value)),
        finished_value_error=jnp.sqrt(_mean(squared, finished)),
    )
    return loss, figures


def _mean(values: Float[Array, "B"], counted: Bool[Array, "B"]) -> Float[Array, ""]:
    total = jnp.where(counted, values, 0.0).sum()
    return total / jnp.maximum(counted.sum(), 1)
