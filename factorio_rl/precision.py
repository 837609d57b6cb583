"""The FP8 side of training: what has to be done at each hand-over of parameters to the actor.

In: the learner's parameters and the state of the switch. Out: scales calibrated on positions of
the replay, the parameters frozen in FP8 where the actor shall use them, and why it switched. Only
runs whose actor may be in FP8 load this module.
"""

from dataclasses import replace
from functools import partial

import jax
from jaxtyping import Array

from envs.observe_choice import choose_observe
from factorio_rl.agreement import Probe
from factorio_rl.config import Config
from factorio_rl.demonstrations import References
from factorio_rl.fp8_network import Scales, calibrate, fp8_network, frozen_variables
from factorio_rl.learner import Shares, make_batch
from factorio_rl.model import Predict, make_predict
from factorio_rl.network import Network, Params
from factorio_rl.precision_switch import Agreement, HandOver, PrecisionState, is_due, next_state
from factorio_rl.replay import Replay
from factorio_rl.selfplay import RunChunk, make_run_chunk


class Precision:
    """Calibration, freezing and the gate, compiled."""

    def __init__(
        self, config: Config, network: Network, references: References, key: Array
    ) -> None:
        calibration_key, probe_key = jax.random.split(key)
        self._config = config
        self._references = references
        self._calibration_key = calibration_key
        self._calibrate = jax.jit(partial(_calibrate, config, network))
        self._freeze = jax.jit(partial(frozen_variables, network))
        gate = config.actor.switch.gate
        self._probe = Probe(config, network, references, probe_key) if gate else None

    def calibrated(
        self, state: PrecisionState, params: Params, replay: Replay, shares: Shares, updates: int
    ) -> PrecisionState:
        """The state with scales for these parameters, measured on a batch as the learner's."""
        key = jax.random.fold_in(self._calibration_key, updates)
        scales = self._calibrate(params, replay, self._references, shares, key)
        return replace(state, scales=scales)

    def compared(self, params: Params, scales: Scales) -> tuple[Params, Agreement | None]:
        """Frozen parameters and, with a gate, how well they agree with the others."""
        frozen = self._freeze(params, scales)
        return frozen, self._probe and self._probe.compare(params, frozen)

    def hand_over(self, state: PrecisionState, params: Params, env_steps: int) -> HandOver:
        """Decides on the arithmetic of the next chunk; the state has scales for the parameters."""
        switch = self._config.actor.switch
        frozen = agreement = None
        if is_due(switch, env_steps):
            frozen, agreement = self.compared(params, state.scales)
        after, reason = next_state(state, switch, env_steps, agreement)
        return HandOver(after, frozen if after.in_fp8 else None, agreement, reason)


def make_fp8_run_chunk(config: Config, network: Network) -> RunChunk:
    """Self-play in FP8; it takes `frozen_variables` in the place of parameters."""
    return make_run_chunk(config, *fp8_predicts(config, network))


def fp8_predicts(config: Config, network: Network) -> tuple[Predict, Predict | None]:
    """What searches evaluate with, and their roots where that is something else."""
    growth_rule = config.env.growth_rule
    predict = make_predict(fp8_network(network), growth_rule)
    # In FP8 the root is iteration 0 of the simulations: one FP8 computation in the program.
    own_root = config.search.root_precision == "bf16"
    return predict, make_predict(network, growth_rule) if own_root else None


def _calibrate(
    config: Config,
    network: Network,
    params: Params,
    replay: Replay,
    references: References,
    shares: Shares,
    key: Array,
) -> Scales:
    states = make_batch(config, replay, references, shares, key).states
    return calibrate(network, params, jax.vmap(choose_observe())(states))
