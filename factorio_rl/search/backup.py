"""The backup: the leaf's value goes up the path and into the running mean of every node on it.

It reads and writes `[B, N + 1]` arrays only. The order of operations is mctx's, because a running
mean in another form (a reciprocal, or a sum and a count) has other bits.
"""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32

from factorio_rl.search.tree import SearchTree
from factorio_rl.search.walk import Walk


class _Climb(NamedTuple):
    """`value` is the return from `node`; `returns` keeps it for all nodes above the leaf."""

    level: Int32[Array, ""]
    node: Int32[Array, "B"]
    value: Float32[Array, "B"]
    returns: Float32[Array, "B nodes"]
    passed: Bool[Array, "B nodes"]


def backup(
    tree: SearchTree, way: Walk, leaf: Int32[Array, "B"], value: Float32[Array, "B"]
) -> SearchTree:
    """Adds the return from `leaf` to all nodes above it. A walk of depth 0 changes nothing."""
    rows = jnp.arange(leaf.shape[0])
    nodes = jnp.arange(tree.visits.shape[1])

    def step_up(at: _Climb) -> _Climb:
        level = at.level - 1
        on_path = level < way.depth
        parent = way.path[:, level]
        value = tree.rewards[rows, at.node] + tree.discounts[rows, at.node] * at.value
        here = on_path[:, None] & (nodes == parent[:, None])
        return _Climb(
            level=level,
            node=jnp.where(on_path, parent, at.node),
            value=jnp.where(on_path, value, at.value),
            returns=jnp.where(here, value[:, None], at.returns),
            passed=at.passed | here,
        )

    start = _Climb(
        level=way.level,
        node=leaf,
        value=value,
        returns=jnp.zeros_like(tree.values),
        passed=jnp.zeros(tree.visits.shape, bool),
    )
    top = jax.lax.while_loop(lambda at: at.level > 0, step_up, start)
    means = (tree.values * tree.visits + top.returns) / (tree.visits + 1.0)
    return replace(
        tree,
        values=jnp.where(top.passed, means, tree.values),
        visits=tree.visits + top.passed,
    )
