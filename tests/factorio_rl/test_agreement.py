"""The probe: equal networks agree fully, others the less the more they differ; it repeats."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from factorio_rl.agreement import Prediction, Probe, Targets, compare_outputs, root_spread
from factorio_rl.config import Config
from factorio_rl.demonstrations import References
from factorio_rl.fp8_network import frozen_variables
from factorio_rl.learner import LearnerState
from factorio_rl.network import Network, Params
from factorio_rl.precision_switch import Agreement
from factorio_rl.search import SearchTree

FINE = 2.0**-5
COARSE = 2.0**14


@dataclass(frozen=True)
class Setting:
    """A probe of many positions, and frozen parameters by their activation scale."""

    probe: Probe
    fp8_root: Probe
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
    changed = config.model_copy(update={"actor": actor})
    search = config.search.model_copy(update={"root_precision": "fp8"})
    probes = [
        Probe(of, network, references, jax.random.key(0))
        for of in (changed, changed.model_copy(update={"search": search}))
    ]
    freeze = jax.jit(lambda scales: frozen_variables(network, learner.params, scales))
    frozen = {scale: freeze(jnp.full(2, scale)) for scale in (FINE, COARSE)}
    return Setting(*probes, learner.params, frozen)


def test_fp8_with_good_scales_agrees_nearly_and_with_bad_ones_does_not(setting: Setting) -> None:
    fine, coarse = setting.compare(FINE), setting.compare(COARSE)

    assert fine.policy_agreement > 0.8
    assert 0 < fine.value_error < coarse.value_error
    assert 0 < fine.target_divergence < coarse.target_divergence
    assert coarse.policy_agreement < fine.policy_agreement


def test_comparison_repeats_bit_for_bit(setting: Setting) -> None:
    assert setting.compare(FINE) == setting.compare(FINE)


def test_root_is_judged_in_the_arithmetic_that_self_play_gives_it(setting: Setting) -> None:
    bf16_root = setting.compare(COARSE)
    fp8_root = setting.fp8_root.compare(setting.params, setting.frozen[COARSE])
    assert fp8_root.policy_agreement == bf16_root.policy_agreement
    assert fp8_root.target_divergence > 2 * bf16_root.target_divergence


def test_roots_with_one_visited_action_are_no_measure_of_the_spread() -> None:
    def nodes(*rows: list[float]) -> jax.Array:
        return jnp.asarray(rows, jnp.float32)

    parents = jnp.asarray([[-1, 0, 0, 1], [-1, 0, 1, 2]], jnp.int32)
    tree = SearchTree(
        visits=jnp.asarray([[4, 2, 1, 1], [4, 3, 2, 1]], jnp.int32),
        values=nodes([0.5, 0.25, 0.75, 0.9], [0.5, 0.5, 0.5, 0.5]),
        raw_values=nodes([0.0] * 4, [0.0] * 4),
        rewards=nodes([0.0, 0.0, 0.5, 0.0], [0.0] * 4),
        discounts=nodes([1.0, 1.0, 0.0, 1.0], [1.0] * 4),
        parents=parents,
        actions=parents,
        prior_logits=jnp.zeros((2, 4, 3)),
    )
    np.testing.assert_array_equal(root_spread(tree), [0.25, np.nan])


def test_value_error_is_relative_to_the_spread_and_divergence_is_from_the_own_targets() -> None:
    own, fp8 = (
        Prediction(jnp.asarray(logits), jnp.asarray(value))
        for logits, value in (
            ([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5]),
            ([[1.0, 0.0], [1.0, 0.0]], [0.6, 0.4]),
        )
    )
    spread = jnp.asarray([0.5, jnp.nan])
    own_targets = Targets(jnp.asarray([[0.5, 0.5], [1.0, 0.0]]), spread)
    fp8_targets = Targets(jnp.asarray([[0.25, 0.75], [1.0, 0.0]]), 2 * spread)
    same, error, divergence = compare_outputs(own, fp8, own_targets, fp8_targets)
    assert same == 0.5
    assert error == pytest.approx(0.1 / 0.5)
    expected = 0.5 * (0.5 * np.log(0.5 / 0.25) + 0.5 * np.log(0.5 / 0.75))
    assert divergence == pytest.approx(expected, rel=1e-5)


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
