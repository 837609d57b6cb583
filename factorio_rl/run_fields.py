"""The figures of training as flat fields for the metrics.

In: configs, states and figures of chunks. Out: mappings from names to numbers.
"""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp

from factorio_rl import curriculum
from factorio_rl.chunk import ChunkFigures
from factorio_rl.config import Config
from factorio_rl.learner import UpdateFigures, learning_rate_schedule
from factorio_rl.loop_state import LoopState


def counter_fields(state: LoopState) -> dict[str, int]:
    """How far the run is: what every line begins with."""
    return {
        "chunk": int(state.counters.chunk),
        "env_steps": int(state.counters.env_steps),
        "learner_updates": int(state.learner.updates),
    }


def update_fields(figures: UpdateFigures) -> dict[str, float]:
    """Losses and the norm of the gradient."""
    losses = {name: float(value) for name, value in figures.losses._asdict().items()}
    return {**losses, "gradient_norm": float(figures.gradient_norm)}


def chunk_fields(config: Config, state: LoopState, figures: ChunkFigures) -> dict[str, Any]:
    """Figures of the last chunk."""
    schedule, counters = learning_rate_schedule(config), state.counters
    applied = int(state.learner.updates - state.learner.skipped)
    return {
        **update_fields(figures.updates),
        **curriculum.figures(state.curriculum),
        **{name: float(value) for name, value in figures.search._asdict().items()},
        "episodes": int(counters.episodes),
        "inexact": int(counters.inexact),
        "failed": int(counters.failed),
        "skipped_updates": int(state.learner.skipped),
        "non_finite_moves": int(counters.non_finite_moves),
        "scored_rows": int(figures.scored_rows),
        "actor_precision": figures.hand_over.precision,
        **figures.hand_over.figures(),
        "learning_rate": float(jnp.asarray(schedule(applied))),
    }


def switch_fields(figures: ChunkFigures) -> Mapping[str, Any]:
    """What made self-play go over to another arithmetic."""
    hand_over = figures.hand_over
    fields = {"actor_precision": hand_over.precision, "reason": hand_over.reason}
    return {**fields, **hand_over.figures()}
