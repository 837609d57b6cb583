"""What a tree says of its search, on a tree that is written out."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from factorio_rl.search.tree import NO_PARENT, SearchTree, empty_tree
from factorio_rl.search.tree_figures import root_q_range, tree_depth


def tree(parents: list[int], values: list[float], rewards: list[float]) -> SearchTree:
    """One search whose nodes have these parents; discount 0 where there is a reward."""
    empty = empty_tree(1, len(parents), 3)
    exists = np.array([index == 0 or parent >= 0 for index, parent in enumerate(parents)])
    return replace(
        empty,
        parents=jnp.array([parents]),
        visits=jnp.array([exists.astype(int)]),
        values=jnp.array([values]),
        rewards=jnp.array([rewards]),
        discounts=jnp.array([[0.0 if reward else 1.0 for reward in rewards]]),
    )


def test_range_of_q_is_that_of_the_roots_children_alone() -> None:
    found = tree([NO_PARENT, 0, 0, 1, 0], [9.0, 0.5, 0.2, 7.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.9])
    np.testing.assert_allclose(root_q_range(found), [0.7], rtol=1e-6)


def test_range_of_a_single_child_or_none_is_zero() -> None:
    alone = tree([NO_PARENT, 0, 1, NO_PARENT], [0.1, 0.8, 0.3, 0.0], [0.0] * 4)
    none = tree([NO_PARENT] * 4, [0.1, 0.0, 0.0, 0.0], [0.0] * 4)
    assert root_q_range(alone) == root_q_range(none) == 0


@pytest.mark.parametrize(
    ("parents", "depth"),
    [
        ([NO_PARENT], 0),
        ([NO_PARENT, NO_PARENT, NO_PARENT], 0),
        ([NO_PARENT, 0, 0, 0], 1),
        ([NO_PARENT, 0, 1, 0, 2, NO_PARENT], 3),
        ([NO_PARENT, *range(16)], 16),
    ],
)
def test_depth_is_that_of_the_deepest_node(parents: list[int], depth: int) -> None:
    nothing = [0.0] * len(parents)
    assert tree_depth(tree(parents, nothing, nothing)).tolist() == [depth]
