"""Handing parameters over in FP8: scales of the moment, frozen codes, and when nothing is done."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from envs.actions import num_actions
from factorio_rl.config import Config
from factorio_rl.config_sections import SwitchConfig
from factorio_rl.demonstrations import References
from factorio_rl.learner import LearnerState, Shares
from factorio_rl.network import Network
from factorio_rl.precision import Precision
from factorio_rl.precision_switch import PrecisionState, start_precision
from factorio_rl.replay import Replay, empty_replay

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
    config: Config, network: Network, references: References, learner: LearnerState, replay: Replay
) -> None:
    strict = SwitchConfig(max_target_divergence=1e-12, passes=1, probe_positions=4)
    gated = Precision(with_switch(config, strict), network, references, jax.random.key(0))
    handed = gated.hand_over(calibrated(gated, learner, replay), learner.params, 0)
    assert handed.frozen is None
    assert handed.figures().keys() == {
        "gate_policy_agreement",
        "gate_value_error",
        "gate_target_divergence",
    }
    assert handed.figures()["gate_target_divergence"] > 1e-12
