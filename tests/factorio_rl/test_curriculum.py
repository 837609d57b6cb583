"""The tallies of success by missing placements, against sums over the episodes by hand."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from envs.types import Board
from factorio_rl.curriculum import DECAY, figures, start_curriculum, tally
from factorio_rl.scoring import ChunkScores
from factorio_rl.selfplay import Ended

LONGEST = 5
NUMBERS = ("episodes", "solved", "empty_episodes", "empty_score", "empty_functional")


class Episode(NamedTuple):
    """One environment in one move."""

    removed: int
    start_placed: int
    placed: int
    score: float = 0.0
    ended: bool = True

    @property
    def solved(self) -> bool:
        return self.score == 1


GOES_ON = Episode(1, 0, 3, ended=False)


def chunk(*episodes: Episode) -> tuple[Ended, ChunkScores]:
    """A chunk of two moves: in the first nothing ends, in the second these episodes end."""
    moves = [[GOES_ON] * (len(episodes) + 1), [*episodes, GOES_ON]]

    def field(name: str, dtype: type) -> np.ndarray:
        return np.array([[getattr(entry, name) for entry in move] for move in moves], dtype)

    ended, score = field("ended", np.bool_), field("score", np.float32)
    cells = np.zeros((*ended.shape, 3, 3), np.uint8)
    numbers = np.zeros(ended.shape, np.int32)
    board = Board(cells, cells, field("placed", np.int32), ended)
    removed, start_placed = field("removed", np.int32), field("start_placed", np.int32)
    return (
        Ended(ended, numbers, board, numbers, removed, start_placed),
        ChunkScores(score, field("solved", np.bool_), score > 0, 0),
    )


FIRST = chunk(
    Episode(0, 5, 5, 1.0),
    Episode(2, 3, 6, 0.25),
    Episode(2, 1, 4, 1.0),
    Episode(4, 0, 7, 0.5),
    Episode(5, 0, 1, 0.0),
)
SECOND = chunk(Episode(5, 0, 9, 1.0), Episode(2, 3, 5, 0.0))


def test_one_chunk_counts_what_ended() -> None:
    tallies = tally(start_curriculum(LONGEST), *FIRST)
    np.testing.assert_array_equal(tallies.episodes, [1, 0, 2, 0, 1, 1])
    np.testing.assert_array_equal(tallies.solved, [1, 0, 1, 0, 0, 0])
    assert tallies.empty_episodes == 2
    assert tallies.empty_score == 0.5
    assert tallies.empty_functional == 1
    assert tallies.empty_length == 8


def test_past_chunks_weigh_less_by_the_decay() -> None:
    tallies = tally(tally(start_curriculum(LONGEST), *FIRST), *SECOND)
    expected = DECAY * np.array([1, 0, 2, 0, 1, 1]) + [0, 0, 1, 0, 0, 1]
    np.testing.assert_allclose(tallies.episodes, expected, rtol=1e-14)
    np.testing.assert_allclose(tallies.solved, DECAY * np.array([1, 0, 1, 0, 0, 0]) + np.eye(6)[5])
    np.testing.assert_allclose(tallies.empty_score, DECAY * 0.5 + 1)
    np.testing.assert_allclose(tallies.empty_length, DECAY * 8 + 9)


def test_chunk_without_endings_only_decays() -> None:
    before = tally(start_curriculum(LONGEST), *FIRST)
    after = tally(before, *chunk())
    for name in NUMBERS:
        np.testing.assert_allclose(getattr(after, name), DECAY * getattr(before, name))


def test_figures_are_ratios_of_the_tallies() -> None:
    found = figures(tally(start_curriculum(LONGEST), *FIRST))
    assert found == {
        "solved_up_to_3_removed": pytest.approx(2 / 3),
        "solved": pytest.approx(2 / 5),
        "empty_score": pytest.approx(0.25),
        "empty_functional": pytest.approx(0.5),
        "empty_placements": pytest.approx(4.0),
    }


def test_figures_without_episodes_are_not_a_number() -> None:
    assert all(math.isnan(value) for value in figures(start_curriculum(LONGEST)).values())


def test_tallies_stay_float64_arrays_that_a_checkpoint_can_hold() -> None:
    for tallies in (start_curriculum(LONGEST), tally(start_curriculum(LONGEST), *FIRST)):
        for name in (*NUMBERS, "empty_length"):
            value = getattr(tallies, name)
            assert isinstance(value, np.ndarray)
            assert value.dtype == np.float64
