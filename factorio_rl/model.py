"""The model that the search plans with: the true transition plus the network.

An edge that ends the episode pays the network's value of the finished state and has discount
0; every other edge pays nothing and has discount 1. A finished state is worth 0 and has finish
as its only legal action, so nothing changes below it.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from envs.dynamics import legal_actions, step
from envs.observe_choice import choose_observe
from envs.types import Board, State, Task
from factorio_rl.network import Network, Params, evaluate, expected_value, mask_illegal
from factorio_rl.search import (
    Evaluation,
    Expand,
    SearchOutput,
    SearchSettings,
    gumbel_muzero_search,
)


class Prediction(NamedTuple):
    """What the network says of a batch of states."""

    policy_logits: Float[Array, "B A"]  # illegal actions masked
    value: Float[Array, "B"]  # NaN also where a logit is not finite, so that it cannot be missed
    legal: Bool[Array, "B A"]


Predict = Callable[[Params, State], Prediction]


def make_predict(network: Network, growth_rule: bool) -> Predict:
    """The function (params, batched states) -> Prediction."""
    observe = choose_observe()

    def predict(params: Params, states: State) -> Prediction:
        output = evaluate(network, params, jax.vmap(observe)(states))
        legal = jax.vmap(lambda state: legal_actions(state, growth_rule=growth_rule))(states)
        logits = mask_illegal(output.policy_logits, legal)
        is_finite = jnp.isfinite(logits).all(axis=-1)
        value = jnp.where(is_finite, expected_value(output.value_logits), jnp.nan)
        return Prediction(logits, value, legal)

    return predict


def make_expand(predict: Predict, params: Params, tasks: Task) -> Expand:
    """The model as the search asks for it: boards of these tasks, taken on by one action each."""

    def expand(
        boards: Board, action: Int[Array, "B"], is_root: Bool[Array, ""]
    ) -> tuple[Evaluation, Board]:
        moved = jax.vmap(step)(State(tasks, boards), action).board
        after = jax.tree.map(lambda stay, move: jnp.where(is_root, stay, move), boards, moved)
        prediction = predict(params, State(tasks, after))
        ends = after.finished & ~boards.finished
        evaluation = Evaluation(
            reward=jnp.where(ends, prediction.value, 0.0),
            discount=jnp.where(after.finished, 0.0, 1.0),
            prior_logits=prediction.policy_logits,
            value=jnp.where(after.finished, 0.0, prediction.value),
        )
        return evaluation, after

    return expand


def plan(
    predict: Predict,
    params: Params,
    key: Array,
    states: State,
    settings: SearchSettings,
    gumbel_scale: Float[Array, ""] | Float[Array, "B 1"],
    root_legal: Bool[Array, "B A"],
    root_predict: Predict | None = None,
) -> SearchOutput:
    """One search for every state of a batch; `gumbel_scale` 0 searches greedily; one for all or for
    each state.

    With `root_predict` the roots are evaluated by it beforehand, else as all other nodes are.
    """
    expand = make_expand(predict, params, states.task)
    root = None
    if root_predict is not None:
        of_root = root_predict(params, states)
        nothing = jnp.zeros_like(of_root.value)
        root = Evaluation(nothing, nothing, of_root.policy_logits, of_root.value)
    return gumbel_muzero_search(key, expand, states.board, root_legal, settings, gumbel_scale, root)


def gather_tasks(tasks: Task, index: Int[Array, "B"]) -> Task:
    """Tasks of a pool (leaves `[n, ...]`) by index."""
    return jax.tree.map(lambda leaf: leaf[index], tasks)
