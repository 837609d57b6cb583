"""The search's model: true transitions, ending edges pay the network's value, illegal is masked.

Checked node by node on the trees of searches from real boards, among them some that are one or
two placements from the limit, so that searches end, and go on below the end.
"""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from envs.actions import finish_action
from envs.dynamics import legal_actions, step
from envs.types import Board, State
from factorio_rl.demonstrations import References, sample_start
from factorio_rl.learner import LearnerState
from factorio_rl.model import Predict, Prediction, gather_tasks, plan
from factorio_rl.search import SearchOutput, SearchSettings

BATCH = 6
SIMULATIONS = 24
FINISH = finish_action(7, 7)


class Searched(NamedTuple):
    """A batch of searches, with tasks and boards of every node beside them."""

    states: State
    legal: np.ndarray
    prediction: Prediction
    output: SearchOutput
    greedy: tuple[SearchOutput, SearchOutput]  # by two keys


class Edges(NamedTuple):
    """All edges of the trees, first axis E; numpy."""

    before: Board
    after: Board
    expected: Board  # what the dynamics say
    is_legal: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    discount: np.ndarray
    value: np.ndarray
    network_value: np.ndarray  # of the board after
    ends: np.ndarray


@pytest.fixture(scope="module")
def params(learner: LearnerState) -> dict:
    """Parameters that like to finish."""
    layers = dict(learner.params["params"])
    layers["Dense_2"] = {**layers["Dense_2"], "bias": layers["Dense_2"]["bias"] + 6.0}
    return {"params": layers}


@pytest.fixture(scope="module")
def searched(references: References, alike: jax.Array, predict: Predict, params: dict) -> Searched:
    draw = jax.jit(lambda key: sample_start(key, references, alike, BATCH, 0.3, 0.2))
    start = draw(jax.random.key(2))
    left = np.array([1, 1, 2, 3, 8, 8])
    tasks = gather_tasks(references.tasks, start.task_index)
    tasks = replace(tasks, placement_limit=start.board.placed + left)
    states = State(tasks, start.board)
    settings = SearchSettings(SIMULATIONS, 8)

    legal = jax.jit(jax.vmap(legal_actions))(states)

    @jax.jit
    def search(params: dict, key: jax.Array, scale: jax.Array) -> tuple[SearchOutput, Prediction]:
        found = plan(predict, params, key, states, settings, scale, legal)
        return found, predict(params, states)

    def run(seed: int, scale: float) -> tuple[SearchOutput, Prediction]:
        key = jax.random.key(seed)
        return jax.device_get(search(params, key, jnp.float32(scale)))

    output, prediction = run(3, 1.0)
    greedy = run(3, 0.0)[0], run(4, 0.0)[0]
    return Searched(states, np.asarray(legal), prediction, output, greedy)


@pytest.fixture(scope="module")
def edges(searched: Searched, predict: Predict, params: dict) -> Edges:
    """The edges of the searches with and without noise."""
    found = searched.output, searched.greedy[0]
    tree, embeddings = jax.tree.map(
        lambda *leaves: np.concatenate(leaves), *((out.tree, out.embeddings) for out in found)
    )
    row, node = np.nonzero(tree.parents >= 0)
    parent, action = tree.parents[row, node], tree.actions[row, node]
    before = jax.tree.map(lambda leaf: leaf[row, parent], embeddings)
    after = jax.tree.map(lambda leaf: leaf[row, node], embeddings)
    tasks = jax.tree.map(lambda leaf: leaf[row % BATCH], searched.states.task)

    @jax.jit
    def judge(before: Board, after: Board, action: jax.Array):
        states = State(tasks, before)
        legal = jax.vmap(legal_actions)(states)
        is_legal = jnp.take_along_axis(legal, action[:, None], axis=1)[:, 0]
        value = predict(params, State(tasks, after)).value
        return jax.vmap(step)(states, action).board, is_legal, value

    expected, is_legal, network_value = jax.device_get(judge(before, after, action))
    return Edges(
        before,
        after,
        expected,
        is_legal,
        action,
        reward=tree.rewards[row, node],
        discount=tree.discounts[row, node],
        value=tree.raw_values[row, node],
        network_value=network_value,
        ends=after.finished & ~before.finished,
    )


def test_searches_reach_every_kind_of_edge(edges: Edges) -> None:
    """The other tests of this file would prove nothing without these."""
    finishes = edges.action == FINISH
    assert np.any(edges.ends & finishes)
    assert np.any(edges.ends & ~finishes)
    assert np.any(edges.before.finished)
    assert np.any(~edges.after.finished & ~finishes)


def test_children_are_what_the_dynamics_say(edges: Edges) -> None:
    jax.tree.map(np.testing.assert_array_equal, edges.after, edges.expected)


def test_search_takes_legal_actions_only(edges: Edges) -> None:
    assert np.all(edges.is_legal)


def test_ending_edge_pays_the_network_value_of_the_finished_state(edges: Edges) -> None:
    ends = edges.ends
    np.testing.assert_allclose(edges.reward[ends], edges.network_value[ends], atol=1e-5)
    assert np.all(edges.reward[ends] > 0)
    assert np.all(edges.discount[ends] == 0)
    assert np.all(edges.value[ends] == 0)


def test_other_edges_pay_nothing_and_do_not_discount(edges: Edges) -> None:
    goes_on = ~edges.after.finished
    assert np.all(edges.reward[goes_on] == 0)
    assert np.all(edges.discount[goes_on] == 1)
    np.testing.assert_allclose(edges.value[goes_on], edges.network_value[goes_on], atol=1e-5)


def test_nothing_changes_below_a_finished_state(edges: Edges) -> None:
    below = edges.before.finished
    assert np.all(edges.action[below] == FINISH)
    for before, after in zip(
        jax.tree.leaves(edges.before), jax.tree.leaves(edges.after), strict=True
    ):
        np.testing.assert_array_equal(before[below], after[below])
    for figures in (edges.reward, edges.discount, edges.value):
        assert np.all(figures[below] == 0)


def test_policy_target_is_a_distribution_over_legal_actions(searched: Searched) -> None:
    legal = searched.legal
    for output in (searched.output, *searched.greedy):
        np.testing.assert_allclose(output.action_weights.sum(axis=-1), 1.0, atol=1e-5)
        assert np.all(output.action_weights[~legal] == 0)
        assert np.all(legal[np.arange(BATCH), output.action])


def test_search_without_noise_does_not_depend_on_the_key(searched: Searched) -> None:
    jax.tree.map(np.testing.assert_array_equal, *searched.greedy)
    assert not np.array_equal(searched.output.action_weights, searched.greedy[0].action_weights)


def test_prediction_masks_illegal_logits_with_the_least_float(searched: Searched) -> None:
    prediction = searched.prediction
    np.testing.assert_array_equal(prediction.legal, searched.legal)
    least = np.finfo(np.float32).min
    np.testing.assert_array_equal(prediction.policy_logits == least, ~searched.legal)
    assert np.all((prediction.value > 0) & (prediction.value < 1))
    np.testing.assert_allclose(prediction.value, searched.output.raw_value, atol=1e-5)


def test_tasks_are_gathered_by_index(references: References) -> None:
    picked = gather_tasks(references.tasks, jnp.array([2, 0, 2]))
    for leaf, source in zip(
        jax.tree.leaves(picked), jax.tree.leaves(references.tasks), strict=True
    ):
        np.testing.assert_array_equal(leaf, np.asarray(source)[[2, 0, 2]])
