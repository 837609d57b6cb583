"""All that training needs to go on, in one explicit value: what a checkpoint holds."""

from dataclasses import dataclass, fields
from typing import Any

import jax
import numpy as np

from factorio_rl.curriculum import Curriculum
from factorio_rl.learner import LearnerState
from factorio_rl.precision_switch import PrecisionState
from factorio_rl.replay import Replay
from factorio_rl.selfplay import ActorState, Ended


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Counters:
    """Progress of the run; numpy scalars, int64."""

    chunk: np.ndarray  # chunks of self-play made
    env_steps: np.ndarray
    episodes: np.ndarray  # whose score is known
    inexact: np.ndarray  # of them, layouts without an exact rate
    failed: np.ndarray  # of them, layouts whose verification failed
    non_finite_moves: np.ndarray  # moves whose search was not finite
    non_finite_chunks: np.ndarray  # chunks in a row, up to the last one, with such a move


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class LoopState:
    """The state between two chunks. Keys are folded from the seed and the counters."""

    learner: LearnerState
    actor: ActorState
    replay: Replay
    curriculum: Curriculum
    pending: tuple[Ended, ...]  # what the last `actor.score_lag_chunks` chunks ended, oldest first
    counters: Counters
    precision: PrecisionState


REPLAY = "replay"
"""The part that a checkpoint can do without: nearly all of its bytes."""


def parts_of(state: LoopState, *, with_replay: bool = True) -> dict[str, Any]:
    """The parts by name, each saved and restored as one pytree."""
    names = [name for name in LoopState.__dataclass_fields__ if with_replay or name != REPLAY]
    return {name: getattr(state, name) for name in names}


def start_counters() -> Counters:
    """Counters at zero."""
    zero = np.zeros((), np.int64)
    return Counters(*(zero for _ in fields(Counters)))
