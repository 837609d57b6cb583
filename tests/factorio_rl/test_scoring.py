"""Scores: exact outcomes, chunks on any number of threads, and layouts that fail."""

import threading
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path

import jax
import numpy as np
import pytest
from tiny_setup import Played

from envs.layout import Layout, LayoutError
from envs.solved import Solved
from envs.task_spec import Placement, TaskSpec, layout_of
from envs.types import board_placements
from envs.verifier import score_rate
from factorio_rl import scoring
from factorio_rl.scoring import ChunkScores, Outcome, Scorer, VerifierThreadsError, score_layout
from factorio_rl.selfplay import Ended
from factorio_rl.verifier_failures import FailureLog

THIRD = Fraction(1, 3)


@pytest.mark.parametrize(
    ("rate", "target", "score", "solved", "functional"),
    [
        (Fraction(0), THIRD, 0.0, False, False),
        (Fraction(1, 6), THIRD, 0.5, False, True),
        (THIRD, THIRD, 1.0, True, True),
        (Fraction(7, 3), THIRD, 1.0, True, True),
        (None, THIRD, 0.0, False, False),
        # Closer to the target than float64 can tell.
        (THIRD - Fraction(1, 10**30), THIRD, 1.0, False, True),
        (THIRD + Fraction(1, 10**30), THIRD, 1.0, True, True),
    ],
)
def test_outcome_compares_fractions(
    rate: Fraction | None, target: Fraction, score: float, solved: bool, functional: bool
) -> None:
    outcome = Outcome(rate, target)
    assert (outcome.score, outcome.solved, outcome.functional) == (score, solved, functional)


class Recorder(FailureLog):
    """Remembers what it hears, and writes nothing."""

    def __init__(self) -> None:
        super().__init__(Path("nowhere"), print)
        self.heard: list[tuple[TaskSpec, Sequence[Placement], Exception | None]] = []

    def record(
        self, spec: TaskSpec, placements: Sequence[Placement], failure: Exception | None
    ) -> None:
        self.heard.append((spec, placements, failure))


def board_of(entry: Solved) -> tuple[np.ndarray, np.ndarray]:
    """The reference of a task as (entity, rotation)."""
    entity, rotation = np.zeros((2, 7, 7), np.uint8)
    for put in entry.placements:
        entity[put.y, put.x], rotation[put.y, put.x] = put.kind + 1, put.rotation
    return entity, rotation


def placements_at(ended: Ended, place: tuple[int, ...]) -> list[Placement]:
    """What stands on one of the boards."""
    board = ended.board
    return board_placements(np.asarray(board.entity[place]), np.asarray(board.rotation[place]))


@pytest.fixture
def scorers(solved: list[Solved]) -> Iterator[list[Scorer]]:
    """Scorers of the tasks with one, two and five threads."""
    made = [Scorer([entry.spec for entry in solved], threads) for threads in (1, 2, 5)]
    yield made
    for scorer in made:
        scorer.close()


@pytest.fixture
def ended(played: Played, solved: list[Solved]) -> Ended:
    """A played chunk, with the reference of its task in place of three of its finished boards."""
    chunk = max((chunk.ended for chunk in played.chunks), key=lambda ended: ended.ended.sum())
    copied: Ended = jax.tree.map(np.copy, chunk)
    for place in list(zip(*np.nonzero(copied.ended), strict=True))[:3]:
        copied.board.entity[place] = 0
        for put in solved[copied.task_index[place]].placements:
            copied.board.entity[place][put.y, put.x] = put.kind + 1
            copied.board.rotation[place][put.y, put.x] = put.rotation
    return copied


def expected_scores(solved: list[Solved], ended: Ended) -> ChunkScores:
    """The scores one after another, in this thread."""
    shape = ended.ended.shape
    score, reached, works = (
        np.zeros(shape, np.float32),
        np.zeros(shape, bool),
        np.zeros(shape, bool),
    )
    for place in zip(*np.nonzero(ended.ended), strict=True):
        spec = solved[ended.task_index[place]].spec
        placements = placements_at(ended, place)
        outcome = score_layout(spec, placements)
        score[place], reached[place] = outcome.score, outcome.solved
        works[place] = outcome.functional
    return ChunkScores(score, reached, works, 0)


def test_reference_reaches_its_target_exactly_and_less_does_not(solved: list[Solved]) -> None:
    for entry in solved:
        outcome = score_layout(entry.spec, entry.placements)
        assert outcome == Outcome(entry.spec.target_rate, entry.spec.target_rate)
        assert score_layout(entry.spec, ()) == Outcome(Fraction(0), entry.spec.target_rate)
    without_one_arm = [put for at, put in enumerate(solved[1].placements) if at != 2]
    outcome = score_layout(solved[1].spec, without_one_arm)
    assert outcome.functional
    assert 0 < outcome.score < 1


def test_chunk_scores_stand_where_episodes_ended(
    scorers: list[Scorer], ended: Ended, solved: list[Solved]
) -> None:
    expected = expected_scores(solved, ended)
    assert expected.solved.sum() >= 3
    for scorer in scorers:
        scores = scorer.submit(ended).result(timeout=60)
        jax.tree.map(np.testing.assert_array_equal, scores, expected)
        assert [array.dtype for array in scores[:3]] == [np.float32, np.bool_, np.bool_]


def test_chunks_in_flight_together_do_not_mix(
    scorers: list[Scorer], played: Played, solved: list[Solved]
) -> None:
    for scorer in scorers:
        futures = [scorer.submit(chunk.ended) for chunk in played.chunks]
        for future, chunk in zip(futures, played.chunks, strict=True):
            expected = expected_scores(solved, chunk.ended)
            jax.tree.map(np.testing.assert_array_equal, future.result(timeout=60), expected)


def test_layout_without_an_exact_rate_scores_zero_and_is_counted(
    scorers: list[Scorer], ended: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    def inexact(layout: Layout) -> None:
        del layout

    monkeypatch.setattr(scoring, "score_rate", inexact)
    scores = scorers[1].submit(ended).result(timeout=60)
    assert scores.inexact == ended.ended.sum()
    assert not np.any(scores.score)
    assert not np.any(scores.solved | scores.functional)


def failing_for(bad: Layout, error: BaseException) -> Callable[[Layout], Fraction | None]:
    """`score_rate`, which raises for one layout."""

    def score(layout: Layout) -> Fraction | None:
        if layout == bad:
            raise error
        return score_rate(layout)

    return score


@pytest.mark.parametrize(
    "error",
    [LayoutError("overlaps"), MemoryError(), AssertionError("invariant"), RuntimeError("numba")],
    ids=lambda error: type(error).__name__,
)
def test_layout_that_cannot_be_verified_scores_zero_and_costs_no_other_its_score(
    error: Exception, solved: list[Solved], ended: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = expected_scores(solved, ended)
    first = tuple(np.argwhere(expected.solved)[0])
    spec = solved[ended.task_index[first]].spec
    placements = placements_at(ended, first)
    monkeypatch.setattr(scoring, "score_rate", failing_for(layout_of(spec, placements), error))
    log = Recorder()
    scorer = Scorer([entry.spec for entry in solved], 2, log)
    scores = scorer.submit(ended).result(timeout=60)
    scorer.close()
    assert log.heard == [(spec, placements, error)] * scores.failed
    assert scores.failed >= 1
    assert scores.inexact == 0
    for array in expected[:3]:
        array[first] = 0
    jax.tree.map(np.testing.assert_array_equal, scores, expected._replace(failed=scores.failed))


def test_interrupts_are_no_failures_of_a_layout(
    scorers: list[Scorer], ended: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(layout: Layout) -> None:
        raise KeyboardInterrupt(layout)

    monkeypatch.setattr(scoring, "score_rate", interrupt)
    with pytest.raises(KeyboardInterrupt):
        scorers[0].submit(ended).result(timeout=60)


def test_layouts_above_the_tick_cap_are_counted_and_logged(
    solved: list[Solved], ended: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    working = int(expected_scores(solved, ended).functional.sum())
    # No reference recurs this early; layouts that certainly deliver nothing need no ticks.
    monkeypatch.setattr(scoring, "score_rate", partial(score_rate, tick_cap=50))
    log = Recorder()
    scorer = Scorer([entry.spec for entry in solved], 2, log)
    scores = scorer.submit(ended).result(timeout=60)
    scorer.close()
    assert (scores.inexact, scores.failed) == (len(log.heard), 0)
    assert scores.inexact >= working >= 3
    assert not np.any(scores.score)
    assert {failure for _, _, failure in log.heard} == {None}


def test_evaluation_goes_on_after_a_layout_that_cannot_be_verified(
    solved: list[Solved], monkeypatch: pytest.MonkeyPatch
) -> None:
    placements = board_placements(*board_of(solved[1]))
    bad = layout_of(solved[1].spec, placements)
    monkeypatch.setattr(scoring, "score_rate", failing_for(bad, RuntimeError("numba")))
    log = Recorder()
    scorer = Scorer([entry.spec for entry in solved], 2, log)
    outcomes = scorer.score_boards([board_of(entry) for entry in solved])
    scorer.close()
    assert [outcome.solved for outcome in outcomes] == [True, False, True, True]
    assert outcomes[1] == Outcome(None, solved[1].spec.target_rate, failed=True)
    assert (outcomes[1].score, outcomes[1].functional) == (0, False)
    assert [heard[:2] for heard in log.heard] == [(solved[1].spec, placements)]


def test_threads_that_cannot_be_started_are_told_in_words(
    solved: list[Solved], ended: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot_start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    scorer = Scorer([entry.spec for entry in solved], 2)
    monkeypatch.setattr(threading.Thread, "start", cannot_start)
    with pytest.raises(VerifierThreadsError, match=r"can't start new thread.*ulimit -u"):
        scorer.submit(ended)
    with pytest.raises(VerifierThreadsError, match="can't start new thread"):
        scorer.score_boards([board_of(entry) for entry in solved])


def test_boards_are_scored_in_the_order_of_their_tasks(
    scorers: list[Scorer], solved: list[Solved]
) -> None:
    boards = [board_of(entry) for entry in solved]
    boards[2] = (np.zeros((7, 7), np.uint8), np.zeros((7, 7), np.uint8))
    for scorer in scorers:
        outcomes = scorer.score_boards(boards)
        assert [outcome.target for outcome in outcomes] == [
            entry.spec.target_rate for entry in solved
        ]
        assert [outcome.solved for outcome in outcomes] == [True, True, False, True]
    with pytest.raises(ValueError, match="shorter"):
        scorers[0].score_boards(boards[:3])
