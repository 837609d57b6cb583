"""The network: types at its border, bfloat16 inside, the order of its actions, value coding."""

import re
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from envs.actions import encode, finish_action, num_actions
from envs.observation import Observation, num_context, num_planes, observe
from envs.task_spec import BELT, INSERTER, MACHINE, Placement
from envs.types import State
from factorio_rl.config import Config
from factorio_rl.env_shape import env_shape
from factorio_rl.learner import LearnerState
from factorio_rl.network import (
    Network,
    NetworkOutput,
    expected_value,
    init_params,
    make_network,
    mask_illegal,
    two_hot,
)

SIZE = 7
BATCH = 4

Apply = Callable[..., NetworkOutput]


@pytest.fixture(scope="module")
def observation(empty_boards: State) -> Observation:
    """The empty boards of all tasks."""
    return jax.jit(jax.vmap(observe))(empty_boards)


@pytest.fixture(scope="module")
def half(config: Config) -> Network:
    """The network with bfloat16 arithmetic."""
    return make_network(config.network.model_copy(update={"compute_dtype": "bfloat16"}))


def synthetic(config: Config, planes: np.ndarray) -> Observation:
    """A batch of boards `[b, H, W]` that fill all planes, with an empty context."""
    shape = env_shape(config)
    every = np.zeros((BATCH, SIZE, SIZE, num_planes(shape)), np.uint8)
    every[: len(planes)] = planes[..., None]
    context = np.zeros((BATCH, num_context(shape)), np.float32)
    return Observation(jnp.asarray(every), jnp.asarray(context))


def product_types(network: Network, params: dict, observation: Observation) -> set[str]:
    """Result types of all convolutions and matrix products of the program."""
    text = jax.jit(network.apply).lower(params, observation).as_text()
    products = re.findall(r"stablehlo\.(?:convolution|dot_general).*-> tensor<[\dx]*x(\w+)>", text)
    assert len(products) == 9  # stem 2, block 3, heads 4
    return set(products)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_outputs_are_float32_of_the_right_shape_in_any_arithmetic(
    config: Config, learner: LearnerState, observation: Observation, dtype: str
) -> None:
    network = make_network(config.network.model_copy(update={"compute_dtype": dtype}))
    output = jax.eval_shape(network.apply, learner.params, observation)
    assert output.policy_logits.shape == (BATCH, num_actions(SIZE, SIZE))
    assert output.value_logits.shape == (BATCH, config.network.value_bins)
    assert {leaf.dtype for leaf in jax.tree.leaves(output)} == {jnp.dtype("float32")}


def test_every_product_runs_in_the_configured_arithmetic(
    network: Network, half: Network, learner: LearnerState, observation: Observation
) -> None:
    assert product_types(network, learner.params, observation) == {"f32"}
    assert product_types(half, learner.params, observation) == {"bf16"}


def test_bfloat16_agrees_with_float32_to_its_precision(
    apply: Apply, half: Network, learner: LearnerState, observation: Observation
) -> None:
    exact = apply(learner.params, observation)
    rounded = jax.jit(half.apply)(learner.params, observation)
    for fine, coarse in zip(exact, rounded, strict=True):
        assert not np.array_equal(fine, coarse)
        np.testing.assert_allclose(coarse, fine, atol=0.05 * np.abs(fine).max())


def test_parameters_are_float32_and_auto_is_float32_on_a_cpu(config: Config, half: Network) -> None:
    shape = env_shape(config)
    params = jax.eval_shape(lambda key: init_params(half, shape, key), jax.random.key(0))
    assert {leaf.dtype for leaf in jax.tree.leaves(params)} == {jnp.dtype("float32")}
    auto = make_network(config.network.model_copy(update={"compute_dtype": "auto"}))
    assert auto.dtype == jnp.dtype("float32")


def test_new_block_passes_its_input_through(
    apply: Apply, fresh: LearnerState, observation: Observation
) -> None:
    block = fresh.params["params"]["ResidualBlock_0"]
    assert not np.any(block["Conv_1"]["kernel"])
    changed = {**block, "Conv_0": jax.tree.map(lambda leaf: leaf + 1.0, block["Conv_0"])}
    other = {"params": {**fresh.params["params"], "ResidualBlock_0": changed}}
    before, after = apply(fresh.params, observation), apply(other, observation)
    jax.tree.map(np.testing.assert_array_equal, before, after)


def probing_params(learner: LearnerState) -> dict:
    """Parameters that copy plane 0 through the trunk and give head plane j the weight j + 1."""
    zeros = jax.tree.map(lambda leaf: np.zeros_like(leaf), jax.device_get(learner.params))
    zeros["params"]["Conv_0"]["kernel"][1, 1, 0, 0] = 1.0
    zeros["params"]["Dense_1"]["kernel"][0] = 1 + np.arange(12)
    return jax.device_put(zeros)


def test_policy_logits_stand_in_the_order_of_action_ids(
    config: Config, apply: Apply, learner: LearnerState
) -> None:
    board, x, y = np.zeros((1, SIZE, SIZE)), 4, 1
    board[0, y, x] = 1
    output = apply(probing_params(learner), synthetic(config, board))
    logits = np.asarray(output.policy_logits[0])
    for kind in (MACHINE, BELT, INSERTER):
        for rotation in range(4):
            action = encode(Placement(kind, x, y, rotation), SIZE, SIZE)
            assert logits[action] == 4 * kind + rotation + 1
    assert np.count_nonzero(logits) == 12
    assert logits[finish_action(SIZE, SIZE)] == 0


def test_input_that_moves_by_a_cell_moves_the_logits(
    config: Config, apply: Apply, learner: LearnerState
) -> None:
    """True where the surroundings, three cells for stem and one block, stay inside."""
    boards = np.zeros((2, SIZE, SIZE))
    boards[0, 3, 3] = boards[1, 3, 4] = 1
    # Without its global pooling, which sees the borders too.
    params = dict(learner.params["params"])
    pooled = jax.tree.map(jnp.zeros_like, params["ResidualBlock_0"]["Dense_0"])
    params["ResidualBlock_0"] = {**params["ResidualBlock_0"], "Dense_0": pooled}
    logits = apply({"params": params}, synthetic(config, boards)).policy_logits
    here, moved = np.asarray(logits[:2, :-1]).reshape(2, 3, SIZE, SIZE, 4)
    np.testing.assert_allclose(moved[:, 3, 3:5], here[:, 3, 2:4], rtol=1e-4, atol=1e-5)
    assert not np.allclose(moved[:, 3, 3], here[:, 3, 3], atol=1e-3)


def test_every_parameter_changes_the_output(
    network: Network, learner: LearnerState, observation: Observation
) -> None:
    def total(params: dict) -> jax.Array:
        output = network.apply(params, observation)
        return jnp.square(output.policy_logits).sum() + jnp.square(output.value_logits).sum()

    gradients = jax.jit(jax.grad(total))(learner.params)
    for path, gradient in jax.tree_util.tree_leaves_with_path(gradients):
        assert np.any(gradient), jax.tree_util.keystr(path)


def test_output_does_not_depend_on_the_rest_of_the_batch(
    apply: Apply, learner: LearnerState, observation: Observation
) -> None:
    """No batch statistics: self-play, training and evaluation see the same function."""
    is_kept = np.arange(BATCH) == 1
    other = Observation(
        jnp.where(is_kept[:, None, None, None], observation.planes, 1),
        jnp.where(is_kept[:, None], observation.context, 3.0),
    )
    whole, mixed = apply(learner.params, observation), apply(learner.params, other)
    assert not np.array_equal(whole.policy_logits[0], mixed.policy_logits[0])
    np.testing.assert_allclose(whole.policy_logits[1], mixed.policy_logits[1], atol=1e-6)
    np.testing.assert_allclose(whole.value_logits[1], mixed.value_logits[1], atol=1e-6)


def test_illegal_logits_are_finite_and_get_no_probability() -> None:
    logits = jnp.array([[1.0, 5.0, -2.0], [0.0, 0.0, 0.0]])
    legal = jnp.array([[True, False, True], [False, False, False]])
    masked = mask_illegal(logits, legal)
    assert np.all(np.isfinite(masked))
    chances = np.asarray(jax.nn.softmax(masked))
    np.testing.assert_allclose(chances[0], np.asarray([np.e**3, 0, 1]) / (np.e**3 + 1), rtol=1e-6)
    np.testing.assert_allclose(chances[1], 1 / 3, rtol=1e-6)


@pytest.mark.parametrize("bins", [2, 11, 51])
def test_two_hot_sums_to_one_and_has_the_value_as_its_mean(bins: int) -> None:
    values = np.linspace(0.0, 1.0, 101, dtype=np.float32)
    target = np.asarray(two_hot(jnp.asarray(values), bins), np.float64)
    np.testing.assert_allclose(target.sum(axis=-1), 1.0, atol=1e-5)
    np.testing.assert_allclose(target @ np.linspace(0, 1, bins), values, atol=1e-6)
    assert np.all(target >= 0)
    assert np.count_nonzero(target, axis=-1).max() == 2


def test_two_hot_of_a_bin_is_that_bin_alone() -> None:
    np.testing.assert_array_equal(two_hot(jnp.array([0.0, 0.25, 1.0]), 5), np.eye(5)[[0, 1, 4]])


def test_expected_value_inverts_two_hot() -> None:
    values = jnp.linspace(0.0, 1.0, 37)
    logits = jnp.log(jnp.maximum(two_hot(values, 51), 1e-30))
    np.testing.assert_allclose(expected_value(logits), values, atol=1e-6)


def test_expected_value_of_flat_logits_is_one_half() -> None:
    np.testing.assert_allclose(expected_value(jnp.zeros((2, 51))), 0.5, atol=1e-6)
