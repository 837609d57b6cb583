"""When self-play computes in FP8: the state of the switch, and its rules.

In: the state, the settings `actor.switch`, the environment steps made, and how well both
arithmetics agree on the probe positions. Out: the next state, and the reason if it switched.
"""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32

from factorio_rl.config_sections import SwitchConfig
from factorio_rl.network import Params


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class PrecisionState:
    """What training remembers of the actor's arithmetic; L convolutions of the trunk."""

    scales: Float32[Array, "L"]  # of activations, powers of two; 0 before a calibration
    in_fp8: np.ndarray  # whether the last chunk was played in FP8
    passes: np.ndarray  # int64, probes in a row that met all limits


class Agreement(NamedTuple):
    """How FP8 compares with the network's own arithmetic on the probe positions."""

    policy_agreement: float  # share of positions with the same likeliest action
    value_error: float  # RMS difference over the mean spread of Q-values at a root
    target_divergence: float  # mean KL divergence of FP8's search targets from the others, nats


class Switched(NamedTuple):
    """The state for the next chunk; `reason` is None where the arithmetic stays as it was."""

    state: PrecisionState
    reason: str | None


class HandOver(NamedTuple):
    """What a chunk of self-play is played with."""

    state: PrecisionState
    frozen: Params | None  # parameters in FP8, None where it is played without
    agreement: Agreement | None  # None where nobody looked
    reason: str | None  # why the arithmetic changed

    @property
    def precision(self) -> Literal["bf16", "fp8"]:
        """Name of the arithmetic; bf16 stands for the network's own."""
        return "bf16" if self.frozen is None else "fp8"

    def figures(self) -> dict[str, float]:
        """The agreement as flat fields of a metrics line."""
        if self.agreement is None:
            return {}
        return {f"gate_{name}": value for name, value in self.agreement._asdict().items()}


def start_precision(num_convolutions: int) -> PrecisionState:
    """In the network's own arithmetic, not calibrated."""
    scales = jnp.zeros(num_convolutions, jnp.float32)
    return PrecisionState(scales, np.zeros((), np.bool_), np.zeros((), np.int64))


def own_arithmetic(state: PrecisionState) -> HandOver:
    """A chunk of a run whose actor must not use FP8, with a state that remembers nothing of it."""
    reason = "the settings of this start do not let it use FP8" if state.in_fp8 else None
    return HandOver(start_precision(state.scales.shape[0]), None, None, reason)


def is_due(switch: SwitchConfig, env_steps: int) -> bool:
    """Whether FP8 comes into question after so many environment steps."""
    return env_steps >= switch.after_env_steps


def next_state(
    state: PrecisionState, switch: SwitchConfig, env_steps: int, agreement: Agreement | None
) -> Switched:
    """The arithmetic of the next chunk; `agreement` is needed where `is_due` and the gate is on.

    Hysteresis: several probes in a row have to meet the limits before FP8 is used; it is given up
    when one misses them by more than the slack.
    """
    was_in_fp8 = bool(state.in_fp8)
    if not is_due(switch, env_steps):
        reason = f"{switch.after_env_steps:,} environment steps are not made yet"
        return _to(state, False, 0, reason if was_in_fp8 else None)
    if not switch.gate:
        return _to(state, True, 0, None if was_in_fp8 else f"{env_steps:,} environment steps made")
    assert agreement is not None
    passes = 0 if _missed(agreement, switch, 1.0) else int(state.passes) + 1
    if was_in_fp8:
        missed = _missed(agreement, switch, switch.slack)
        return _to(state, not missed, passes, "; ".join(missed) or None)
    if passes < switch.passes:
        return _to(state, False, passes, None)
    figures = ", ".join(f"{name} {value:.3g}" for name, value in _in_words(agreement).items())
    return _to(state, True, passes, f"{passes} probes in a row agree: {figures}")


def _to(state: PrecisionState, in_fp8: bool, passes: int, reason: str | None) -> Switched:
    after = replace(state, in_fp8=np.asarray(in_fp8), passes=np.asarray(passes, np.int64))
    return Switched(after, reason)


def _missed(agreement: Agreement, switch: SwitchConfig, slack: float) -> list[str]:
    """The limits, made wider by `slack`, that do not hold; figures that are not finite miss all."""
    least_agreement = 1.0 - slack * (1.0 - switch.min_policy_agreement)
    holds = {
        "policy agreement": (
            agreement.policy_agreement >= least_agreement,
            f">= {least_agreement:.3g}",
        ),
        "value error": _at_most(agreement.value_error, slack * switch.max_value_error),
        "target divergence": _at_most(
            agreement.target_divergence, slack * switch.max_target_divergence
        ),
    }
    words = _in_words(agreement)
    return [
        f"{name} is {words[name]:.3g}, must be {limit}"
        for name, (is_met, limit) in holds.items()
        if not is_met
    ]


def _at_most(value: float, limit: float) -> tuple[bool, str]:
    return value <= limit, f"<= {limit:.3g}"


def _in_words(agreement: Agreement) -> dict[str, float]:
    return {name.replace("_", " "): value for name, value in agreement._asdict().items()}
