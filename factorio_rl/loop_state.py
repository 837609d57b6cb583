"""All that training needs to go on, in one explicit value: what a checkpoint holds."""

from dataclasses import dataclass

import jax
import numpy as np

from factorio_rl.curriculum import Curriculum
from factorio_rl.learner import LearnerState
from factorio_rl.precision_switch import PrecisionState
from factorio_rl.replay import Replay
from factorio_rl.selfplay import ActorState, Ended

SCORE_LAG_CHUNKS = 2
"""Scores of chunk t enter the replay before chunk t + 2 starts, whatever the threads did."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Counters:
    """Progress of the run; numpy scalars, int64."""

    chunk: np.ndarray  # chunks of self-play made
    env_steps: np.ndarray
    episodes: np.ndarray  # whose score is known
    inexact: np.ndarray  # of them, layouts without an exact rate


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class LoopState:
    """The state between two chunks. Keys are folded from the seed and the counters."""

    learner: LearnerState
    actor: ActorState
    replay: Replay
    curriculum: Curriculum
    pending: tuple[Ended, ...]  # what the last SCORE_LAG_CHUNKS chunks ended, oldest first
    counters: Counters
    precision: PrecisionState


def start_counters() -> Counters:
    """Counters at zero."""
    zero = np.zeros((), np.int64)
    return Counters(zero, zero, zero, zero)
