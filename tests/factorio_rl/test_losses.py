"""The loss in closed form: all weights zero, so that the biases of the heads are the logits."""

from collections.abc import Callable
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from envs.actions import num_actions
from envs.dynamics import legal_actions
from envs.types import State
from factorio_rl.demonstrations import References, sample_demonstration
from factorio_rl.learner import LearnerState
from factorio_rl.losses import Batch, LossFigures, loss_function
from factorio_rl.model import gather_tasks
from factorio_rl.network import Network

ROWS = 6
BINS = 11
ACTIONS = num_actions(7, 7)
VALUE_WEIGHT = 0.5

CELL_LOGITS = np.linspace(-1.0, 2.0, 12)  # by kind and rotation, the same for every cell
FINISH_LOGIT = 0.75
VALUE_LOGITS = np.linspace(1.0, -1.0, BINS)

LossOf = Callable[[dict, Batch], tuple[tuple[jax.Array, LossFigures], dict]]


@pytest.fixture(scope="module")
def loss_of(network: Network) -> LossOf:
    """((loss, figures), gradient) of parameters and batch, compiled once."""

    def loss(params: dict, batch: Batch) -> tuple[jax.Array, LossFigures]:
        return loss_function(network, params, batch, growth_rule=True, value_weight=VALUE_WEIGHT)

    return jax.jit(jax.value_and_grad(loss, has_aux=True))


@pytest.fixture(scope="module")
def states(references: References) -> State:
    draw = jax.jit(sample_demonstration, static_argnums=(2, 3, 4, 5))
    demonstration = draw(jax.random.key(1), references, ROWS, 0.2, "next", True)
    board = replace(demonstration.board, finished=jnp.arange(ROWS) >= ROWS - 2)
    return State(gather_tasks(references.tasks, demonstration.task_index), board)


@pytest.fixture(scope="module")
def legal(states: State) -> np.ndarray:
    return np.asarray(jax.jit(jax.vmap(legal_actions))(states))


@pytest.fixture(scope="module")
def batch(states: State, legal: np.ndarray) -> Batch:
    """Random targets on legal actions; the last two rows are finished layouts."""
    rng = np.random.default_rng(0)
    policy = rng.random((ROWS, ACTIONS)) * legal
    policy /= policy.sum(axis=1, keepdims=True)
    return Batch(
        states,
        jnp.asarray(policy, jnp.float32),
        jnp.array([True, True, False, True, False, False]),
        jnp.array([0.0, 0.5, 0.23, 1.0, 0.07, 0.99]),
        jnp.array([True, False, True, False, True, True]),
    )


@pytest.fixture(scope="module")
def plain(learner: LearnerState) -> dict:
    """Parameters whose logits are the constants of this file."""
    params = jax.tree.map(lambda leaf: np.zeros_like(leaf), jax.device_get(learner.params))
    params["params"]["Dense_1"]["bias"][:] = CELL_LOGITS
    params["params"]["Dense_2"]["bias"][:] = FINISH_LOGIT
    params["params"]["Dense_4"]["bias"][:] = VALUE_LOGITS
    return jax.device_put(params)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def expected_policy_losses(legal: np.ndarray, policy: np.ndarray) -> np.ndarray:
    """Cross-entropies by row, over legal actions only."""
    kinds = CELL_LOGITS.reshape(3, 1, 4)
    logits = np.append(np.broadcast_to(kinds, (3, 49, 4)).reshape(-1), FINISH_LOGIT)
    return np.array(
        [
            -(target[allowed] * log_softmax(logits[allowed])).sum()
            for allowed, target in zip(legal, policy, strict=True)
        ]
    )


def expected_value_losses(value: np.ndarray) -> np.ndarray:
    """Cross-entropies to the two bins around each value."""
    losses = []
    for position in np.asarray(value, np.float64) * (BINS - 1):
        below = min(int(position), BINS - 2)
        share = position - below
        log_bins = log_softmax(VALUE_LOGITS)
        losses.append(-((1 - share) * log_bins[below] + share * log_bins[below + 1]))
    return np.array(losses)


def test_losses_are_the_mean_cross_entropies_of_the_rows_that_count(
    loss_of: LossOf, plain: dict, batch: Batch, legal: np.ndarray
) -> None:
    (loss, figures), _ = loss_of(plain, batch)
    policy = expected_policy_losses(legal, np.asarray(batch.policy))
    value = expected_value_losses(np.asarray(batch.value))
    policy_loss = policy[np.asarray(batch.has_policy)].mean()
    value_loss = value[np.asarray(batch.has_value)].mean()
    np.testing.assert_allclose(figures.policy_loss, policy_loss, rtol=1e-5)
    np.testing.assert_allclose(figures.value_loss, value_loss, rtol=1e-5)
    np.testing.assert_allclose(loss, policy_loss + VALUE_WEIGHT * value_loss, rtol=1e-5)
    np.testing.assert_array_equal(loss, figures.loss)


def test_flat_logits_give_the_logarithm_of_the_number_of_choices(
    loss_of: LossOf, plain: dict, batch: Batch, legal: np.ndarray
) -> None:
    flat = jax.tree.map(jnp.zeros_like, plain)
    (_, figures), _ = loss_of(flat, batch)
    choices = legal.sum(axis=1)[np.asarray(batch.has_policy)]
    np.testing.assert_allclose(figures.policy_loss, np.log(choices).mean(), rtol=1e-5)
    np.testing.assert_allclose(figures.value_loss, np.log(BINS), rtol=1e-5)


def test_value_errors_are_root_mean_squares(loss_of: LossOf, plain: dict, batch: Batch) -> None:
    (_, figures), _ = loss_of(plain, batch)
    predicted = np.exp(log_softmax(VALUE_LOGITS)) @ np.linspace(0, 1, BINS)
    errors = np.square(predicted - np.asarray(batch.value))
    counted = errors[np.asarray(batch.has_value)]
    np.testing.assert_allclose(figures.value_error, np.sqrt(counted.mean()), rtol=1e-5)
    np.testing.assert_allclose(figures.finished_value_error, np.sqrt(errors[4:].mean()), rtol=1e-5)


def test_accuracy_counts_rows_whose_likeliest_action_is_the_target(
    loss_of: LossOf, plain: dict, batch: Batch, legal: np.ndarray
) -> None:
    kinds = np.broadcast_to(CELL_LOGITS.reshape(3, 1, 4), (3, 49, 4)).reshape(-1)
    logits = np.append(kinds, FINISH_LOGIT)
    likeliest = np.where(legal, logits, -np.inf).argmax(axis=1)
    other = np.argmax(legal & (np.arange(ACTIONS) != likeliest[:, None]), axis=1)
    targets = np.where(np.arange(ROWS) == 1, other, likeliest)
    chosen = batch._replace(policy=jax.nn.one_hot(targets, ACTIONS))
    (_, figures), _ = loss_of(plain, chosen)
    np.testing.assert_allclose(figures.policy_accuracy, 2 / 3, rtol=1e-6)
    either = (jax.nn.one_hot(likeliest, ACTIONS) + jax.nn.one_hot(other, ACTIONS)) / 2
    (_, figures), _ = loss_of(plain, batch._replace(policy=either))
    np.testing.assert_allclose(figures.policy_accuracy, 1.0, rtol=1e-6)


def test_targets_of_rows_that_do_not_count_change_nothing(
    loss_of: LossOf, learner: LearnerState, batch: Batch
) -> None:
    has_policy, has_value = batch.has_policy[:, None], batch.has_value
    other = batch._replace(
        policy=jnp.where(has_policy, batch.policy, jnp.roll(batch.policy, 7, axis=1)),
        value=jnp.where(has_value, batch.value, 1.0 - batch.value),
    )
    assert not np.array_equal(other.policy, batch.policy)
    assert not np.array_equal(other.value, batch.value)
    jax.tree.map(
        np.testing.assert_array_equal,
        loss_of(learner.params, batch),
        loss_of(learner.params, other),
    )


def test_batch_where_nothing_counts_has_no_loss_and_no_gradient(
    loss_of: LossOf, learner: LearnerState, batch: Batch
) -> None:
    nothing = jnp.zeros(ROWS, jnp.bool_)
    (loss, figures), gradient = loss_of(
        learner.params, batch._replace(has_policy=nothing, has_value=nothing)
    )
    assert loss == 0
    assert all(float(figure) == 0 for figure in figures)
    assert not any(np.any(leaf) for leaf in jax.tree.leaves(gradient))


def test_gradient_of_each_head_comes_from_its_own_rows(
    loss_of: LossOf, learner: LearnerState, batch: Batch
) -> None:
    nothing = jnp.zeros(ROWS, jnp.bool_)
    _, policy_only = loss_of(learner.params, batch._replace(has_value=nothing))
    _, value_only = loss_of(learner.params, batch._replace(has_policy=nothing))
    assert not np.any(policy_only["params"]["Dense_4"]["kernel"])
    assert not np.any(value_only["params"]["Dense_1"]["kernel"])
    _, both = loss_of(learner.params, batch)
    for sums, whole in zip(
        map(jnp.add, jax.tree.leaves(policy_only), jax.tree.leaves(value_only)),
        jax.tree.leaves(both),
        strict=True,
    ):
        np.testing.assert_allclose(sums, whole, atol=1e-5)


@pytest.mark.parametrize("scale", [1.0, 1e4, 1e30])
def test_masked_logits_of_any_size_give_finite_losses_and_gradients(
    loss_of: LossOf, plain: dict, batch: Batch, scale: float
) -> None:
    params = jax.tree.map(lambda leaf: leaf * scale, plain)
    for leaf in jax.tree.leaves(loss_of(params, batch)):
        assert np.all(np.isfinite(leaf))


def test_policy_gradient_vanishes_where_the_target_is_reached(
    loss_of: LossOf, plain: dict, batch: Batch, legal: np.ndarray
) -> None:
    """A target equal to the network's own policy is a minimum of the cross-entropy."""
    kinds = np.broadcast_to(CELL_LOGITS.reshape(3, 1, 4), (3, 49, 4)).reshape(-1)
    weights = np.exp(np.append(kinds, FINISH_LOGIT)) * legal
    own = jnp.asarray(weights / weights.sum(axis=1, keepdims=True), jnp.float32)
    _, gradient = loss_of(plain, batch._replace(policy=own))
    for layer in ("Dense_1", "Dense_2"):
        np.testing.assert_allclose(gradient["params"][layer]["bias"], 0.0, atol=1e-6)
