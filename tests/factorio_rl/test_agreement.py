"""The probe: equal networks agree fully, others the less the more they differ; it repeats."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import pytest

from factorio_rl.agreement import Probe
from factorio_rl.config import Config
from factorio_rl.demonstrations import References
from factorio_rl.fp8_network import frozen_variables
from factorio_rl.learner import LearnerState
from factorio_rl.network import Network, Params
from factorio_rl.precision_switch import Agreement

FINE = 2.0**-5
COARSE = 2.0**14


@dataclass(frozen=True)
class Setting:
    """A probe of many positions, and frozen parameters by their activation scale."""

    probe: Probe
    params: Params
    frozen: dict[float, Params]

    def compare(self, scale: float) -> Agreement:
        return self.probe.compare(self.params, self.frozen[scale])


@pytest.fixture(scope="module")
def setting(
    config: Config, network: Network, references: References, learner: LearnerState
) -> Setting:
    switch = config.actor.switch.model_copy(update={"probe_positions": 48})
    actor = config.actor.model_copy(update={"switch": switch})
    probe = Probe(
        config.model_copy(update={"actor": actor}), network, references, jax.random.key(0)
    )
    freeze = jax.jit(lambda scales: frozen_variables(network, learner.params, scales))
    frozen = {scale: freeze(jnp.full(2, scale)) for scale in (FINE, COARSE)}
    return Setting(probe, learner.params, frozen)


def test_fp8_with_good_scales_agrees_nearly_and_with_bad_ones_does_not(setting: Setting) -> None:
    fine, coarse = setting.compare(FINE), setting.compare(COARSE)

    assert fine.policy_agreement > 0.8
    assert 0 < fine.value_error < coarse.value_error
    assert 0 < fine.target_divergence < coarse.target_divergence
    assert coarse.policy_agreement < fine.policy_agreement


def test_comparison_repeats_bit_for_bit(setting: Setting) -> None:
    assert setting.compare(FINE) == setting.compare(FINE)


def test_a_trunk_that_computes_nothing_is_compared_without_a_difference(setting: Setting) -> None:
    blocks = {
        name: jax.tree.map(jnp.zeros_like, part) if name.startswith("Residual") else part
        for name, part in setting.params["params"].items()
    }
    params = {"params": blocks}
    same = {**params, "fp8": jax.tree.map(jnp.zeros_like, setting.frozen[FINE]["fp8"])}
    ones = jax.tree_util.tree_map_with_path(
        lambda path, leaf: jnp.ones_like(leaf) if "activation_scale" in str(path) else leaf,
        same["fp8"],
    )
    agreement = setting.probe.compare(params, {**same, "fp8": ones})
    assert agreement.policy_agreement == 1
    assert agreement.value_error == 0
    assert agreement.target_divergence == pytest.approx(0, abs=1e-6)
