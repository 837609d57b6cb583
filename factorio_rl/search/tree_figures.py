"""What a finished search tree says of the search's health."""

import jax.numpy as jnp
from jaxtyping import Array, Float32, Int32

from factorio_rl.search.tree import ROOT, SearchTree


def root_q_range(tree: SearchTree) -> Float32[Array, "B"]:
    """Largest less smallest Q among the root's visited actions; 0 where fewer than two are."""
    is_visited = (tree.parents == ROOT) & (tree.visits > 0)
    q_values = tree.rewards + tree.discounts * tree.values
    largest = jnp.where(is_visited, q_values, -jnp.inf).max(axis=-1)
    smallest = jnp.where(is_visited, q_values, jnp.inf).min(axis=-1)
    return jnp.maximum(largest - smallest, 0.0)


def tree_depth(tree: SearchTree) -> Int32[Array, "B"]:
    """Edges from the root to the deepest node."""
    ancestor = jnp.maximum(tree.parents, ROOT)
    depth = (tree.parents >= ROOT).astype(jnp.int32)
    # Each round doubles the number of edges that `depth` has counted on the way to the root.
    for _ in range((tree.parents.shape[-1] - 1).bit_length()):
        depth = depth + jnp.take_along_axis(depth, ancestor, axis=-1)
        ancestor = jnp.take_along_axis(ancestor, ancestor, axis=-1)
    return depth.max(axis=-1)
