"""A choice is the best one, a near tie or wrong, by the size of float32's rounding in its score."""

import numpy as np
import pytest

from benchmarks.literal_search import LOWEST, Node, statistics
from benchmarks.near_tie import UNIT, judge, near_best, score_interior, score_root
from factorio_rl.search import SearchSettings

SETTINGS = SearchSettings(8)
LEGAL = np.full(3, True)


def node(*prior_logits: float) -> Node:
    return Node(0, 0.0, 1.0, 0.0, np.array(prior_logits), 0.0)


def interior(*prior_logits: float):
    return score_interior(statistics(node(*prior_logits), SETTINGS))


def at_root(gumbel: list[float], *prior_logits: float):
    known = statistics(node(*prior_logits), SETTINGS)
    return score_root(known, np.array(gumbel), LEGAL, visits=0)


@pytest.mark.parametrize("base", [1.0, 100.0])
def test_two_actions_tie_as_far_as_their_logits_are_round(base):
    """The larger the logits, the coarser is float32 there."""
    near = judge(interior(base, base * (1 + 2 * UNIT), 0.0), taken=0, simulation=1, depth=1)
    assert near.best == 1
    assert 0 < near.gap <= near.bound
    assert not near.is_wrong
    far = judge(interior(base, base * (1 + 100 * UNIT), 0.0), taken=0, simulation=1, depth=1)
    assert far.is_wrong


def test_a_small_gap_is_no_tie_among_small_probabilities():
    scores = interior(*np.linspace(0.0, 1.0, 1729))
    choice = judge(scores, taken=1727, simulation=1, depth=1)
    assert choice.gap < 1e-6
    assert choice.is_wrong


def test_noise_of_a_qvalue_counts_for_visited_actions():
    parent = node(0.0, 1e-5, -9.0)
    assert judge(score_interior(statistics(parent, SETTINGS)), 0, 1, 1).is_wrong
    parent = node(0.0, 0.0, -9.0)
    child, twin = node(0.0), node(0.0)
    child.value, twin.value = 1.0, 1.0 + UNIT
    parent.children = {0: child, 1: twin}
    choice = judge(score_interior(statistics(parent, SETTINGS)), 0, 1, 1)
    assert choice.gap > 1e-7
    assert not choice.is_wrong


def test_of_equal_scores_only_the_first_is_right():
    assert not judge(interior(1.0, 1.0, 1.0), taken=0, simulation=1, depth=1).is_wrong
    wrong = judge(interior(1.0, 1.0, 1.0), taken=1, simulation=1, depth=1)
    assert wrong.is_wrong
    assert "an action before it has the same score" in str(wrong)


def test_root_scores_tie_by_the_size_of_their_terms():
    assert not judge(at_root([9.0, 9.0 + 8 * UNIT, 0.0], 0.0, 0.0, 0.0), 0, 1, 0).is_wrong
    assert judge(at_root([9.0, 9.0 + 800 * UNIT, 0.0], 0.0, 0.0, 0.0), 0, 1, 0).is_wrong


def test_actions_without_prior_never_tie_with_others():
    scores = at_root([0.0, 5.0, 9.0], 0.0, LOWEST, LOWEST)
    assert judge(scores, taken=1, simulation=1, depth=0).is_wrong
    assert near_best(scores) == [0]


def test_near_best_lists_the_best_first_and_no_action_behind_its_equal():
    near = 1.0 + UNIT
    assert near_best(interior(1.0, near, near, 1.0, 0.0)) == [1, 0]
    nothing_legal = score_root(
        statistics(node(0.0, 0.0, 0.0), SETTINGS), np.zeros(3), ~LEGAL, visits=0
    )
    assert near_best(nothing_legal) == [0]
