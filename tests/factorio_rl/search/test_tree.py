"""Nodes go in, are found again, and start anew when they are evaluated again."""

import jax.numpy as jnp
import numpy as np
import pytest

from factorio_rl.search.tree import (
    NO_PARENT,
    UNVISITED,
    Evaluation,
    empty_tree,
    find_child,
    put_node,
)


def evaluation(value: float) -> Evaluation:
    column = jnp.full(2, value)
    return Evaluation(column + 1, column + 2, jnp.tile(column[:, None], (1, 3)), column)


def both(value: int) -> jnp.ndarray:
    return jnp.full(2, value, jnp.int32)


@pytest.fixture
def tree():
    """Root 0 with child 1 by action 2 in both batch elements; room for 4 nodes."""
    roots = {"board": jnp.arange(6, dtype=jnp.uint8).reshape(2, 3)}
    tree = empty_tree(roots, num_nodes=4, num_actions=3)
    tree = put_node(tree, both(0), both(NO_PARENT), both(NO_PARENT), evaluation(0.5), roots)
    return put_node(
        tree, both(1), both(0), both(2), evaluation(0.25), {"board": 9 + roots["board"]}
    )


def test_empty_tree_holds_the_root_embedding_and_no_nodes():
    tree = empty_tree({"board": jnp.ones((2, 3), jnp.uint8)}, num_nodes=4, num_actions=3)
    assert tree.embeddings["board"].shape == (2, 4, 3)
    assert tree.embeddings["board"].dtype == jnp.uint8
    np.testing.assert_array_equal(tree.embeddings["board"][:, 0], 1)
    assert not tree.visits.any()
    assert (tree.parents == NO_PARENT).all()


def test_put_node_stores_evaluation_edge_and_embedding(tree):
    np.testing.assert_array_equal(tree.visits, [[1, 1, 0, 0]] * 2)
    np.testing.assert_array_equal(tree.values, [[0.5, 0.25, 0, 0]] * 2)
    np.testing.assert_array_equal(tree.rewards[:, 1], 1.25)
    np.testing.assert_array_equal(tree.discounts[:, 1], 2.25)
    np.testing.assert_array_equal(tree.parents, [[NO_PARENT, 0, NO_PARENT, NO_PARENT]] * 2)
    np.testing.assert_array_equal(tree.prior_logits[:, 1], 0.25)
    np.testing.assert_array_equal(tree.embeddings["board"][:, 1], [[9, 10, 11], [12, 13, 14]])


def test_put_node_again_counts_on_and_replaces_the_value(tree):
    again = put_node(
        tree, both(1), both(0), both(2), evaluation(0.75), {"board": jnp.zeros((2, 3), jnp.uint8)}
    )
    np.testing.assert_array_equal(again.visits[:, 1], 2)
    np.testing.assert_array_equal(again.values[:, 1], 0.75)
    np.testing.assert_array_equal(again.raw_values[:, 1], 0.75)


def test_find_child_needs_both_parent_and_action(tree):
    node = jnp.array([0, 0], jnp.int32)
    np.testing.assert_array_equal(find_child(tree, node, jnp.array([2, 1])), [1, UNVISITED])
    np.testing.assert_array_equal(find_child(tree, both(1), both(2)), UNVISITED)
