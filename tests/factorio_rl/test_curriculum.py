"""The tallies of success by family and missing placements, against sums by hand."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from envs.types import Board
from factorio_rl.curriculum import DECAY, Curriculum, figures, start_curriculum, tally
from factorio_rl.scoring import ChunkScores
from factorio_rl.selfplay import Ended

FAMILY_OF_TASK = np.array([0, 1, 0], np.int32)
EMPTY = ("empty_episodes", "empty_score", "empty_solved", "empty_functional", "empty_length")


class Episode(NamedTuple):
    """One environment in one move."""

    task: int
    removed: int
    start_placed: int
    placed: int
    score: float = 0.0
    ended: bool = True

    @property
    def solved(self) -> bool:
        return self.score == 1


GOES_ON = Episode(1, 1, 0, 3, ended=False)


def chunk(*episodes: Episode) -> tuple[Ended, ChunkScores, np.ndarray]:
    """A chunk of two moves: in the first nothing ends, in the second these episodes end."""
    moves = [[GOES_ON] * (len(episodes) + 1), [*episodes, GOES_ON]]

    def of(name: str, dtype: type) -> np.ndarray:
        return np.array([[getattr(entry, name) for entry in move] for move in moves], dtype)

    ended, score = of("ended", np.bool_), of("score", np.float32)
    cells = np.zeros((*ended.shape, 3, 3), np.uint8)
    numbers = np.zeros(ended.shape, np.int32)
    board = Board(cells, cells, of("placed", np.int32), ended)
    removed, start_placed = of("removed", np.int32), of("start_placed", np.int32)
    return (
        Ended(
            ended,
            of("task", np.int32),
            board,
            numbers,
            removed,
            start_placed,
            np.zeros_like(ended),
        ),
        ChunkScores(score, of("solved", np.bool_), score > 0, 0),
        FAMILY_OF_TASK,
    )


FIRST = chunk(
    Episode(0, 1, 4, 5, 1.0),
    Episode(0, 2, 3, 6, 0.25),
    Episode(2, 2, 1, 4, 1.0),
    Episode(1, 2, 1, 4, 1.0),
    Episode(0, 4, 0, 7, 0.5),
    Episode(2, 5, 0, 1, 0.0),
    Episode(1, 3, 0, 3, 1.0),
)
SECOND = chunk(Episode(0, 5, 0, 9, 1.0), Episode(1, 2, 3, 5, 0.0))


@pytest.fixture
def nothing() -> Curriculum:
    """Two families with references of up to 5 and 3 placements."""
    return start_curriculum(("gear", "cable"), (5, 3))


def test_one_chunk_counts_what_ended(nothing: Curriculum) -> None:
    tallies = tally(nothing, *FIRST)
    np.testing.assert_array_equal(tallies.episodes, [[0, 1, 2, 0, 1, 1], [0, 0, 1, 1, 0, 0]])
    np.testing.assert_array_equal(tallies.solved, [[0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0]])
    np.testing.assert_array_equal(tallies.empty_episodes, [2, 1])
    np.testing.assert_array_equal(tallies.empty_score, [0.5, 1])
    np.testing.assert_array_equal(tallies.empty_solved, [0, 1])
    np.testing.assert_array_equal(tallies.empty_functional, [1, 1])
    np.testing.assert_array_equal(tallies.empty_length, [8, 3])


def test_past_chunks_weigh_less_by_the_decay(nothing: Curriculum) -> None:
    first, second = tally(nothing, *FIRST), tally(nothing, *SECOND)
    both = tally(first, *SECOND)
    for name in ("episodes", "solved", *EMPTY):
        expected = DECAY * getattr(first, name) + getattr(second, name)
        np.testing.assert_allclose(getattr(both, name), expected, rtol=1e-14)
    assert second.episodes.sum() == 2


def test_chunk_without_endings_only_decays(nothing: Curriculum) -> None:
    before = tally(nothing, *FIRST)
    after = tally(before, *chunk())
    for name in ("episodes", "solved", *EMPTY):
        np.testing.assert_allclose(getattr(after, name), DECAY * getattr(before, name))


def test_figures_are_ratios_of_the_tallies(nothing: Curriculum) -> None:
    found = figures(tally(nothing, *FIRST))
    by_family = {name for name in found if name.endswith(("_gear", "_cable"))}
    assert {name: value for name, value in found.items() if name not in by_family} == {
        "solved_up_to_3_removed": pytest.approx(4 / 5),
        "solved": pytest.approx(4 / 7),
        "empty_score": pytest.approx(0.5),
        "empty_functional": pytest.approx(2 / 3),
        "empty_placements": pytest.approx(11 / 3),
    }
    assert found["empty_score_gear"] == pytest.approx(0.25)
    assert found["empty_solved_gear"] == 0
    assert found["empty_score_cable"] == found["empty_solved_cable"] == 1


def test_frontier_of_a_family_is_its_largest_level_that_succeeds_half_of_the_time(
    nothing: Curriculum,
) -> None:
    tallies = nothing
    for _ in range(6):
        wins = [Episode(0, removed, 2, 5, 1.0) for removed in (1, 2, 3)]
        tallies = tally(tallies, *chunk(*wins, Episode(0, 5, 1, 6), Episode(1, 1, 1, 6)))
    found = figures(tallies)
    assert found["frontier_gear"] == 4
    assert math.isnan(found["frontier_cable"])


def test_figures_without_episodes_are_not_a_number(nothing: Curriculum) -> None:
    assert all(math.isnan(value) for value in figures(nothing).values())


def test_tallies_stay_float64_arrays_that_a_checkpoint_can_hold(nothing: Curriculum) -> None:
    for tallies in (nothing, tally(nothing, *FIRST)):
        for name in ("episodes", "solved", *EMPTY):
            value = getattr(tallies, name)
            assert isinstance(value, np.ndarray)
            assert value.dtype == np.float64
