"""A return goes up one path, discounted edge by edge, into the mean of each node above the leaf."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from factorio_rl.search.backup import backup
from factorio_rl.search.tree import empty_tree
from factorio_rl.search.walk import Walk


def ints(*values: int) -> jnp.ndarray:
    return jnp.array(values, jnp.int32)


@pytest.fixture
def tree():
    """Element 0: root - 1 - 2, element 1: root - 1 and root - 2; node 2 is the new leaf."""
    return replace(
        empty_tree(batch=2, num_nodes=4, num_actions=3),
        visits=jnp.array([[2, 1, 1, 0], [2, 1, 1, 0]], jnp.int32),
        values=jnp.array([[3.0, 5.0, 8.0, 0.0], [3.0, 5.0, 8.0, 0.0]]),
        rewards=jnp.array([[9.0, 1.0, 2.0, 9.0], [9.0, 1.0, 2.0, 9.0]]),
        discounts=jnp.array([[9.0, 0.5, 0.25, 9.0], [9.0, 0.5, 0.25, 9.0]]),
        parents=jnp.array([[-1, 0, 1, -1], [-1, 0, 0, -1]], jnp.int32),
    )


def ended_walk(depth: jnp.ndarray) -> Walk:
    return Walk(
        level=jnp.int32(2),
        depth=depth,
        path=jnp.array([[0, 1, 3], [0, 3, 3]], jnp.int32),
        parent=ints(1, 0),
        action=ints(0, 1),
        child=ints(-1, -1),
        going=jnp.zeros(2, bool),
    )


def test_each_node_above_the_leaf_averages_its_own_return(tree):
    after = backup(tree, ended_walk(ints(2, 1)), ints(2, 2), jnp.array([8.0, 8.0]))
    # Element 0: 2 + .25 * 8 = 4 at node 1, 1 + .5 * 4 = 3 at the root. Element 1: 4 at the root.
    np.testing.assert_array_equal(
        after.values, [[3.0, 4.5, 8.0, 0.0], [np.float32(10 / 3), 5.0, 8.0, 0.0]]
    )
    np.testing.assert_array_equal(after.visits, [[3, 2, 1, 0], [3, 1, 1, 0]])


def test_walk_of_depth_zero_changes_nothing(tree):
    after = backup(tree, ended_walk(ints(0, 0)), ints(0, 0), jnp.array([8.0, 8.0]))
    np.testing.assert_array_equal(after.values, tree.values)
    np.testing.assert_array_equal(after.visits, tree.visits)
