"""Every number of the search has the bits of stock mctx, for every batch element.

The root masks of the batch cover: the game's own rules, all legal, three legal (fewer than are
considered), one legal, none legal, and every second one.
"""

import jax
import numpy as np
import pytest

from factorio_rl.search import SearchSettings, SearchTree

NARROW = {"num_simulations": 32, "max_num_considered_actions": 4}
NARROW_DEEP = {"num_simulations": 64, "max_num_considered_actions": 4}

# name: (knobs of the game, settings)
CONFIGURATIONS = {
    "one_simulation": ({}, {"num_simulations": 1}),
    "one_considered": ({}, {"num_simulations": 5, "max_num_considered_actions": 1}),
    "sixteen_considered": ({}, {"num_simulations": 16}),
    "more_considered_than_actions": ({}, {"num_simulations": 16, "max_num_considered_actions": 32}),
    "odd_budget": ({}, {"num_simulations": 23, "max_num_considered_actions": 6}),
    "narrow": ({}, NARROW),
    "narrow_deep": ({}, NARROW_DEEP),
    "flat_prior": ({"peak": 0.0}, NARROW),
    "flat_prior_deep": ({"peak": 0.0}, NARROW_DEEP),
    "peaked_prior": ({"peak": 16.0}, NARROW),
    "very_peaked_prior_deep": ({"peak": 128.0}, NARROW_DEEP),
    "ties_everywhere": ({"peak": 0.0, "reward": 0.0, "value": 0.0}, NARROW),
    "few_legal_interior": ({"legal": 0.125}, NARROW_DEEP),
    "all_edges_terminal": ({"terminal": 1.0}, NARROW),
    "no_edge_terminal": ({"terminal": 0.0, "discount": 0.997}, NARROW_DEEP),
    "undiscounted_without_reward": ({"terminal": 0.0, "discount": 1.0, "reward": 0.0}, NARROW),
    "negative_discount": ({"discount": -0.97}, NARROW),
    "large_values": ({"value": 1024.0, "reward": 64.0}, NARROW),
    "depth_1": ({}, {**NARROW, "max_depth": 1}),
    "depth_2": ({}, {**NARROW_DEEP, "max_depth": 2}),
    "depth_2_peaked_visits_leaves_again": ({"peak": 128.0}, {**NARROW_DEEP, "max_depth": 2}),
    "depth_5_peaked": ({"peak": 16.0, "terminal": 0.0}, {**NARROW_DEEP, "max_depth": 5}),
    "depth_beyond_budget": ({}, {"num_simulations": 8, "max_depth": 50}),
    "rescaled": ({}, {**NARROW_DEEP, "value_scale": 0.1, "rescale_values": True}),
    "rescaled_flat": ({"peak": 0.0}, {**NARROW_DEEP, "value_scale": 0.1, "rescale_values": True}),
    "rescaled_peaked": (
        {"peak": 16.0},
        {**NARROW_DEEP, "value_scale": 0.1, "rescale_values": True},
    ),
    "raw_value_completion_small_scale": (
        {},
        {**NARROW, "use_mixed_value": False, "value_scale": 0.3, "maxvisit_init": 10.0},
    ),
    "full_action_space": ({"num_actions": 1729, "peak": 8.0}, {"num_simulations": 32}),
    "full_action_space_deep": ({"num_actions": 1729, "peak": 32.0}, NARROW_DEEP),
}


def root_masks(own: jax.Array) -> np.ndarray:
    legal = np.array(own)
    legal[1] = True
    legal[2] = np.isin(np.arange(legal.shape[1]), (2, 5, 11))
    legal[3] = np.arange(legal.shape[1]) == 7
    legal[4] = False
    legal[5] = np.arange(legal.shape[1]) % 2 == 0
    return legal


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
def test_search_has_the_bits_of_mctx(name, make_game, lean, stock):
    knobs, settings = CONFIGURATIONS[name]
    game, settings = make_game(**knobs), SearchSettings(**settings)
    roots = game.roots(6)
    legal = root_masks(game.legal_actions(roots))
    for gumbel_scale in (0.0, 1.0):
        ours = lean(game, settings, roots, legal, gumbel_scale, seed=3)
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


def test_some_configurations_reach_deep_and_visit_leaves_again(make_game, lean):
    """The table above would prove little if its trees were all shallow."""
    game = make_game(peak=128.0)
    roots = game.roots(6)
    legal = game.legal_actions(roots)
    deep = lean(game, SearchSettings(**NARROW_DEEP), roots, legal, 1.0).tree
    parents = np.asarray(deep.parents)
    depth = np.zeros_like(parents)
    for node in range(1, parents.shape[1]):
        depth[:, node] = 1 + np.take_along_axis(depth, parents[:, node, None], axis=1)[:, 0]
    assert depth.max() >= 8
    capped = lean(game, SearchSettings(**NARROW_DEEP, max_depth=2), roots, legal, 1.0).tree
    assert (np.asarray(capped.visits) == 0).any()
