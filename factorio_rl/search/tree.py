"""The lean search tree: statistics per node, and one wide array of prior logits.

Every fact that a search keeps about an edge belongs to the node below it, because a node has one
parent. So rewards, discounts, visits and values are `[B, N + 1]` arrays, and the rows over actions
that action selection needs are rebuilt from them (`select.py`). Array letters: B batch, N
simulations, A actions. A node that iteration `i` adds has index `i`, and the root is node 0; hence
a parent always has a lower index than its child.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32, Int32

ROOT = 0
NO_PARENT = -1
UNVISITED = -1

Embedding = Any  # a pytree of arrays `[B, ...]`: whatever the model needs to go on from a node


class Evaluation(NamedTuple):
    """What the model says about the nodes that it was asked to expand; everything is float32.

    `reward` and `discount` `[B]` belong to the edge into the node (no meaning at the root),
    `prior_logits` `[B, A]` and `value` `[B]` to the node itself. The model has already put
    `finfo.min` on the logits of illegal actions. All numbers are finite; after others it is not
    defined which actions a search visits.
    """

    reward: Float32[Array, "B"]
    discount: Float32[Array, "B"]
    prior_logits: Float32[Array, "B A"]
    value: Float32[Array, "B"]


class Edge(NamedTuple):
    """The edge that a simulation evaluates, and the index of the node that it leads to.

    `node` is new, unless a depth limit ended the walk. At the root there is no edge: `parent` and
    `action` are `NO_PARENT`.
    """

    parent: Int32[Array, "B"]
    action: Int32[Array, "B"]
    node: Int32[Array, "B"]


def root_edge(batch: int) -> Edge:
    """Where the search starts: the edge that is none, to the root."""
    none = jnp.full(batch, NO_PARENT, jnp.int32)
    return Edge(parent=none, action=none, node=jnp.full(batch, ROOT, jnp.int32))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class SearchTree:
    """State of one search for each of B batch elements.

    `visits`: visit counts; 0 marks a node that does not exist.
    `values`: running means of the returns seen from each node.
    `raw_values`: the network's own values.
    `rewards`, `discounts`: of the edge from the parent; no meaning at the root.
    `parents`, `actions`: the edge from the parent, as node index and action (`NO_PARENT` at the
    root and at nodes that do not exist).
    `prior_logits`: the network's logits, at the root shifted to a maximum of 0.
    """

    visits: Int32[Array, "B nodes"]
    values: Float32[Array, "B nodes"]
    raw_values: Float32[Array, "B nodes"]
    rewards: Float32[Array, "B nodes"]
    discounts: Float32[Array, "B nodes"]
    parents: Int32[Array, "B nodes"]
    actions: Int32[Array, "B nodes"]
    prior_logits: Float32[Array, "B nodes A"]


def empty_tree(batch: int, num_nodes: int, num_actions: int) -> SearchTree:
    """A tree without nodes."""
    shape = (batch, num_nodes)
    return SearchTree(
        visits=jnp.zeros(shape, jnp.int32),
        values=jnp.zeros(shape, jnp.float32),
        raw_values=jnp.zeros(shape, jnp.float32),
        rewards=jnp.zeros(shape, jnp.float32),
        discounts=jnp.zeros(shape, jnp.float32),
        parents=jnp.full(shape, NO_PARENT, jnp.int32),
        actions=jnp.full(shape, NO_PARENT, jnp.int32),
        prior_logits=jnp.zeros((*shape, num_actions), jnp.float32),
    )


def put_node(tree: SearchTree, edge: Edge, evaluation: Evaluation) -> SearchTree:
    """Writes freshly evaluated nodes, one per batch element, and counts their visit.

    Under a depth limit a node can be evaluated again: its visits go on, its value starts anew.
    """
    at = (jnp.arange(edge.node.shape[0]), edge.node)

    def put(stored: Array, new: Array) -> Array:
        return stored.at[at].set(new, unique_indices=True)

    return replace(
        tree,
        visits=tree.visits.at[at].add(1, unique_indices=True),
        values=put(tree.values, evaluation.value),
        raw_values=put(tree.raw_values, evaluation.value),
        rewards=put(tree.rewards, evaluation.reward),
        discounts=put(tree.discounts, evaluation.discount),
        parents=put(tree.parents, edge.parent),
        actions=put(tree.actions, edge.action),
        prior_logits=put(tree.prior_logits, evaluation.prior_logits),
    )


def find_child(
    tree: SearchTree, node: Int32[Array, "B"], action: Int32[Array, "B"]
) -> Int32[Array, "B"]:
    """Index of the child that `action` leads to from `node`, or `UNVISITED`."""
    is_child = (tree.parents == node[:, None]) & (tree.actions == action[:, None])
    return jnp.max(jnp.where(is_child, jnp.arange(is_child.shape[1]), UNVISITED), axis=1)
