"""The switch between arithmetics: when it is due, the gate's limits, and its hysteresis."""

import jax.numpy as jnp
import numpy as np
import pytest

from factorio_rl.config_sections import SwitchConfig
from factorio_rl.precision_switch import (
    Agreement,
    PrecisionState,
    is_due,
    next_state,
    own_arithmetic,
    start_precision,
)

GOOD = Agreement(policy_agreement=0.99, value_error=0.02, target_divergence=0.001)
SWITCH = SwitchConfig(after_env_steps=100, passes=2)


def in_fp8(passes: int = 5) -> PrecisionState:
    return PrecisionState(jnp.ones(2), np.asarray(True), np.asarray(passes, np.int64))


def test_starts_in_the_networks_own_arithmetic_with_one_scale_per_convolution() -> None:
    state = start_precision(6)
    assert not state.in_fp8
    assert state.passes == 0
    assert state.scales.tolist() == [0.0] * 6


@pytest.mark.parametrize(("env_steps", "due"), [(0, False), (99, False), (100, True), (101, True)])
def test_is_due_from_the_named_environment_step_on(env_steps: int, due: bool) -> None:
    assert is_due(SWITCH, env_steps) is due


def test_nothing_changes_before_it_is_due() -> None:
    after, reason = next_state(start_precision(2), SWITCH, 99, None)
    assert not after.in_fp8
    assert reason is None


def test_without_a_gate_it_goes_over_at_once_and_stays_silent_afterwards() -> None:
    free = SwitchConfig(after_env_steps=100, gate=False)
    after, reason = next_state(start_precision(2), free, 100, None)
    assert after.in_fp8
    assert reason == "100 environment steps made"
    again, reason = next_state(after, free, 200, None)
    assert again.in_fp8
    assert reason is None


def test_gate_needs_several_passes_in_a_row() -> None:
    state, reasons = start_precision(2), []
    for agreement in (GOOD, GOOD._replace(value_error=0.2), GOOD, GOOD):
        state, reason = next_state(state, SWITCH, 100, agreement)
        reasons.append((bool(state.in_fp8), reason is not None))
    assert reasons == [(False, False), (False, False), (False, False), (True, True)]


def test_reason_names_the_figures_that_let_it_through() -> None:
    first, _ = next_state(start_precision(2), SWITCH, 100, GOOD)
    _, reason = next_state(first, SWITCH, 100, GOOD)
    assert reason is not None
    assert "policy agreement 0.99" in reason
    assert "target divergence 0.001" in reason


@pytest.mark.parametrize(
    ("miss", "words"),
    [
        ({"policy_agreement": 0.92}, "policy agreement is 0.92, must be >= 0.925"),
        ({"value_error": 0.16}, "value error is 0.16, must be <= 0.15"),
        ({"target_divergence": 0.031}, "target divergence is 0.031, must be <= 0.03"),
        ({"value_error": float("nan")}, "value error is nan, must be <= 0.15"),
    ],
)
def test_goes_back_when_a_limit_is_missed_by_more_than_the_slack(
    miss: dict[str, float], words: str
) -> None:
    after, reason = next_state(in_fp8(), SWITCH, 100, GOOD._replace(**miss))
    assert not after.in_fp8
    assert after.passes == 0
    assert reason == words


@pytest.mark.parametrize(
    "miss", [{"policy_agreement": 0.93}, {"value_error": 0.14}, {"target_divergence": 0.029}]
)
def test_stays_within_the_slack_but_would_not_go_over_there(miss: dict[str, float]) -> None:
    between = GOOD._replace(**miss)
    stays, reason = next_state(in_fp8(), SWITCH, 100, between)
    assert stays.in_fp8
    assert reason is None
    comes = start_precision(2)
    for _ in range(5):
        comes, _ = next_state(comes, SWITCH, 100, between)
    assert not comes.in_fp8


def test_after_going_back_it_has_to_pass_anew() -> None:
    state, _ = next_state(in_fp8(), SWITCH, 100, GOOD._replace(value_error=1.0))
    state, _ = next_state(state, SWITCH, 100, GOOD)
    assert not state.in_fp8
    state, reason = next_state(state, SWITCH, 100, GOOD)
    assert state.in_fp8
    assert reason is not None


def test_goes_back_when_a_later_setting_asks_for_more_steps() -> None:
    after, reason = next_state(in_fp8(), SWITCH, 50, None)
    assert not after.in_fp8
    assert reason == "100 environment steps are not made yet"


def test_a_run_that_must_not_use_fp8_forgets_that_it_did() -> None:
    handed = own_arithmetic(in_fp8())
    assert handed.precision == "bf16"
    assert handed.reason == "the settings of this start do not let it use FP8"
    assert handed.state.passes == 0
    assert not handed.state.scales.any()
    assert own_arithmetic(handed.state).reason is None
