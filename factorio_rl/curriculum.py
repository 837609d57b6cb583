"""How often episodes succeed, by the number of placements that were missing at their start.

In: the verified outcomes of a chunk. Out: the next tallies, and their figures for the metrics.
Start states are drawn with k uniform (`factorio_rl.demonstrations`); the tallies show how far
from solved the agent can start. numpy, float64, deterministic.
"""

from dataclasses import dataclass

import jax
import numpy as np

from factorio_rl.scoring import ChunkScores
from factorio_rl.selfplay import Ended

DECAY = 0.98
"""Weight of the past per chunk: the figures look back over about fifty chunks."""

FEW_REMOVED = 3
"""Starts with at most so many missing placements are reported as easy."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Curriculum:
    """Decayed tallies by placements missing at the start (0..L) and of starts from empty."""

    episodes: np.ndarray  # float64 [L + 1]
    solved: np.ndarray  # float64 [L + 1]
    empty_episodes: np.ndarray  # float64 []
    empty_score: np.ndarray  # float64 []
    empty_functional: np.ndarray  # float64 []
    empty_length: np.ndarray  # float64 [], placements made


def start_curriculum(longest: int) -> Curriculum:
    """Empty tallies for references of up to `longest` placements."""
    zeros, zero = np.zeros(longest + 1), np.zeros(())
    return Curriculum(zeros, zeros, zero, zero, zero, zero)


def tally(curriculum: Curriculum, ended: Ended, scores: ChunkScores) -> Curriculum:
    """The tallies after the outcomes of a chunk."""
    over = np.asarray(ended.ended)
    removed = np.asarray(ended.removed)[over]
    from_empty = over & (np.asarray(ended.start_placed) == 0)
    buckets = curriculum.episodes.shape[0]

    def counted(values: np.ndarray) -> np.ndarray:
        return np.bincount(removed, weights=values, minlength=buckets)

    def total(past: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.asarray(DECAY * past + values[from_empty].sum(dtype=np.float64))

    return Curriculum(
        episodes=DECAY * curriculum.episodes + counted(np.ones(removed.shape)),
        solved=DECAY * curriculum.solved + counted(scores.solved[over].astype(np.float64)),
        empty_episodes=total(curriculum.empty_episodes, np.ones(over.shape)),
        empty_score=total(curriculum.empty_score, scores.score),
        empty_functional=total(curriculum.empty_functional, scores.functional),
        empty_length=total(curriculum.empty_length, np.asarray(ended.board.placed)),
    )


def figures(curriculum: Curriculum) -> dict[str, float]:
    """The tallies as metrics; nan where nothing was tallied."""
    easy = slice(0, FEW_REMOVED + 1)

    def ratio(part: np.ndarray, whole: np.ndarray) -> float:
        return float(part / whole) if whole > 0 else float("nan")

    few = ratio(curriculum.solved[easy].sum(), curriculum.episodes[easy].sum())
    return {
        f"solved_up_to_{FEW_REMOVED}_removed": few,
        "solved": ratio(curriculum.solved.sum(), curriculum.episodes.sum()),
        "empty_score": ratio(curriculum.empty_score, curriculum.empty_episodes),
        "empty_functional": ratio(curriculum.empty_functional, curriculum.empty_episodes),
        "empty_placements": ratio(curriculum.empty_length, curriculum.empty_episodes),
    }
