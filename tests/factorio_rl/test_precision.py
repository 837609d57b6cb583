"""Handing parameters over in FP8: scales of the moment, frozen codes, and when nothing is done."""

import re
from collections import Counter
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from envs.actions import num_actions
from factorio_rl import precision as precision_module
from factorio_rl.config import Config
from factorio_rl.config_sections import SwitchConfig
from factorio_rl.demonstrations import References
from factorio_rl.env_shape import env_shape
from factorio_rl.fp8_network import frozen_variables
from factorio_rl.learner import LearnerState, Shares
from factorio_rl.network import Network, Params, init_params
from factorio_rl.precision import Precision, make_fp8_run_chunk
from factorio_rl.precision_switch import Agreement, PrecisionState, start_precision
from factorio_rl.replay import Replay, empty_replay
from factorio_rl.selfplay import start_actor

SHARES = Shares(jnp.float32(0.5), jnp.float32(0.2))


def with_switch(config: Config, switch: SwitchConfig) -> Config:
    return config.model_copy(update={"actor": config.actor.model_copy(update={"switch": switch})})


@pytest.fixture(scope="module")
def precision(config: Config, network: Network, references: References) -> Precision:
    """Without a gate, due after 100 steps."""
    switch = SwitchConfig(after_env_steps=100, gate=False)
    return Precision(with_switch(config, switch), network, references, jax.random.key(0))


@pytest.fixture(scope="module")
def replay(config: Config) -> Replay:
    return jax.device_put(empty_replay(config.replay.capacity, 7, 7, num_actions(7, 7)))


def calibrated(
    precision: Precision, learner: LearnerState, replay: Replay, updates: int = 0
) -> PrecisionState:
    return precision.calibrated(start_precision(2), learner.params, replay, SHARES, updates)


def test_scales_are_powers_of_two_and_follow_the_parameters(
    precision: Precision, learner: LearnerState, fresh: LearnerState, replay: Replay
) -> None:
    scales = np.asarray(calibrated(precision, learner, replay).scales)
    mantissas, _ = np.frexp(scales)
    assert set(mantissas) == {0.5}
    # The convolution in between is zero in fresh parameters, so its successor sees zeros.
    params = jax.tree.map(lambda leaf: 16.0 * leaf, learner.params)
    larger = np.asarray(precision.calibrated(start_precision(2), params, replay, SHARES, 0).scales)
    assert (larger > scales).all()
    assert not np.array_equal(np.asarray(calibrated(precision, fresh, replay).scales), scales)


def test_calibration_repeats_for_the_same_update(
    precision: Precision, learner: LearnerState, replay: Replay
) -> None:
    first, again = (calibrated(precision, learner, replay, 3).scales for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_scales_are_measured_anew_whatever_they_were(
    precision: Precision, learner: LearnerState, replay: Replay
) -> None:
    first = calibrated(precision, learner, replay)
    params = jax.tree.map(lambda leaf: 16.0 * leaf, learner.params)
    again = precision.calibrated(first, params, replay, SHARES, 0)
    assert (np.asarray(again.scales) > np.asarray(first.scales)).all()


def test_scales_are_measured_on_the_rows_of_the_replay(
    precision: Precision, learner: LearnerState, replay: Replay
) -> None:
    """Boards full of belts excite the network more than any reference does."""
    full = jnp.full_like(replay.entity, 2)
    rows = replace(replay, entity=full, scored=jnp.ones_like(replay.scored))
    nothing_else = Shares(jnp.float32(0.0), jnp.float32(0.0))
    played = precision.calibrated(start_precision(2), learner.params, rows, nothing_else, 0)
    empty = replace(rows, entity=jnp.zeros_like(full))
    others = precision.calibrated(start_precision(2), learner.params, empty, nothing_else, 0)
    assert not np.array_equal(played.scales, others.scales)


def convolutions(
    config: Config, network: Network, references: References, key: jax.Array
) -> Counter:
    """Operand types of the convolutions in the program of self-play."""
    weights = jnp.ones((len(references.families), references.actions.shape[1] + 1))
    actor = start_actor(config, references, weights, key)
    params = init_params(network, env_shape(config), key)
    frozen = frozen_variables(network, params, jnp.ones(2))
    run_chunk = jax.jit(make_fp8_run_chunk(config, network))
    text = run_chunk.lower(frozen, references, weights, actor, key).as_text()
    return Counter(re.findall(r"stablehlo\.convolution.*: \(tensor<[\dx]*x(\w+)>", text))


def test_root_is_in_fp8_only_when_asked_for(
    config: Config, network: Network, references: References
) -> None:
    """Beside the two of the trunk: the stem; then stem and trunk of the root."""
    key = jax.random.key(0)
    assert convolutions(config, network, references, key) == {"f8E4M3FN": 2, "f32": 4}
    search = config.search.model_copy(update={"root_precision": "fp8"})
    in_fp8 = config.model_copy(update={"search": search})
    assert convolutions(in_fp8, network, references, key) == {"f8E4M3FN": 2, "f32": 1}


def test_nothing_is_frozen_before_it_is_due(precision: Precision, learner: LearnerState) -> None:
    handed = precision.hand_over(start_precision(2), learner.params, 99)
    assert handed.frozen is None
    assert handed.precision == "bf16"
    assert handed.figures() == {}


def test_frozen_parameters_are_codes_of_those_handed_over(
    precision: Precision, learner: LearnerState, replay: Replay
) -> None:
    state = calibrated(precision, learner, replay)
    handed = precision.hand_over(state, learner.params, 100)
    assert handed.precision == "fp8"
    assert handed.frozen is not None
    frozen = handed.frozen["fp8"]["ResidualBlock_0"]["Conv_1"]
    assert frozen["codes"].dtype == jnp.float8_e4m3fn
    np.testing.assert_array_equal(frozen["activation_scale"], state.scales[1])
    master = learner.params["params"]["ResidualBlock_0"]["Conv_1"]["kernel"]
    stands_for = frozen["codes"].astype(jnp.float32) * frozen["scale"][:, None, None, None]
    np.testing.assert_allclose(
        jnp.transpose(stands_for, (1, 2, 3, 0)), master, rtol=2.0**-4, atol=1e-4
    )


def test_gate_that_fails_keeps_the_parameters_out_of_fp8_and_tells_the_figures(
    config: Config,
    network: Network,
    references: References,
    learner: LearnerState,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = []

    class FixedProbe:
        def __init__(self, *_: object) -> None: ...

        def compare(self, params: Params, frozen: Params) -> Agreement:
            compared.append((params, frozen))
            return Agreement(0.99, 0.01, 0.03)

    monkeypatch.setattr(precision_module, "Probe", FixedProbe)
    switch = SwitchConfig(passes=1)
    gated = Precision(with_switch(config, switch), network, references, jax.random.key(0))
    state = replace(start_precision(2), scales=jnp.ones(2))
    handed = gated.hand_over(state, learner.params, 0)
    assert handed.frozen is None
    assert handed.figures() == {
        "gate_policy_agreement": 0.99,
        "gate_value_error": 0.01,
        "gate_target_divergence": 0.03,
    }
    [(params, frozen)] = compared
    assert params is learner.params
    assert frozen["fp8"]["ResidualBlock_0"]["Conv_0"]["codes"].dtype == jnp.float8_e4m3fn
