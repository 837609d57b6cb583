"""Nodes go in, are found again, and start anew when they are evaluated again."""

import jax.numpy as jnp
import numpy as np
import pytest

from factorio_rl.search.tree import (
    NO_PARENT,
    UNVISITED,
    Edge,
    Evaluation,
    empty_tree,
    find_child,
    put_node,
    root_edge,
)


def evaluation(value: float) -> Evaluation:
    column = jnp.full(2, value)
    return Evaluation(column + 1, column + 2, jnp.tile(column[:, None], (1, 3)), column)


def both(value: int) -> jnp.ndarray:
    return jnp.full(2, value, jnp.int32)


def child() -> Edge:
    """Of both roots, by action 2, to node 1."""
    return Edge(both(0), both(2), both(1))


@pytest.fixture
def tree():
    """Root 0 with child 1 by action 2 in both batch elements; room for 4 nodes."""
    tree = empty_tree(batch=2, num_nodes=4, num_actions=3)
    return put_node(put_node(tree, root_edge(2), evaluation(0.5)), child(), evaluation(0.25))


def test_empty_tree_has_room_and_no_nodes():
    tree = empty_tree(batch=2, num_nodes=4, num_actions=3)
    assert tree.prior_logits.shape == (2, 4, 3)
    assert not tree.visits.any()
    assert (tree.parents == NO_PARENT).all()


def test_put_node_stores_evaluation_and_edge(tree):
    np.testing.assert_array_equal(tree.visits, [[1, 1, 0, 0]] * 2)
    np.testing.assert_array_equal(tree.values, [[0.5, 0.25, 0, 0]] * 2)
    np.testing.assert_array_equal(tree.rewards[:, 1], 1.25)
    np.testing.assert_array_equal(tree.discounts[:, 1], 2.25)
    np.testing.assert_array_equal(tree.parents, [[NO_PARENT, 0, NO_PARENT, NO_PARENT]] * 2)
    np.testing.assert_array_equal(tree.prior_logits[:, 1], 0.25)


def test_put_node_again_counts_on_and_replaces_the_value(tree):
    again = put_node(tree, child(), evaluation(0.75))
    np.testing.assert_array_equal(again.visits[:, 1], 2)
    np.testing.assert_array_equal(again.values[:, 1], 0.75)
    np.testing.assert_array_equal(again.raw_values[:, 1], 0.75)


def test_find_child_needs_both_parent_and_action(tree):
    node = jnp.array([0, 0], jnp.int32)
    np.testing.assert_array_equal(find_child(tree, node, jnp.array([2, 1])), [1, UNVISITED])
    np.testing.assert_array_equal(find_child(tree, both(1), both(2)), UNVISITED)
