"""Parameters out of a run directory: of its best checkpoint by score, or of its newest.

In: a run directory and its config. Out: parameters on the device, with the environment steps and,
on request, the activation scales of FP8 that belong to them. Nothing is written.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax

from envs.errors import UserError
from factorio_rl.checkpoint import CheckpointStore
from factorio_rl.config import Config
from factorio_rl.config_file import fixed_settings
from factorio_rl.device_errors import STARTING, explained
from factorio_rl.learner import start_learner
from factorio_rl.loop_state import start_counters
from factorio_rl.network import Params, make_network, trunk_convolution_names
from factorio_rl.precision_switch import PrecisionState, start_precision
from factorio_rl.run_directory import RunDirectory


class RunParameters(NamedTuple):
    """What a checkpoint holds of an agent."""

    step: int
    chunk: int
    env_steps: int
    params: Params
    precision: PrecisionState | None  # None where it was not asked for


def load_run_parameters(
    directory: RunDirectory,
    config: Config,
    *,
    newest: bool,
    with_scales: bool = False,
    tell: Callable[[str], None],
) -> RunParameters:
    """The parameters of a checkpoint.

    Args:
        newest: the newest checkpoint, not the best by score.
        with_scales: with the activation scales of FP8.
        tell: gets a warning for each checkpoint whose score cannot be read.

    Raises:
        CheckpointError: there is no such checkpoint, or it is damaged.
        UserError: training had measured no activations yet, so that there are no scales.
    """
    store = CheckpointStore(directory.checkpoints, fixed_settings(config))
    network = make_network(config.network)
    with explained(STARTING, config):
        learner = jax.block_until_ready(start_learner(config, network, jax.random.key(0)))
    like = {"learner": learner, "counters": start_counters()}
    if with_scales:
        like["precision"] = start_precision(len(trunk_convolution_names(config.network.blocks)))
    choose = store.newest_step if newest else partial(store.best_step, tell)
    step, parts = store.load_chosen(choose, like)
    precision, counters = parts.get("precision"), parts["counters"]
    if precision is not None and not precision.scales.all():
        raise UserError(
            f"checkpoint {step} of {directory.path} has no activation scales, since its actor was "
            "never to be in FP8 by then; try --checkpoint newest, or leave --precision out"
        )
    chunk, env_steps = int(counters.chunk), int(counters.env_steps)
    return RunParameters(step, chunk, env_steps, parts["learner"].params, precision)
