"""The cell of the FP8 benchmark with a learner's update, as it is and quantisation-aware.

It is the update of a run, batch and optimizer included. Every row of a batch is a demonstration or
a finished reference, for want of self-play.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from benchmarks.fp8_cell import Cell, Variant
from benchmarks.fp8_tower import benchmark_config
from envs.actions import num_actions
from envs.heldout import load_heldout
from factorio_rl.demonstrations import References, make_references
from factorio_rl.env_shape import env_shape
from factorio_rl.fp8_network import unit_scales
from factorio_rl.learner import (
    LearnerState,
    Shares,
    Update,
    UpdateFigures,
    make_update,
    start_learner,
)
from factorio_rl.network import make_network
from factorio_rl.replay import Replay, empty_replay

NUM_TASKS = 256
"""Tasks whose references the batches are made of."""


class LearnerInputs(NamedTuple):
    """What an update takes, beside its key."""

    state: LearnerState
    replay: Replay
    references: References
    shares: Shares
    scales: jax.Array


def learner_cell(network: str, batch: int) -> Cell:
    """One update."""
    # A small replay buffer: an update reads rows of it, whatever its size.
    config = benchmark_config(
        network,
        f"--learner.batch_size={batch}",
        "--actor.num_envs=16",
        f"--replay.capacity={max(4096, batch)}",
        "--actor.precision=fp8",
    )
    aware = config.model_copy(update={"learner": config.learner.model_copy(update={"qat": True})})
    net, shape, env = make_network(config.network), env_shape(config), config.env
    solved = load_heldout(config.tasks.heldout).tasks[:NUM_TASKS]
    no_score = [[((False,) * len(entry.placements), 0.0)] for entry in solved]
    actions = num_actions(env.height, env.width)
    inputs = LearnerInputs(
        jax.jit(lambda key: start_learner(config, net, key))(jax.random.key(2)),
        empty_replay(config.replay.capacity, env.height, env.width, actions),
        jax.device_put(make_references(solved, no_score, shape)),
        Shares(jnp.float32(0.85), jnp.float32(0.15)),
        unit_scales(net),
    )
    plain, quantized = (partial(_run, make_update(each, net)) for each in (config, aware))
    return Cell(
        variants=[
            Variant("bf16", plain, inputs, qat=False),
            Variant("fp8", quantized, inputs, qat=True),
        ]
    )


def _run(
    update: Update, key: jax.Array, inputs: LearnerInputs
) -> tuple[LearnerState, UpdateFigures]:
    state, replay, references, shares, scales = inputs
    return update(state, replay, references, shares, scales, key)
