"""One simulation's work on the tree, for one batch row, as one GPU program (Pallas, Triton).

In: the evaluation of the node that the last walk ended at. The program writes the node, takes its
value up to the root, and walks down again to the edge to evaluate next. Node statistics are vectors
over the nodes of the tree, held in registers, and each column of a wide row belongs to one thread:
no thread reads from memory what another one writes within the program.

Selection needs the best unvisited action of a node, and the mass of all of them; both are renewed
here for the two nodes that a simulation changes, the new one and its parent. The wide array holds
the logits of unvisited actions (`-inf` once visited); that of a visited one is kept with the child.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plgpu

from factorio_rl.search.kernel_select import (
    LOWEST_CONSIDERED,
    NONE,
    Nodes,
    at,
    choose_at_root,
    choose_below,
    lanes,
    lowest,
)
from factorio_rl.search.settings import SearchSettings
from factorio_rl.search.tree import NO_PARENT, ROOT, UNVISITED

NUM_WARPS = 4  # the fastest of 1, 2, 4 and 8 on an H200, at B=128 and B=1024, A=1729
NUM_THREADS = 32 * NUM_WARPS
_LOWEST_LOGIT = float(jnp.finfo(jnp.float32).min)


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
    root_action = choose_at_root(nodes, now.considered[iteration], num_actions, settings)
    parent, action, child = _walk(nodes, root_action, num_actions, settings)
    after.parent[0] = parent
    after.action[0] = action
    after.node[0] = jnp.where(child == UNVISITED, iteration + 1, child)


def _put(nodes: Nodes, parent: jax.Array, action: jax.Array, node: jax.Array, now: Now) -> Nodes:
    here = lanes(nodes.visits) == node
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
    # As many columns as threads at least: so each is one thread's, which loads it, then stores it.
    column = jax.lax.iota(jnp.int32, max(pl.next_power_of_2(num_actions), NUM_THREADS))
    inside = column < num_actions
    touches_root = is_root | (parent == ROOT)
    # All loads stand before the first store, which no compiler could move them across.
    logits = plgpu.load(now.prior_logits.at[column], mask=inside, other=NONE)
    gumbels = plgpu.load(now.gumbels.at[column], mask=inside & touches_root, other=NONE)
    above = jnp.maximum(parent, ROOT)
    row = plgpu.load(before.unvisited_logits.at[above, column], mask=inside & ~is_root, other=NONE)
    edge_gumbel = now.gumbels[jnp.maximum(action, 0)]

    shifted = jnp.where(gumbels > NONE, logits - jnp.max(logits), _LOWEST_LOGIT)
    logits = jnp.where(is_root & inside, shifted, logits)
    prior_max = jnp.max(logits)
    plgpu.store(after.unvisited_logits.at[node, column], logits, mask=inside)
    mass = jnp.sum(jnp.exp(logits - prior_max))
    best, best_action = _best(logits, prior_max, gumbels, is_root)
    here = lanes(nodes.visits) == node
    nodes = nodes._replace(
        prior_max=jnp.where(here, prior_max, nodes.prior_max),
        prior_mass=jnp.where(here, mass, nodes.prior_mass),
        best_scores=jnp.where(here, best, nodes.best_scores),
        best_actions=jnp.where(here, best_action, nodes.best_actions),
        unvisited_mass=jnp.where(here, mass, nodes.unvisited_mass),
    )

    taken = column == action
    edge_logit = jnp.sum(jnp.where(taken, row, 0.0))
    row = jnp.where(taken, NONE, row)
    plgpu.store(after.unvisited_logits.at[above, column], row, mask=taken & ~is_root)
    best, best_action = _best(row, at(nodes.prior_max, parent), gumbels, parent == ROOT)
    mass = jnp.sum(jnp.where(row > NONE, jnp.exp(row - best), 0.0))
    is_above = lanes(nodes.visits) == parent  # nowhere, at the root
    is_new = here & (edge_logit > NONE)  # a leaf at the depth limit has its logit already
    return nodes._replace(
        edge_logits=jnp.where(is_new, edge_logit, nodes.edge_logits),
        edge_gumbels=jnp.where(is_new, edge_gumbel, nodes.edge_gumbels),
        best_scores=jnp.where(is_above, best, nodes.best_scores),
        best_actions=jnp.where(is_above, best_action, nodes.best_actions),
        unvisited_mass=jnp.where(is_above, mass, nodes.unvisited_mass),
    )


def _best(
    logits: jax.Array, prior_max: jax.Array, gumbels: jax.Array, at_root: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Score and action of the best unvisited one; the lowest action of several."""
    can = (gumbels > NONE) & (logits > NONE)
    considered = jnp.maximum(gumbels + (logits - prior_max), LOWEST_CONSIDERED)
    scores = jnp.where(at_root, jnp.where(can, considered, NONE), logits)
    best = jnp.max(scores)
    return best, lowest(scores == best, lanes(scores))


def _back_up(nodes: Nodes, leaf: jax.Array, value: jax.Array) -> Nodes:
    """Adds the return from `leaf` to all nodes above it."""

    def climb(carry):
        node, parent, value, values, visits = carry
        value = at(nodes.rewards, node) + at(nodes.discounts, node) * value
        here = lanes(visits) == parent
        mean = (values * visits.astype(jnp.float32) + value) / (visits.astype(jnp.float32) + 1.0)
        return (
            parent,
            at(nodes.parents, parent),
            value,
            jnp.where(here, mean, values),
            visits + here.astype(jnp.int32),
        )

    start = (leaf, at(nodes.parents, leaf), value, nodes.values, nodes.visits)
    *_, values, visits = jax.lax.while_loop(lambda carry: carry[1] != NO_PARENT, climb, start)
    return nodes._replace(values=values, visits=visits)


def _walk(
    nodes: Nodes, root_action: jax.Array, num_actions: int, settings: SearchSettings
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The edge (parent, action, child) at which a walk from the root ends."""

    def child_of(node: jax.Array, action: jax.Array) -> jax.Array:
        is_child = (nodes.parents == node) & (nodes.actions == action)
        return jnp.max(jnp.where(is_child, lanes(nodes.visits), UNVISITED))

    def step_down(carry):
        depth, _, _, node = carry
        action = choose_below(nodes, node, num_actions, settings)
        return depth + 1, node, action, child_of(node, action)

    root = jnp.int32(ROOT)
    start = (jnp.int32(1), root, root_action, child_of(root, root_action))
    _, parent, action, child = jax.lax.while_loop(
        lambda carry: (carry[3] != UNVISITED) & (carry[0] < settings.depth_limit), step_down, start
    )
    return parent, action, child
