"""The rule by which levels are drawn: one test for each of its sentences."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factorio_rl.curriculum import (
    DECAY,
    FEWEST_EPISODES,
    Curriculum,
    family_shares,
    level_weights,
    start_curriculum,
    start_weights,
    success,
)

REVIEW = 0.2
MANY = 100.0
Level = tuple[float, float]  # episodes, share of them solved


def tallies(*families: Sequence[Level]) -> Curriculum:
    """Tallies of families with so many levels, from k = 1 on."""
    names = tuple(f"family-{number}" for number in range(len(families)))
    longest = tuple(len(levels) for levels in families)
    episodes = np.zeros((len(families), max(longest) + 1))
    solved = np.zeros_like(episodes)
    for row, levels in enumerate(families):
        for removed, (count, share) in enumerate(levels, start=1):
            episodes[row, removed], solved[row, removed] = count, count * share
    return replace(start_curriculum(names, longest), episodes=episodes, solved=solved)


def weights_of(*levels: Level, review_share: float = REVIEW) -> np.ndarray:
    """Weights of the only family, for k = 1 on."""
    (row,) = level_weights(tallies(levels), review_share)
    assert row[0] == 0
    return row[1:]


EASY, MIDDLING, HARD, UNKNOWN = (MANY, 1.0), (MANY, 0.6), (MANY, 0.0), (0.0, 0.0)


def test_levels_to_learn_are_drawn_alike_and_mastered_ones_share_the_review() -> None:
    weights = weights_of(*[EASY] * 10, *[MIDDLING] * 10)
    # The window mixes the two kinds at their border: k = 10 is in range.
    mastered, tried = weights[:9], weights[9:]
    np.testing.assert_allclose(mastered, REVIEW / 9, rtol=1e-6)
    np.testing.assert_allclose(tried, (1 - REVIEW) / 11, rtol=1e-6)


def test_a_few_mastered_levels_are_no_likelier_than_those_to_learn() -> None:
    weights = weights_of(*[EASY] * 2, *[MIDDLING] * 10)
    np.testing.assert_allclose(weights, 1 / 12, rtol=1e-6)


def test_without_a_review_share_mastered_levels_are_left_out() -> None:
    weights = weights_of(*[EASY] * 10, *[MIDDLING] * 10, review_share=0.0)
    assert not np.any(weights[:9])
    np.testing.assert_allclose(weights[9:], 1 / 11, rtol=1e-6)


def test_hard_levels_are_left_out_but_for_the_easiest_beyond_the_frontier() -> None:
    weights = weights_of(*[MIDDLING] * 10, *[HARD] * 10)
    # By the window k = 11 succeeds with 0.2, k = 12 with 0.07.
    np.testing.assert_allclose(weights[:12], 1 / 12, rtol=1e-6)
    assert not np.any(weights[12:])


def test_hard_levels_below_the_frontier_are_left_out() -> None:
    weights = weights_of(*[HARD] * 5, *[MIDDLING] * 10)
    np.testing.assert_array_equal(weights[:5] > 0, [False] * 4 + [True])
    assert np.all(weights[5:] > 0)


def test_levels_without_evidence_are_drawn_like_those_in_range() -> None:
    np.testing.assert_allclose(weights_of(*[UNKNOWN] * 8), 1 / 8, rtol=1e-6)
    weights = weights_of(*[MIDDLING] * 4, *[HARD] * 4, *[UNKNOWN] * 6)
    # The window carries what is known of k = 8 to k = 10.
    expected = [True] * 6 + [False] * 4 + [True] * 4
    np.testing.assert_array_equal(weights > 0, expected)
    np.testing.assert_allclose(weights[weights > 0], 1 / 10, rtol=1e-6)


def test_sparse_counts_of_neighbours_are_taken_together() -> None:
    np.testing.assert_array_equal(np.isnan(success(tallies([(1.5, 0.5)]))), True)
    share = success(tallies([(1.5, 0.5)] * 7))[0]
    np.testing.assert_array_equal(np.isnan(share), [True, True, *[False] * 5, True])
    np.testing.assert_allclose(share[2:7], 0.5)


def test_an_abandoned_level_is_tried_again_once_its_episodes_have_decayed() -> None:
    known = tallies([MIDDLING] * 10 + [HARD] * 10)
    # 100 episodes at each level are 300 in the window.
    chunks = int(np.log(FEWEST_EPISODES / (3 * MANY)) / np.log(DECAY))

    def after(number: int) -> np.ndarray:
        factor = DECAY**number
        aged = replace(known, episodes=factor * known.episodes, solved=factor * known.solved)
        return level_weights(aged, REVIEW)[0]

    assert after(chunks - 1)[16] == 0
    assert after(chunks + 2)[16] > 0


def test_all_levels_mastered_are_drawn_alike() -> None:
    np.testing.assert_allclose(weights_of(*[EASY] * 8), 1 / 8, rtol=1e-6)


def test_of_hard_levels_alone_the_easiest_is_drawn() -> None:
    np.testing.assert_array_equal(weights_of(*[HARD] * 8), [1] + [0] * 7)


def test_families_have_their_own_levels() -> None:
    weights = level_weights(
        tallies([EASY] * 10 + [MIDDLING] * 5, [HARD] * 6, [UNKNOWN] * 4), REVIEW
    )
    np.testing.assert_array_equal(weights[1, 1:] > 0, [True] + [False] * 14)
    np.testing.assert_allclose(weights[2, 1:5], 1 / 4, rtol=1e-6)
    assert not np.any(weights[2, 5:])
    np.testing.assert_allclose(weights[0, 1:10], REVIEW / 9, rtol=1e-6)


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_the_bounds_of_the_range_are_in_it(share: float) -> None:
    inside = 0.5 + (share - 0.5) * (1 - 1e-9)
    weights = weights_of(*[(MANY, inside)] * 9, *[HARD] * 9, review_share=0.0)
    np.testing.assert_allclose(weights[:7], weights[0])
    assert weights[0] > 0


LEVELS = st.lists(
    st.tuples(st.floats(0, 1e4), st.floats(0, 1)) | st.just((0.0, 0.0)), min_size=1, max_size=12
)


@given(st.lists(LEVELS, min_size=1, max_size=4), st.floats(0, 0.5))
def test_rows_are_distributions_over_the_levels_of_a_family(
    families: list[list[Level]], review_share: float
) -> None:
    found = tallies(*families)
    weights = level_weights(found, review_share)
    assert weights.dtype == np.float32
    assert np.all(weights >= 0)
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
    assert not np.any(weights[:, 0])
    for row, longest in zip(weights, found.longest, strict=True):
        assert not np.any(row[longest + 1 :])
    share = success(found)
    assert np.all(np.isnan(share) | ((share >= 0) & (share <= 1)))


def from_empty(*shares: float | None) -> Curriculum:
    """Tallies of families that are solved from empty so often; None: nothing is known."""
    counts = np.array([0.0 if share is None else MANY for share in shares])
    solved = np.array([share or 0.0 for share in shares]) * counts
    found = tallies(*[[MIDDLING] * 3 for _ in shares])
    return replace(found, empty_episodes=counts, empty_solved=solved)


def test_families_solved_from_empty_are_drawn_less() -> None:
    shares = family_shares(from_empty(1.0, 0.5, 0.0, None), 0.8)
    np.testing.assert_allclose(shares, np.array([0.2, 0.6, 1.0, 1.0]) / 2.8, rtol=1e-6)
    np.testing.assert_allclose(family_shares(from_empty(1.0, 0.5, 0.0, None), 0.0), 1 / 4)


def test_start_weights_are_shares_of_families_and_levels() -> None:
    found = from_empty(1.0, 0.0)
    weights = start_weights(found, REVIEW, 0.8)
    np.testing.assert_allclose(weights.sum(axis=1), family_shares(found, 0.8), rtol=1e-6)
    np.testing.assert_allclose(weights.sum(), 1, rtol=1e-6)
    levels = level_weights(found, REVIEW)
    np.testing.assert_allclose(weights / weights.sum(axis=1, keepdims=True), levels, rtol=1e-6)
