"""One simulation's work on the tree, for one batch row, as one GPU program (Pallas, Triton).

In: the evaluation of the node that the last walk ended at. The program writes the node, takes its
value up to the root, and walks down again to the edge to evaluate next. Node statistics are vectors
over the nodes of the tree, held in registers: nothing that a program writes to memory is read again
by the same program, so no order of its memory accesses can matter.

A walk reads no wide rows. Unvisited actions all have the same completed Q-value; so the one with
the highest logit stands for all of them in an argmax, and their joint mass in a softmax. Both are
renewed for the two nodes that a simulation changes, the new one and its parent: the wide array
holds the logits of unvisited actions (`-inf` once visited), and the logit of a visited one is kept
with the child. This is the arithmetic of `select.py` and `backup.py` in another order of summation.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plgpu

from factorio_rl.search.settings import SearchSettings
from factorio_rl.search.tree import NO_PARENT, ROOT, UNVISITED

NONE = -jnp.inf  # score of what cannot be chosen
_LOWEST_LOGIT = float(jnp.finfo(jnp.float32).min)
_TINY = float(jnp.finfo(jnp.float32).tiny)
_LOWEST_CONSIDERED = -1e9  # mctx: a considered action stays above all others, whatever its score


class Nodes(NamedTuple):
    """Statistics of nodes: `[B, L]`, in the kernel `[L]`; L is a power of two above N.

    `prior_max`, `prior_mass`: maximum of the logits, and the sum of `exp(logit - maximum)`.
    `edge_logits`, `edge_gumbels`: logit, and at the root Gumbel, of the edge from the parent.
    `best_scores`, `best_actions`: the unvisited action with the highest logit, at the root with the
    highest Gumbel plus logit; the score is `-inf` where all actions are visited.
    `unvisited_mass`: the sum of `exp(logit - best score)` over unvisited actions.
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


class Now(NamedTuple):
    """What one simulation brings: its number `[1]` and the evaluation, `[B]` and `[B, A]`.

    `considered`: `[B, N + 1]` the visits that each next simulation considers at the root.
    `gumbels`: `[B, A]` the root's, `-inf` on illegal actions.
    """

    iteration: Any
    considered: Any
    reward: Any
    discount: Any
    value: Any
    prior_logits: Any
    gumbels: Any


class KernelState(NamedTuple):
    """What the program changes in place: the edge of `Edge`, the nodes, the wide array."""

    parent: Any
    action: Any
    node: Any
    nodes: Nodes
    unvisited_logits: Any  # [B, N + 1, A]


class _Completed(NamedTuple):
    """Completed and scaled Q-values of a node: those of its children `[L]`, that of the others."""

    is_child: Any
    visits: Any  # [L]
    num_visits: Any
    of_children: Any
    of_unvisited: Any


def simulate_row(now: Now, before: KernelState, after: KernelState, settings: SearchSettings):
    """The program of a batch row: `now` and `before` are read, `after` is written."""
    iteration = now.iteration[0]
    parent, action, node = before.parent[0], before.action[0], before.node[0]
    nodes = Nodes(*(ref[...] for ref in before.nodes))
    nodes = _put(nodes, parent, action, node, now)
    nodes = _put_row(nodes, now, before, after, iteration == ROOT, parent, action, node)
    nodes = _back_up(nodes, node, now.value[0])
    for ref, vector in zip(after.nodes, nodes, strict=True):
        ref[...] = vector

    num_actions = now.prior_logits.shape[0]
    root_action = _select_root(nodes, now.considered[iteration], num_actions, settings)
    parent, action, child = _walk(nodes, root_action, num_actions, settings)
    after.parent[0] = parent
    after.action[0] = action
    after.node[0] = jnp.where(child == UNVISITED, iteration + 1, child)


def _lanes(vector: jax.Array) -> jax.Array:
    return jax.lax.iota(jnp.int32, vector.shape[0])


def _at(vector: jax.Array, node: jax.Array) -> jax.Array:
    return jnp.sum(jnp.where(_lanes(vector) == node, vector, jnp.zeros_like(vector)))


def _first(mask: jax.Array, numbers: jax.Array) -> jax.Array:
    """The lowest of `numbers` where `mask`."""
    return jnp.min(jnp.where(mask, numbers, jnp.iinfo(jnp.int32).max))


def _put(nodes: Nodes, parent: jax.Array, action: jax.Array, node: jax.Array, now: Now) -> Nodes:
    here = _lanes(nodes.visits) == node
    value = now.value[0]
    return nodes._replace(
        visits=nodes.visits + here.astype(jnp.int32),
        values=jnp.where(here, value, nodes.values),
        raw_values=jnp.where(here, value, nodes.raw_values),
        rewards=jnp.where(here, now.reward[0], nodes.rewards),
        discounts=jnp.where(here, now.discount[0], nodes.discounts),
        parents=jnp.where(here, parent, nodes.parents),
        actions=jnp.where(here, action, nodes.actions),
    )


def _put_row(
    nodes: Nodes,
    now: Now,
    before: KernelState,
    after: KernelState,
    is_root: jax.Array,
    parent: jax.Array,
    action: jax.Array,
    node: jax.Array,
) -> Nodes:
    """Writes the logits of `node`, takes `action` out of those of `parent`, and renews both."""
    num_actions = now.prior_logits.shape[0]
    column = jax.lax.iota(jnp.int32, pl.next_power_of_2(num_actions))
    inside = column < num_actions
    of_root = is_root | (parent == ROOT)
    gumbels = plgpu.load(now.gumbels.at[column], mask=inside & of_root, other=NONE)
    logits = plgpu.load(now.prior_logits.at[column], mask=inside, other=NONE)
    shifted = jnp.where(gumbels > NONE, logits - jnp.max(logits), _LOWEST_LOGIT)
    logits = jnp.where(is_root & inside, shifted, logits)
    plgpu.store(after.unvisited_logits.at[node, column], logits, mask=inside)

    here = _lanes(nodes.visits) == node
    prior_max = jnp.max(logits)
    mass = jnp.sum(jnp.exp(logits - prior_max))
    scores = jnp.where(is_root, _root_scores(logits - prior_max, gumbels), logits)
    best = jnp.max(scores)
    best_action = _first(scores == best, column)
    nodes = nodes._replace(
        prior_max=jnp.where(here, prior_max, nodes.prior_max),
        prior_mass=jnp.where(here, mass, nodes.prior_mass),
        best_scores=jnp.where(here, best, nodes.best_scores),
        best_actions=jnp.where(here, best_action, nodes.best_actions),
        unvisited_mass=jnp.where(here, mass, nodes.unvisited_mass),
    )

    above = _lanes(nodes.visits) == parent  # nowhere, at the root
    row = plgpu.load(
        before.unvisited_logits.at[jnp.maximum(parent, ROOT), column],
        mask=inside & ~is_root,
        other=NONE,
    )
    taken = column == action
    edge_logit = jnp.sum(jnp.where(taken, row, 0.0))
    edge_gumbel = jnp.sum(jnp.where(taken & (gumbels > NONE), gumbels, 0.0))
    row = jnp.where(taken, NONE, row)
    plgpu.store(
        after.unvisited_logits.at[jnp.maximum(parent, ROOT), column],
        row,
        mask=taken & ~is_root,
    )
    shifted = row - _at(nodes.prior_max, parent)
    scores = jnp.where(parent == ROOT, _root_scores(shifted, gumbels), row)
    best = jnp.max(scores)
    best_action = _first(scores == best, column)
    mass = jnp.sum(jnp.where(row > NONE, jnp.exp(row - best), 0.0))
    is_new = here & (edge_logit > NONE)  # a leaf at the depth limit has its logit already
    return nodes._replace(
        edge_logits=jnp.where(is_new, edge_logit, nodes.edge_logits),
        edge_gumbels=jnp.where(is_new, edge_gumbel, nodes.edge_gumbels),
        best_scores=jnp.where(above, best, nodes.best_scores),
        best_actions=jnp.where(above, best_action, nodes.best_actions),
        unvisited_mass=jnp.where(above, mass, nodes.unvisited_mass),
    )


def _root_scores(shifted_logits: jax.Array, gumbels: jax.Array) -> jax.Array:
    """Gumbel plus logit of legal actions that are unvisited (`-inf` else)."""
    can = (gumbels > NONE) & (shifted_logits > NONE)
    return jnp.where(can, jnp.maximum(gumbels + shifted_logits, _LOWEST_CONSIDERED), NONE)


def _back_up(nodes: Nodes, leaf: jax.Array, value: jax.Array) -> Nodes:
    """Adds the return from `leaf` to all nodes above it."""

    def climb(carry):
        node, parent, value, values, visits = carry
        value = _at(nodes.rewards, node) + _at(nodes.discounts, node) * value
        here = _lanes(visits) == parent
        mean = (values * visits.astype(jnp.float32) + value) / (visits.astype(jnp.float32) + 1.0)
        return (
            parent,
            _at(nodes.parents, parent),
            value,
            jnp.where(here, mean, values),
            visits + here.astype(jnp.int32),
        )

    start = (leaf, _at(nodes.parents, leaf), value, nodes.values, nodes.visits)
    *_, values, visits = jax.lax.while_loop(lambda carry: carry[1] != NO_PARENT, climb, start)
    return nodes._replace(values=values, visits=visits)


def _walk(
    nodes: Nodes, root_action: jax.Array, num_actions: int, settings: SearchSettings
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The edge (parent, action, child) at which a walk from the root ends."""

    def child_of(node: jax.Array, action: jax.Array) -> jax.Array:
        is_child = (nodes.parents == node) & (nodes.actions == action)
        return jnp.max(jnp.where(is_child, _lanes(nodes.visits), UNVISITED))

    def step_down(carry):
        depth, _, _, node = carry
        action = _select_interior(nodes, node, num_actions, settings)
        return depth + 1, node, action, child_of(node, action)

    root = jnp.int32(ROOT)
    start = (jnp.int32(1), root, root_action, child_of(root, root_action))
    _, parent, action, child = jax.lax.while_loop(
        lambda carry: (carry[3] != UNVISITED) & (carry[0] < settings.depth_limit), step_down, start
    )
    return parent, action, child


def _select_root(
    nodes: Nodes, considered: jax.Array, num_actions: int, settings: SearchSettings
) -> jax.Array:
    """Sequential Halving: the highest Gumbel + logit + Q among actions with the visits in turn."""
    completed = _complete(nodes, jnp.int32(ROOT), num_actions, settings)
    shifted = nodes.edge_logits - _at(nodes.prior_max, jnp.int32(ROOT))
    scores = nodes.edge_gumbels + shifted + completed.of_children
    scores = jnp.maximum(scores, _LOWEST_CONSIDERED)
    scores = jnp.where(completed.is_child & (completed.visits == considered), scores, NONE)
    best = _at(nodes.best_scores, jnp.int32(ROOT))
    unvisited = jnp.maximum(best + completed.of_unvisited, _LOWEST_CONSIDERED)
    unvisited = jnp.where((considered == 0) & (best > NONE), unvisited, NONE)
    action = _choose(nodes, jnp.int32(ROOT), scores, unvisited, num_actions)
    is_any = (jnp.max(scores) > NONE) | (unvisited > NONE)
    return jnp.where(is_any, action, 0)


def _select_interior(
    nodes: Nodes, node: jax.Array, num_actions: int, settings: SearchSettings
) -> jax.Array:
    """The action whose visits lag most behind the improved policy (section 5 of the paper)."""
    completed = _complete(nodes, node, num_actions, settings)
    best = _at(nodes.best_scores, node)
    logits = jnp.where(completed.is_child, nodes.edge_logits + completed.of_children, NONE)
    unvisited = best + completed.of_unvisited
    top = jnp.maximum(jnp.max(logits), unvisited)
    weights = jnp.exp(logits - top)
    unvisited_weight = jnp.exp(unvisited - top)
    total = jnp.sum(weights) + _at(nodes.unvisited_mass, node) * unvisited_weight
    share = completed.visits.astype(jnp.float32) / (1 + completed.num_visits).astype(jnp.float32)
    scores = jnp.where(completed.is_child, weights / total - share, NONE)
    unvisited_score = jnp.where(best > NONE, unvisited_weight / total, NONE)
    return _choose(nodes, node, scores, unvisited_score, num_actions)


def _choose(
    nodes: Nodes, node: jax.Array, scores: jax.Array, unvisited: jax.Array, num_actions: int
) -> jax.Array:
    """The action with the highest score, the lowest one of several; never one out of range."""
    top = jnp.max(scores)
    visited_action = _first(scores == top, nodes.actions)
    unvisited_action = _at(nodes.best_actions, node)
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
    value = _at(nodes.raw_values, node)
    if settings.use_mixed_value:
        prior = jnp.exp(nodes.edge_logits - _at(nodes.prior_max, node))
        prior = jnp.maximum(prior / _at(nodes.prior_mass, node), _TINY)
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
