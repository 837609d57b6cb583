"""The lean tree in plain JAX, for every device: mctx's decisions bit for bit.

It is the reference for the kernel tree, and the tree to use on a CPU. Its state is the search tree
and the last walk, whose path the backup takes back up.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Int32

from factorio_rl.search.backup import backup
from factorio_rl.search.select import Root, mask_illegal, select_root
from factorio_rl.search.settings import SearchSettings
from factorio_rl.search.tree import (
    NO_PARENT,
    ROOT,
    UNVISITED,
    Edge,
    Evaluation,
    SearchTree,
    empty_tree,
    put_node,
    root_edge,
)
from factorio_rl.search.walk import Walk, walk, walk_to_root


class LeanState(NamedTuple):
    """The tree, the walk of the running simulation, and the edge at its end."""

    tree: SearchTree
    walk: Walk
    edge: Edge


class LeanTree:
    """`TreeMethods` of the lean tree."""

    def __init__(self, root: Root, settings: SearchSettings) -> None:
        self._root = root
        self._settings = settings

    def start(self) -> LeanState:
        batch, num_actions = self._root.legal.shape
        return LeanState(
            empty_tree(batch, self._settings.num_simulations + 1, num_actions),
            walk_to_root(batch, self._settings.depth_limit),
            root_edge(batch),
        )

    def select(self, state: LeanState, iteration: Int32[Array, ""]) -> tuple[LeanState, Edge]:
        settings, tree = self._settings, state.tree
        root_action = select_root(
            tree,
            self._root,
            settings.qtransform,
            settings.num_simulations,
            settings.max_num_considered_actions,
        )
        way = walk(tree, root_action, settings.qtransform, settings.depth_limit)
        is_root = iteration == ROOT
        edge = Edge(
            parent=jnp.where(is_root, NO_PARENT, way.parent),
            action=jnp.where(is_root, NO_PARENT, way.action),
            node=jnp.where(way.child == UNVISITED, iteration, way.child),
        )
        way = way._replace(depth=jnp.where(is_root, 0, way.depth))
        return LeanState(tree, way, edge), edge

    def add(
        self, state: LeanState, evaluation: Evaluation, iteration: Int32[Array, ""]
    ) -> LeanState:
        logits = evaluation.prior_logits
        root_logits = mask_illegal(logits, self._root.legal)
        logits = jnp.where(iteration == ROOT, root_logits, logits)
        tree = put_node(state.tree, state.edge, evaluation._replace(prior_logits=logits))
        tree = backup(tree, state.walk, state.edge.node, evaluation.value)
        return state._replace(tree=tree)

    def finish(self, state: LeanState) -> SearchTree:
        return state.tree
