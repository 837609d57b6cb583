"""Stock mctx with its known defect removed: the "fix" of the search benchmark.

mctx's backward carries the whole tree through a `vmap`ped `while_loop`. JAX lowers such a loop to
a select over everything that it carries, so every level of every walk copies the `[B, N + 1, A]`
arrays of child values and child visits. This backward climbs with arrays of the size of the nodes
only, and then writes each wide array with one scatter. Its results have the bits of the original.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from mctx._src import search as mctx_search

ROOT = 0


class _Climb(NamedTuple):
    """One batch element on its way up; `returns` and `passed` have an entry for every node."""

    node: jax.Array
    value: jax.Array  # the return from `node`
    returns: jax.Array  # the return from each node above the leaf
    passed: jax.Array  # which nodes these are
    entered: jax.Array  # nodes whose edge from the parent the return came up


@contextmanager
def one_scatter_backward() -> Iterator[None]:
    """Searches of mctx that are traced inside use the backward of this module."""
    stock = mctx_search.backward
    mctx_search.backward = backward
    try:
        yield
    finally:
        mctx_search.backward = stock


@jax.vmap
def backward(tree: Any, leaf: jax.Array) -> Any:
    """Takes the value of `leaf` (`[B]` node indices) up a `mctx.Tree`, as `mctx` does."""
    num_nodes = tree.node_visits.shape[0]
    nodes = jnp.arange(num_nodes)

    def step_up(at: _Climb) -> _Climb:
        parent, action = tree.parents[at.node], tree.action_from_parent[at.node]
        discount = tree.children_discounts[parent, action]
        value = tree.children_rewards[parent, action] + discount * at.value
        here = nodes == parent
        return _Climb(
            node=parent,
            value=value,
            returns=jnp.where(here, value, at.returns),
            passed=at.passed | here,
            entered=at.entered | (nodes == at.node),
        )

    nowhere = jnp.zeros(num_nodes, bool)
    leaf = jnp.asarray(leaf, jnp.int32)
    start = _Climb(leaf, tree.node_values[leaf], jnp.zeros_like(tree.node_values), nowhere, nowhere)
    top = jax.lax.while_loop(lambda at: at.node != ROOT, step_up, start)

    visits = tree.node_visits
    means = (tree.node_values * visits + top.returns) / (visits + 1.0)
    values = jnp.where(top.passed, means, tree.node_values)
    # Other nodes write past the end, where nothing is, each at a place of its own.
    parent = jnp.where(top.entered, tree.parents, num_nodes + nodes)
    edge = (parent, jnp.where(top.entered, tree.action_from_parent, 0))
    put = {"mode": "drop", "unique_indices": True}
    return tree.replace(
        node_values=values,
        node_visits=visits + top.passed,
        children_values=tree.children_values.at[edge].set(values, **put),
        children_visits=tree.children_visits.at[edge].add(top.entered.astype(jnp.int32), **put),
    )
