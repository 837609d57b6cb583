"""The float64 formulas: against mctx's table, and worked by hand."""

import numpy as np
import pytest
from mctx._src.seq_halving import get_sequence_of_considered_visits

from benchmarks.literal_search import (
    Node,
    back_up,
    considered_visits,
    interior_scores,
    root_scores,
    statistics,
)
from factorio_rl.search import SearchSettings


def node(value: float, reward: float = 0.0, visits: int = 1, prior=(0.5, 0.25, 0.25)) -> Node:
    return Node(
        index=0,
        reward=reward,
        discount=0.5,
        raw_value=value,
        prior_logits=np.log(prior),
        value=value,
        visits=visits,
    )


def test_sequential_halving_considers_what_mctx_considers():
    for num_considered in range(18):
        for num_simulations in (1, 2, 5, 16, 23, 64):
            ours = considered_visits(num_considered, num_simulations)
            theirs = get_sequence_of_considered_visits(num_considered, num_simulations)
            assert ours == list(theirs), (num_considered, num_simulations)


def test_unvisited_actions_have_the_mixed_value():
    parent = node(1.0)
    parent.children = {0: node(4.0, reward=1.0, visits=3), 2: node(2.0, visits=1)}
    known = statistics(parent, SearchSettings(4, maxvisit_init=0.0, value_scale=2.0))
    # Q-values 3 and 1 with priors 1/2 and 1/4; raw value 1 and four visits.
    mixed = (1.0 + 4 * (0.5 * 3 + 0.25 * 1) / 0.75) / 5
    np.testing.assert_allclose(known.qvalues, [3.0, mixed, 1.0])
    np.testing.assert_allclose(known.completed, 6 * known.qvalues)


def test_rescaled_qvalues_span_one_but_never_stretch_less_than_epsilon():
    parent = node(1.0)
    parent.children = {0: node(4.0, reward=1.0), 1: node(2.0)}
    for epsilon, span in ((1e-8, 1.0), (8.0, 0.25)):
        settings = SearchSettings(
            4, maxvisit_init=0.0, value_scale=1.0, rescale_values=True, epsilon=epsilon
        )
        completed = statistics(parent, settings).completed
        assert completed.max() - completed.min() == pytest.approx(span)


def test_interior_scores_fall_with_the_share_of_visits():
    parent = node(0.0)
    parent.children = {0: node(0.0, visits=2)}
    np.testing.assert_allclose(
        interior_scores(statistics(parent, SearchSettings(4))), [0.5 - 2 / 3, 0.25, 0.25]
    )


def test_root_scores_hold_only_legal_actions_with_the_considered_visits():
    parent = node(0.0)
    parent.children = {0: node(0.0)}
    known = statistics(parent, SearchSettings(4))
    scores = root_scores(known, np.array([0.0, 1.0, 2.0]), np.array([True, True, False]), visits=0)
    np.testing.assert_allclose(scores, [-np.inf, 1.0 + np.log(0.5), -np.inf])


def test_backup_takes_returns_into_the_running_means():
    root, child, leaf = node(1.0, visits=3), node(2.0, visits=1), node(8.0, reward=1.0)
    back_up([root, child, leaf])
    assert (leaf.value, leaf.visits) == (8.0, 1)
    assert (child.value, child.visits) == ((2.0 + 5.0) / 2, 2)
    assert (root.value, root.visits) == ((3 * 1.0 + 2.5) / 4, 4)
