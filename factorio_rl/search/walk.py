"""The walk from the root to the edge that a simulation evaluates, noting the path on the way.

All batch elements step down together until the last one has reached its leaf. The loop is batched
by hand: `vmap` of a `while_loop` would select, and so copy, whole trees at every level.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int32

from factorio_rl.search.select import QTransform, select_interior
from factorio_rl.search.tree import ROOT, UNVISITED, SearchTree, find_child


class Walk(NamedTuple):
    """Where the walks of a batch are, or have ended. D is the depth limit.

    `level` counts the edges of the longest walk, `depth` those of each one. `path` holds the node
    at each depth, up to the edge's `parent`; later columns have no meaning. `child` is the node
    that the edge `(parent, action)` leads to: `UNVISITED`, unless the depth limit ended the walk.
    """

    level: Int32[Array, ""]
    depth: Int32[Array, "B"]
    path: Int32[Array, "B D"]
    parent: Int32[Array, "B"]
    action: Int32[Array, "B"]
    child: Int32[Array, "B"]
    going: Bool[Array, "B"]


def walk_to_root(batch: int, max_depth: int) -> Walk:
    """The walk without edges, before the root is evaluated."""
    root = jnp.full(batch, ROOT, jnp.int32)
    return Walk(
        level=jnp.int32(0),
        depth=jnp.zeros(batch, jnp.int32),
        path=jnp.full((batch, max_depth), ROOT, jnp.int32),
        parent=root,
        action=jnp.zeros(batch, jnp.int32),
        child=root,
        going=jnp.zeros(batch, bool),
    )


def walk(
    tree: SearchTree, root_action: Int32[Array, "B"], qtransform: QTransform, max_depth: int
) -> Walk:
    """Follows `root_action`, then interior selection, to an edge without a child or the limit."""
    start = walk_to_root(root_action.shape[0], max_depth)
    child = find_child(tree, start.parent, root_action)
    start = start._replace(
        level=start.level + 1,
        depth=start.depth + 1,
        action=root_action,
        child=child,
        going=(child != UNVISITED) & (max_depth > 1),
    )

    def step_down(at: Walk) -> Walk:
        parent = jnp.where(at.going, at.child, at.parent)
        action = jnp.where(at.going, select_interior(tree, parent, qtransform), at.action)
        child = jnp.where(at.going, find_child(tree, parent, action), at.child)
        level = at.level + 1
        return Walk(
            level=level,
            depth=at.depth + at.going,
            path=at.path.at[:, at.level].set(parent, unique_indices=True),
            parent=parent,
            action=action,
            child=child,
            going=at.going & (child != UNVISITED) & (level < max_depth),
        )

    return jax.lax.while_loop(lambda at: jnp.any(at.going), step_down, start)
