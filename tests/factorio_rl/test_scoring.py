"""Scores: exact outcomes, and the verification of chunks on any number of threads."""

from collections.abc import Iterator
from fractions import Fraction

import jax
import numpy as np
import pytest
from tiny_setup import Played

from envs.layout import Layout
from envs.solved import Solved
from envs.types import board_placements
from factorio_rl import scoring
from factorio_rl.scoring import ChunkScores, Outcome, Scorer, score_layout
from factorio_rl.selfplay import Ended

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
        placements = board_placements(ended.board.entity[place], ended.board.rotation[place])
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


def test_failure_of_the_verifier_reaches_the_caller(
    scorers: list[Scorer], ended: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(layout: Layout) -> None:
        raise RuntimeError(f"cannot verify {layout.width} x {layout.height}")

    monkeypatch.setattr(scoring, "score_rate", fail)
    with pytest.raises(RuntimeError, match="cannot verify 7 x 7"):
        scorers[0].submit(ended).result(timeout=60)


def test_boards_are_scored_in_the_order_of_their_tasks(
    scorers: list[Scorer], solved: list[Solved]
) -> None:
    boards = []
    for number, entry in enumerate(solved):
        entity, rotation = np.zeros((2, 7, 7), np.uint8)
        for put in entry.placements if number != 2 else ():
            entity[put.y, put.x], rotation[put.y, put.x] = put.kind + 1, put.rotation
        boards.append((entity, rotation))
    for scorer in scorers:
        outcomes = scorer.score_boards(boards)
        assert [outcome.target for outcome in outcomes] == [
            entry.spec.target_rate for entry in solved
        ]
        assert [outcome.solved for outcome in outcomes] == [True, True, False, True]
    with pytest.raises(ValueError, match="shorter"):
        scorers[0].score_boards(boards[:3])
