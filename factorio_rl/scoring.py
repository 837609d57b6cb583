"""Verified scores of finished layouts, on host threads while the device goes on.

In: task specs and finished boards. Out: outcomes by the exact verifier, the only source of
reward and of every reported number. A layout whose rate is not exact (R47) scores 0 and is
counted.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jax.typing import ArrayLike

from envs.task_spec import Placement, TaskSpec, layout_of
from envs.types import board_placements
from envs.verifier import score_rate
from factorio_rl.selfplay import Ended


class Outcome(NamedTuple):
    """The verified result of one layout; `rate` in items per second, None if not exact."""

    rate: Fraction | None
    target: Fraction

    @property
    def score(self) -> float:
        """min(1, rate / target)."""
        return float(min(Fraction(1), (self.rate or Fraction(0)) / self.target))

    @property
    def solved(self) -> bool:
        """The rate reaches the target, compared as fractions."""
        return self.rate is not None and self.rate >= self.target

    @property
    def functional(self) -> bool:
        """Something of the target item arrives."""
        return self.rate is not None and self.rate > 0


class ChunkScores(NamedTuple):
    """Outcomes of the episodes that ended in a chunk, by move and environment."""

    score: np.ndarray  # float32 [T, B], 0 where nothing ended
    solved: np.ndarray  # bool [T, B]
    functional: np.ndarray  # bool [T, B]
    inexact: int


def score_layout(spec: TaskSpec, placements: Iterable[Placement]) -> Outcome:
    """The outcome of one finished layout."""
    return Outcome(score_rate(layout_of(spec, placements)), spec.target_rate)


class Scorer:
    """A thread pool that verifies layouts; the compiled verifier releases the interpreter lock."""

    def __init__(self, specs: Sequence[TaskSpec], threads: int) -> None:
        """`specs` by task index."""
        self._specs = specs
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="verifier")

    def submit(self, ended: Ended) -> "Future[ChunkScores]":
        """Starts to verify what a chunk ended (numpy leaves)."""
        return self._pool.submit(self._score_chunk, ended)

    def score_boards(self, boards: Sequence[tuple[np.ndarray, np.ndarray]]) -> list[Outcome]:
        """Outcomes of one (entity, rotation) board per spec, in order."""
        jobs = zip(self._specs, boards, strict=True)
        return list(self._pool.map(lambda job: _score_board(job[0], *job[1]), jobs))

    def close(self) -> None:
        """Ends the threads."""
        self._pool.shutdown(cancel_futures=True)

    def _score_chunk(self, ended: Ended) -> ChunkScores:
        shape = ended.ended.shape
        score = np.zeros(shape, np.float32)
        solved, functional = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        inexact = 0
        for place in zip(*np.nonzero(ended.ended), strict=True):
            spec = self._specs[int(ended.task_index[place])]
            board = ended.board
            outcome = _score_board(spec, board.entity[place], board.rotation[place])
            score[place] = outcome.score
            solved[place], functional[place] = outcome.solved, outcome.functional
            inexact += outcome.rate is None
        return ChunkScores(score, solved, functional, inexact)


def _score_board(spec: TaskSpec, entity: ArrayLike, rotation: ArrayLike) -> Outcome:
    return score_layout(spec, board_placements(np.asarray(entity), np.asarray(rotation)))
