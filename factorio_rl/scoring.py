"""Verified scores of finished layouts, on host threads while the device goes on.

In: task specs and finished boards. Out: outcomes by the exact verifier, the only source of
reward and of every reported number. A layout whose rate is not exact (R47), or whose verification
fails, scores 0, is counted and handed to the failure log; all others keep their scores.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jax.typing import ArrayLike
from numpy.typing import DTypeLike

from envs.errors import UserError
from envs.task_spec import Placement, TaskSpec, layout_of
from envs.types import board_placements
from envs.verifier import score_rate
from factorio_rl.selfplay import Ended
from factorio_rl.verifier_failures import FailureLog

LAYOUTS_PER_JOB = 16
"""Layouts that one thread verifies in a row: few, since some take a hundred times as long,
and enough that handing them out costs nothing beside."""


class VerifierThreadsError(UserError):
    """The threads that verify cannot work."""


class Outcome(NamedTuple):
    """The verified result of one layout.

    `rate` is in items per second, None if it is not exact or, with `failed`, not known at all.
    """

    rate: Fraction | None
    target: Fraction
    failed: bool = False

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
    inexact: int  # layouts verified without an exact rate
    failed: int = 0  # layouts whose verification failed


def score_layout(spec: TaskSpec, placements: Iterable[Placement]) -> Outcome:
    """The outcome of one finished layout."""
    return Outcome(score_rate(layout_of(spec, placements)), spec.target_rate)


class Scorer:
    """A thread pool that verifies layouts; the compiled verifier releases the interpreter lock."""

    def __init__(
        self, specs: Sequence[TaskSpec], threads: int, failures: FailureLog | None = None
    ) -> None:
        """`specs` by task index; `failures` hears of every layout that got no exact rate."""
        self._specs = specs
        self._failures = failures
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="verifier")

    def submit(self, ended: Ended) -> "Future[ChunkScores]":
        """Starts to verify what a chunk ended (numpy leaves). Raises VerifierThreadsError."""
        places = np.argwhere(ended.ended)
        shares = [
            places[at : at + LAYOUTS_PER_JOB] for at in range(0, len(places), LAYOUTS_PER_JOB)
        ]
        with _started():
            jobs = [self._pool.submit(self._score_places, ended, share) for share in shares]
            # Behind its jobs in the pool's queue, so that all of them run or are done by then.
            return self._pool.submit(_joined, ended, jobs)

    def score_boards(self, boards: Sequence[tuple[np.ndarray, np.ndarray]]) -> list[Outcome]:
        """Outcomes of one (entity, rotation) board per spec, in order.

        Raises VerifierThreadsError.
        """
        jobs = zip(self._specs, boards, strict=True)
        with _started():
            outcomes = self._pool.map(lambda job: self._score_board(job[0], *job[1]), jobs)
        return list(outcomes)

    def close(self) -> None:
        """Ends the threads."""
        self._pool.shutdown(cancel_futures=True)

    def _score_places(self, ended: Ended, places: np.ndarray) -> list[Outcome]:
        """Outcomes of the episodes that ended at some (move, environment) of a chunk."""
        board = ended.board
        return [
            self._score_board(
                self._specs[int(ended.task_index[place])],
                board.entity[place],
                board.rotation[place],
            )
            for place in map(tuple, places)
        ]

    def _score_board(self, spec: TaskSpec, entity: ArrayLike, rotation: ArrayLike) -> Outcome:
        """The outcome of one board; whatever is wrong with it costs no other board its score."""
        placements = board_placements(np.asarray(entity), np.asarray(rotation))
        try:
            outcome, failure = score_layout(spec, placements), None
        except Exception as error:
            outcome, failure = Outcome(None, spec.target_rate, failed=True), error
        if outcome.rate is None and self._failures is not None:
            self._failures.record(spec, placements, failure)
        return outcome


def _joined(ended: Ended, jobs: Sequence[Future[list[Outcome]]]) -> ChunkScores:
    """The outcomes of a chunk from those of its jobs."""
    outcomes = [outcome for job in jobs for outcome in job.result()]
    where = np.nonzero(ended.ended)

    def at_places(values: Iterable[float | bool], dtype: DTypeLike) -> np.ndarray:
        whole = np.zeros(ended.ended.shape, dtype)
        whole[where] = list(values)
        return whole

    return ChunkScores(
        score=at_places((outcome.score for outcome in outcomes), np.float32),
        solved=at_places((outcome.solved for outcome in outcomes), np.bool_),
        functional=at_places((outcome.functional for outcome in outcomes), np.bool_),
        inexact=sum(outcome.rate is None and not outcome.failed for outcome in outcomes),
        failed=sum(outcome.failed for outcome in outcomes),
    )


@contextmanager
def _started() -> Iterator[None]:
    """Raises VerifierThreadsError where the pool takes no work."""
    try:
        yield
    except RuntimeError as error:
        raise VerifierThreadsError(
            f"no verifier thread can be started: {error}. Raise the limit on processes (ulimit -u) "
            "or on memory, end other programs, and start again: the run goes on from its last "
            "checkpoint"
        ) from None
