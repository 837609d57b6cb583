"""Every number of the search has the bits of stock mctx, for every batch element.

The root masks of the batch cover: the game's own rules, all legal, three legal (fewer than are
considered), one legal, none legal, and every second one.
"""

import jax
import numpy as np
import pytest
from search_configurations import CONFIGURATIONS, NARROW_DEEP

from benchmarks.agreement_table import root_masks
from benchmarks.search_cell import deepest
from factorio_rl.search import SearchSettings, SearchTree


def rebuilt(tree: SearchTree, statistic: np.ndarray, fill: int = 0) -> np.ndarray:
    """mctx's `[B, N + 1, A]` array over edges, from the nodes below them."""
    parents, actions = np.asarray(tree.parents), np.asarray(tree.actions)
    edges = np.full(tree.prior_logits.shape, fill, statistic.dtype)
    row, node = np.nonzero(parents >= 0)
    edges[row, parents[row, node], actions[row, node]] = statistic[row, node]
    return edges


def assert_same_bits(ours: jax.Array | np.ndarray, theirs: jax.Array, name: str) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.dtype == theirs.dtype, name
    differ = ours.view(np.int32) != theirs.view(np.int32)
    assert not differ.any(), f"{name} differs at {np.argwhere(differ)[:5].tolist()}"


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_search_has_the_bits_of_mctx(name, make_game, search, stock):
    knobs, settings = CONFIGURATIONS[name]
    game, settings = make_game(**knobs), SearchSettings(**settings)
    roots = game.roots(6)
    legal = root_masks(game.legal_actions(roots))
    for gumbel_scale in (0.0, 1.0):
        ours = search(game, settings, roots, legal, gumbel_scale, seed=3)
        theirs = stock(game, settings, roots, legal, gumbel_scale, seed=3)
        tree, oracle = ours.tree, theirs.search_tree
        nodes = np.broadcast_to(np.arange(tree.visits.shape[1], dtype=np.int32), tree.visits.shape)
        pairs = {
            "action": (ours.action, theirs.action),
            "action_weights": (ours.action_weights, theirs.action_weights),
            "root_value": (ours.root_value, oracle.node_values[:, 0]),
            "raw_value": (ours.raw_value, oracle.raw_values[:, 0]),
            "visits": (tree.visits, oracle.node_visits),
            "values": (tree.values, oracle.node_values),
            "raw_values": (tree.raw_values, oracle.raw_values),
            "parents": (tree.parents, oracle.parents),
            "actions": (tree.actions, oracle.action_from_parent),
            "prior_logits": (tree.prior_logits, oracle.children_prior_logits),
            "embeddings": (ours.embeddings, oracle.embeddings),
            "children_index": (rebuilt(tree, nodes, fill=-1), oracle.children_index),
        }
        for ours_name in ("visits", "rewards", "discounts", "values"):
            theirs_name = f"children_{ours_name}"
            statistic = np.asarray(getattr(tree, ours_name))
            pairs[theirs_name] = (rebuilt(tree, statistic), getattr(oracle, theirs_name))
        for field, (left, right) in pairs.items():
            assert_same_bits(left, right, field)


def test_some_configurations_reach_deep_and_visit_leaves_again(make_game, search):
    """The table above would prove little if its trees were all shallow."""
    game = make_game(peak=128.0)
    roots = game.roots(6)
    legal = game.legal_actions(roots)
    deep = search(game, SearchSettings(**NARROW_DEEP), roots, legal, 1.0).tree
    assert deepest(np.asarray(deep.parents)) >= 8
    capped = search(game, SearchSettings(**NARROW_DEEP, max_depth=2), roots, legal, 1.0).tree
    assert (np.asarray(capped.visits) == 0).any()
