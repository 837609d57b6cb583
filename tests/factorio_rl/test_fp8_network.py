"""The network with its trunk in FP8: calibration, agreement of both variables, its programs."""

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from envs.observation import Observation, num_context, num_planes
from factorio_rl.config import Config
from factorio_rl.env_shape import env_shape
from factorio_rl.fp8_network import (
    calibrate,
    fp8_network,
    frozen_variables,
    training_variables,
    unit_scales,
)
from factorio_rl.network import (
    Network,
    NetworkOutput,
    Params,
    evaluate,
    init_params,
    make_network,
    pool,
    trunk_convolution_names,
)
from factorio_rl.quantize import E4M3, activation_scale

BATCH, BLOCKS = 8, 2

Actor = Callable[[jax.Array], np.ndarray]
"""Outputs of the FP8 network by its activation scales."""


class Case(NamedTuple):
    """A network with parameters of which none is zero, positions, and scales from these."""

    network: Network
    params: Params
    observation: Observation
    scales: jax.Array


def make_case(config: Config, dtype: str) -> Case:
    sizes = {"channels": 16, "blocks": BLOCKS, "compute_dtype": dtype}
    network, shape = make_network(config.network.model_copy(update=sizes)), env_shape(config)
    shapes = jax.eval_shape(partial(init_params, network, shape), jax.random.key(0))
    rng = np.random.default_rng(0)
    params = jax.tree.map(
        lambda leaf: jnp.asarray(0.1 * rng.standard_normal(leaf.shape), leaf.dtype), shapes
    )
    planes = rng.integers(0, 2, (BATCH, 7, 7, num_planes(shape))).astype(np.uint8)
    context = rng.random((BATCH, num_context(shape)), dtype=np.float32)
    observation = Observation(jnp.asarray(planes), jnp.asarray(context))
    scales = jax.jit(partial(calibrate, network))(params, observation)
    return Case(network, params, observation, scales)


@pytest.fixture(scope="module")
def case(config: Config) -> Case:
    return make_case(config, "float32")


@pytest.fixture(scope="module", params=["float32", "bfloat16"])
def any_case(request: pytest.FixtureRequest, config: Config, case: Case) -> Case:
    return case if request.param == "float32" else make_case(config, request.param)


@pytest.fixture(scope="module")
def actor(case: Case) -> Actor:
    """The compiled FP8 network with frozen codes."""
    freeze = jax.jit(partial(frozen_variables, case.network))
    forward = jax.jit(partial(evaluate, fp8_network(case.network)))
    return lambda scales: flat(forward(freeze(case.params, scales), case.observation))


def flat(output: NetworkOutput) -> np.ndarray:
    return np.concatenate([output.policy_logits, output.value_logits], axis=-1)


def relative_rms(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


def alike(one: jax.Array, other: jax.Array) -> bool:
    """Whether two arrays are the same, byte by byte."""
    return np.asarray(one).tobytes() == np.asarray(other).tobytes()


def learner_forward(
    network: Network, params: Params, scales: jax.Array, observation: Observation
) -> NetworkOutput:
    variables = training_variables(network, params, scales)
    return evaluate(fp8_network(network), variables, observation)


def test_learner_and_actor_compute_exactly_the_same(any_case: Case) -> None:
    network, params, observation, scales = any_case
    learner = jax.jit(partial(learner_forward, network))(params, scales, observation)
    frozen = jax.jit(partial(frozen_variables, network))(params, scales)
    acted = jax.jit(partial(evaluate, fp8_network(network)))(frozen, observation)
    np.testing.assert_array_equal(flat(learner), flat(acted))
    assert jax.tree.all(jax.tree.map(alike, frozen, frozen_variables(network, params, scales)))
    codes = [leaf for leaf in jax.tree.leaves(frozen["fp8"]) if leaf.dtype == E4M3]
    assert len(codes) == 2 * BLOCKS


def test_fp8_is_close_to_the_network_and_not_the_same(any_case: Case) -> None:
    network, params, observation, scales = any_case
    exact = jax.jit(partial(evaluate, network))(params, observation)
    found = jax.jit(partial(learner_forward, network))(params, scales, observation)
    assert 0.005 < relative_rms(flat(found), flat(exact)) < 0.1


def test_one_scale_that_is_stale_by_a_factor_of_two_changes_nothing(
    case: Case, actor: Actor
) -> None:
    for number in range(2 * BLOCKS):
        stale = case.scales.at[number].multiply(2.0)
        assert relative_rms(actor(stale), actor(case.scales)) < 1e-6
        other = case.scales.at[number].multiply(1.25)
        assert relative_rms(actor(other), actor(case.scales)) > 0.01


@pytest.mark.parametrize(
    ("factor", "least", "most"), [(0.5, 0.0, 1e-6), (2.0, 0.0, 5e-3), (1.25, 0.02, 1.0)]
)
def test_all_scales_may_be_stale_by_powers_of_two_only(
    case: Case, actor: Actor, factor: float, least: float, most: float
) -> None:
    assert least <= relative_rms(actor(factor * case.scales), actor(case.scales)) < most


def largest_inputs(case: Case) -> list[float]:
    """The largest input of each trunk convolution, from the parameters alone."""
    weights, observation = case.params["params"], case.observation

    def convolution(inputs: jax.Array, layer: Params) -> jax.Array:
        numbers = ("NHWC", "HWIO", "NHWC")
        result = jax.lax.conv_general_dilated(
            inputs, layer["kernel"], (1, 1), "SAME", dimension_numbers=numbers
        )
        return result + layer.get("bias", 0.0)

    def dense(inputs: jax.Array, layer: Params) -> jax.Array:
        return inputs @ layer["kernel"] + layer["bias"]

    context = dense(observation.context, weights["Dense_0"])[:, None, None]
    trunk = convolution(observation.planes.astype(jnp.float32), weights["Conv_0"]) + context
    largest = []
    for block in range(BLOCKS):
        layers = weights[f"ResidualBlock_{block}"]
        inputs = jnp.maximum(trunk, 0)
        hidden = convolution(inputs, layers["Conv_0"])
        if "Dense_0" in layers:
            hidden = hidden + dense(pool(hidden), layers["Dense_0"])[:, None, None]
        hidden = jnp.maximum(hidden, 0)
        trunk = trunk + convolution(hidden, layers["Conv_1"])
        largest += [float(inputs.max()), float(hidden.max())]
    return largest


def test_calibration_measures_the_largest_input_of_each_convolution_in_order(case: Case) -> None:
    expected = jnp.asarray(largest_inputs(case), jnp.float32)
    assert len(set(np.asarray(activation_scale(expected)))) > 1
    np.testing.assert_array_equal(case.scales, activation_scale(expected))


def test_scales_belong_to_the_convolutions_in_the_order_in_which_they_run(case: Case) -> None:
    names = trunk_convolution_names(BLOCKS)
    assert names == [(f"ResidualBlock_{i}", f"Conv_{j}") for i in range(BLOCKS) for j in range(2)]
    scales = jnp.arange(1.0, 1 + 2 * BLOCKS)
    for make in (training_variables, frozen_variables):
        made = make(case.network, case.params, scales)["fp8"]
        assert [float(made[i][j]["activation_scale"]) for i, j in names] == list(scales)
    assert unit_scales(case.network).shape == case.scales.shape == (2 * BLOCKS,)
    assert (unit_scales(case.network) == 1).all()


def test_gradients_reach_every_parameter_and_are_close_to_unquantised(case: Case) -> None:
    def loss(forward: Callable[[Params], NetworkOutput], params: Params) -> jax.Array:
        output = forward(params)
        return 1e-4 * (jnp.square(output.policy_logits).sum() + output.value_logits.sum())

    def in_fp8(params: Params) -> NetworkOutput:
        return learner_forward(case.network, params, case.scales, case.observation)

    def as_it_is(params: Params) -> NetworkOutput:
        return evaluate(case.network, params, case.observation)

    found, expected = (
        jax.jit(jax.grad(partial(loss, forward)))(case.params) for forward in (in_fp8, as_it_is)
    )
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for gradient, reference in zip(*map(jax.tree.leaves, (found, expected)), strict=True):
        assert gradient.dtype == jnp.float32
        assert (np.asarray(gradient) != 0).mean() >= (np.asarray(reference) != 0).mean() - 0.02
        assert relative_rms(gradient, reference) < 0.15


PRODUCT = re.compile(
    r"stablehlo\.(convolution|dot_general).*: \(tensor<[\dx]*x(\w+)>, tensor<[\dx]*x(\w+)>\)"
)
CONVERT = re.compile(
    r"(%\w+) = stablehlo\.convert (%\w+) : \(tensor<(?:\d+x)*(\w+)>\) -> "
    r"tensor<(?:\d+x)*(\w+)>"
)
F8 = "f8E4M3FN"


def actor_program(case: Case) -> str:
    """The actor's forward pass as StableHLO."""
    frozen = jax.eval_shape(partial(frozen_variables, case.network), case.params, case.scales)
    forward = jax.jit(partial(evaluate, fp8_network(case.network)))
    return forward.lower(frozen, case.observation).as_text()


def conversions_from_fp8(program: str) -> list[str]:
    """What leaves FP8 by a cast, of which XLA may delete those of a value cast to FP8."""
    return [found[0] for found in CONVERT.finditer(program) if found[3] == F8]


def test_trunk_convolutions_alone_are_in_fp8(any_case: Case) -> None:
    products = PRODUCT.findall(actor_program(any_case))
    arithmetic = "bf16" if any_case.network.dtype == jnp.bfloat16 else "f32"
    expected = [("convolution", F8, F8)] * 2 * BLOCKS
    # Stem; then context, pooling within a block, and the four layers of the heads.
    expected += [("convolution", arithmetic, arithmetic)]
    expected += [("dot_general", arithmetic, arithmetic)] * 6
    assert sorted(products) == sorted(expected)


def test_the_actor_never_casts_out_of_fp8(any_case: Case) -> None:
    program = actor_program(any_case)
    casts = [found[4] for found in CONVERT.finditer(program)]
    assert casts.count(F8) == 2 * BLOCKS
    assert conversions_from_fp8(program) == []


def test_the_forward_pass_of_the_learner_never_casts_out_of_fp8(any_case: Case) -> None:
    forward = jax.jit(partial(learner_forward, any_case.network))
    program = forward.lower(any_case.params, any_case.scales, any_case.observation).as_text()
    assert conversions_from_fp8(program) == []


def test_a_cast_pair_would_be_found() -> None:
    program = jax.jit(lambda x: x.astype(E4M3).astype(jnp.float32)).lower(jnp.ones(3)).as_text()
    assert len(conversions_from_fp8(program)) == 1
