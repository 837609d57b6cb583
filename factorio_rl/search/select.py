"""Action selection at the root, at interior nodes, and at the end of a search.

The arithmetic is mctx's own (Danihelka et al., "Policy improvement by planning with Gumbel"). A
node's statistics over actions are rebuilt as rows `[B, A]`, and handed to mctx as a tree of one
node, so that every result has the same bits as with mctx's full tree.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import mctx
from jaxtyping import Array, Bool, Float32, Int32, PRNGKeyArray

# Not exported by mctx; the final choice of action has to score as the search did.
from mctx._src.seq_halving import score_considered

from factorio_rl.search.tree import ROOT, UNVISITED, SearchTree

# chex hides the fields of mctx's dataclasses from type checkers.
_mctx: Any = mctx

QTransform = Callable[[Any, int], Any]


class Root(NamedTuple):
    """What stays fixed at the root during a search: its legal actions and its Gumbel noise."""

    legal: Bool[Array, "B A"]
    gumbel: Float32[Array, "B A"]


def sample_gumbel(
    key: PRNGKeyArray,
    legal: Bool[Array, "B A"],
    scale: Float32[Array, ""] | Float32[Array, "B 1"],
) -> Float32[Array, "B A"]:
    """The root's Gumbel noise, with the draws that `mctx.gumbel_muzero_policy` takes from `key`."""
    _, gumbel_key = jax.random.split(key)
    return scale * jax.random.gumbel(gumbel_key, legal.shape, jnp.float32)


def mask_illegal(logits: Float32[Array, "B A"], legal: Bool[Array, "B A"]) -> Float32[Array, "B A"]:
    """Logits shifted to a maximum of 0, with the lowest finite number on illegal actions.

    Finite, since a softmax over a row without legal actions must not give NaN.
    """
    shifted = logits - jnp.max(logits, axis=-1, keepdims=True)
    return jnp.where(legal, shifted, jnp.finfo(logits.dtype).min)


def select_root(
    tree: SearchTree,
    root: Root,
    qtransform: QTransform,
    num_simulations: int,
    max_num_considered_actions: int,
) -> Int32[Array, "B"]:
    """The root's action that Sequential Halving with Gumbel visits next."""
    select = partial(
        _mctx.gumbel_muzero_root_action_selection,
        None,
        node_index=ROOT,
        num_simulations=num_simulations,
        max_num_considered_actions=max_num_considered_actions,
        qtransform=qtransform,
    )
    return jax.vmap(select)(_root_view(tree, root))


def select_interior(
    tree: SearchTree, node: Int32[Array, "B"], qtransform: QTransform
) -> Int32[Array, "B"]:
    """The action whose visit brings those of `node` nearest to its improved policy (section 5)."""
    select = partial(
        _mctx.gumbel_muzero_interior_action_selection,
        None,
        node_index=ROOT,
        depth=None,
        qtransform=qtransform,
    )
    return jax.vmap(select)(_node_view(tree, node))


def conclude(
    tree: SearchTree, root: Root, qtransform: QTransform
) -> tuple[Int32[Array, "B"], Float32[Array, "B A"]]:
    """The action to play, and the improved policy as the target for training.

    The action has the highest `gumbel + logits + q` among the most visited ones.
    """
    view = _root_view(tree, root)
    prior_logits = tree.prior_logits[:, ROOT]
    visits = view.children_visits[:, ROOT].astype(jnp.float32)
    completed_qvalues = jax.vmap(qtransform, in_axes=(0, None))(view, ROOT)
    most_visits = jnp.max(visits, axis=-1, keepdims=True)
    score = score_considered(most_visits, root.gumbel, prior_logits, completed_qvalues, visits)
    # -inf is safe in an argmax; without a legal action it gives action 0.
    action = jnp.argmax(jnp.where(root.legal, score, -jnp.inf), axis=-1).astype(jnp.int32)
    weights = jax.nn.softmax(mask_illegal(prior_logits + completed_qvalues, root.legal))
    return action, weights


def _root_view(tree: SearchTree, root: Root) -> Any:
    view = _node_view(tree, jnp.full(tree.visits.shape[0], ROOT, jnp.int32))
    return view.replace(
        root_invalid_actions=~root.legal,
        extra_data=_mctx.GumbelMuZeroExtraData(root_gumbel=root.gumbel),
    )


def _node_view(tree: SearchTree, node: Int32[Array, "B"]) -> Any:
    """One node of each batch element as a `mctx.Tree` of one node: `[B, 1]` and `[B, 1, A]`."""
    num_actions = tree.prior_logits.shape[-1]
    rows = jnp.arange(node.shape[0])[:, None]
    nodes = jnp.broadcast_to(jnp.arange(tree.visits.shape[1]), tree.visits.shape)
    # Nodes elsewhere in the tree get slots past the end, which are distinct and dropped.
    column = jnp.where(tree.parents == node[:, None], tree.actions, num_actions + nodes)
    child = jnp.full((node.shape[0], num_actions), UNVISITED, jnp.int32)
    child = child.at[rows, column].set(nodes, mode="drop", unique_indices=True)

    def pick(statistic: Array) -> Array:
        return statistic[rows, node[:, None]]

    def spread(statistic: Array) -> Array:
        return jnp.where(child == UNVISITED, 0, statistic[rows, child])[:, None]

    return _mctx.Tree(
        node_visits=pick(tree.visits),
        raw_values=pick(tree.raw_values),
        node_values=pick(tree.values),
        parents=pick(tree.parents),
        action_from_parent=pick(tree.actions),
        children_index=child[:, None],
        children_prior_logits=pick(tree.prior_logits),
        children_visits=spread(tree.visits),
        children_rewards=spread(tree.rewards),
        children_discounts=spread(tree.discounts),
        children_values=spread(tree.values),
        embeddings=None,
        root_invalid_actions=None,
        extra_data=None,
    )
