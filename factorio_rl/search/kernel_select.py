"""Action selection within the kernel: of one batch row, over the nodes of its tree.

The arithmetic is that of `select.py`. Unvisited actions of a node all have the same completed
Q-value; so the one with the highest logit stands for all of them in an argmax, and their joint mass
in a softmax. No row of the width of the action space is read. In: `Nodes` as vectors `[L]` in
registers, and scalars. Out: an action.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from factorio_rl.search.settings import SearchSettings
from factorio_rl.search.tree import ROOT

NONE = -jnp.inf  # score of what cannot be chosen
LOWEST_CONSIDERED = -1e9  # mctx: a considered action stays above all others, whatever its score
_TINY = float(jnp.finfo(jnp.float32).tiny)


class Nodes(NamedTuple):
    """Statistics of nodes: `[B, L]`, in the kernel `[L]`; L is a power of two above N.

    `prior_max`, `prior_mass`: maximum of the logits, and the sum of `exp(logit - maximum)`.
    `edge_logits`, `edge_gumbels`: logit, and at the root Gumbel, of the edge from the parent.
    `best_scores`, `best_actions`: the unvisited action with the highest logit, at the root with the
    highest Gumbel plus logit; the score is `-inf` where all actions are visited.
    `unvisited_mass`: the sum of `exp(logit - best score)` over unvisited actions; not for the root.
    """

    visits: Any
    values: Any
    raw_values: Any
    rewards: Any
    discounts: Any
    parents: Any
    actions: Any
    prior_max: Any
    prior_mass: Any
    edge_logits: Any
    edge_gumbels: Any
    best_scores: Any
    best_actions: Any
    unvisited_mass: Any


class _Completed(NamedTuple):
    """Completed and scaled Q-values of a node: those of its children `[L]`, that of the others."""

    is_child: Any
    visits: Any  # [L]
    num_visits: Any
    of_children: Any
    of_unvisited: Any


def lanes(vector: jax.Array) -> jax.Array:
    return jax.lax.iota(jnp.int32, vector.shape[0])


def at(vector: jax.Array, node: jax.Array) -> jax.Array:
    return jnp.sum(jnp.where(lanes(vector) == node, vector, jnp.zeros_like(vector)))


def lowest(mask: jax.Array, numbers: jax.Array) -> jax.Array:
    """The lowest of `numbers` where `mask`."""
    return jnp.min(jnp.where(mask, numbers, jnp.iinfo(jnp.int32).max))


def choose_at_root(
    nodes: Nodes, considered: jax.Array, num_actions: int, settings: SearchSettings
) -> jax.Array:
    """Sequential Halving: the highest Gumbel + logit + Q among actions with the visits in turn."""
    completed = _complete(nodes, jnp.int32(ROOT), num_actions, settings)
    shifted = nodes.edge_logits - at(nodes.prior_max, jnp.int32(ROOT))
    scores = nodes.edge_gumbels + shifted + completed.of_children
    scores = jnp.maximum(scores, LOWEST_CONSIDERED)
    scores = jnp.where(completed.is_child & (completed.visits == considered), scores, NONE)
    best = at(nodes.best_scores, jnp.int32(ROOT))
    unvisited = jnp.maximum(best + completed.of_unvisited, LOWEST_CONSIDERED)
    unvisited = jnp.where((considered == 0) & (best > NONE), unvisited, NONE)
    action = _choose(nodes, jnp.int32(ROOT), scores, unvisited, num_actions)
    is_any = (jnp.max(scores) > NONE) | (unvisited > NONE)
    return jnp.where(is_any, action, 0)


def choose_below(
    nodes: Nodes, node: jax.Array, num_actions: int, settings: SearchSettings
) -> jax.Array:
    """The action whose visits lag most behind the improved policy (section 5 of the paper)."""
    completed = _complete(nodes, node, num_actions, settings)
    best = at(nodes.best_scores, node)
    logits = jnp.where(completed.is_child, nodes.edge_logits + completed.of_children, NONE)
    unvisited = best + completed.of_unvisited
    top = jnp.maximum(jnp.max(logits), unvisited)
    weights = jnp.exp(logits - top)
    unvisited_weight = jnp.exp(unvisited - top)
    total = jnp.sum(weights) + at(nodes.unvisited_mass, node) * unvisited_weight
    share = completed.visits.astype(jnp.float32) / (1 + completed.num_visits).astype(jnp.float32)
    scores = jnp.where(completed.is_child, weights / total - share, NONE)
    unvisited_score = jnp.where(best > NONE, unvisited_weight / total, NONE)
    return _choose(nodes, node, scores, unvisited_score, num_actions)


def _choose(
    nodes: Nodes, node: jax.Array, scores: jax.Array, unvisited: jax.Array, num_actions: int
) -> jax.Array:
    """The action with the highest score, the lowest one of several; never one out of range."""
    top = jnp.max(scores)
    visited_action = lowest(scores == top, nodes.actions)
    unvisited_action = at(nodes.best_actions, node)
    first = jnp.minimum(visited_action, unvisited_action)
    action = jnp.where(unvisited > top, unvisited_action, visited_action)
    return jnp.clip(jnp.where(unvisited == top, first, action), 0, num_actions - 1)


def _complete(
    nodes: Nodes, node: jax.Array, num_actions: int, settings: SearchSettings
) -> _Completed:
    """Completed Q-values as `mctx.qtransform_completed_by_mix_value` has them."""
    is_child = nodes.parents == node
    visits = jnp.where(is_child, nodes.visits, 0)
    num_visits = jnp.sum(visits)
    qvalues = nodes.rewards + nodes.discounts * nodes.values
    value = at(nodes.raw_values, node)
    if settings.use_mixed_value:
        prior = jnp.exp(nodes.edge_logits - at(nodes.prior_max, node))
        prior = jnp.maximum(prior / at(nodes.prior_mass, node), _TINY)
        prior = jnp.where(is_child, prior, 0.0)
        prior_sum = jnp.maximum(jnp.sum(prior), _TINY)
        weighted = jnp.sum(jnp.where(is_child, prior * qvalues / prior_sum, 0.0))
        total = num_visits.astype(jnp.float32)
        value = (value + total * weighted) / (total + 1.0)
    if settings.rescale_values:
        has_unvisited = jnp.sum(is_child.astype(jnp.int32)) < num_actions
        low = jnp.min(jnp.where(is_child, qvalues, jnp.inf))
        high = jnp.max(jnp.where(is_child, qvalues, -jnp.inf))
        low = jnp.where(has_unvisited, jnp.minimum(low, value), low)
        high = jnp.where(has_unvisited, jnp.maximum(high, value), high)
        spread = jnp.maximum(high - low, settings.epsilon)
        qvalues, value = (qvalues - low) / spread, (value - low) / spread
    scale = (settings.maxvisit_init + jnp.max(visits).astype(jnp.float32)) * settings.value_scale
    return _Completed(is_child, visits, num_visits, scale * qvalues, scale * value)
