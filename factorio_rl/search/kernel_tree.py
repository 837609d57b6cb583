"""The kernel tree: for GPUs, one program per batch row and simulation, at a nearly flat cost.

It decides as the lean tree does, but sums in another order, so that near ties may fall the other
way. Its loop state is written in place, and no walk reads a row of the width of the action space.
On a CPU the same program is interpreted, which only tests want.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plgpu
from jaxtyping import Array, Int32
from mctx._src.seq_halving import get_table_of_considered_visits

from factorio_rl.search.kernel import NUM_WARPS, KernelState, Now, simulate_row
from factorio_rl.search.kernel_select import NONE, Nodes
from factorio_rl.search.select import Root
from factorio_rl.search.settings import SearchSettings
from factorio_rl.search.tree import NO_PARENT, Edge, Evaluation, SearchTree, root_edge

_INTEGERS = ("visits", "parents", "actions", "best_actions")


class KernelTree:
    """`TreeMethods` of the kernel tree."""

    def __init__(self, root: Root, settings: SearchSettings) -> None:
        self._settings = settings
        self._gumbels = jnp.where(root.legal, root.gumbel, NONE)
        self._considered = considered_visits(root, settings)

    def start(self) -> KernelState:
        batch, num_actions = self._gumbels.shape
        num_nodes = self._settings.num_simulations + 1
        shape = (batch, pl.next_power_of_2(num_nodes))
        nodes = {
            name: jnp.zeros(shape, jnp.int32 if name in _INTEGERS else jnp.float32)
            for name in Nodes._fields
        }
        none = jnp.full(shape, NO_PARENT, jnp.int32)
        nodes = Nodes(**{**nodes, "parents": none, "actions": none})
        unvisited_logits = jnp.zeros((batch, num_nodes, num_actions), jnp.float32)
        return KernelState(*root_edge(batch), nodes, unvisited_logits)

    def select(self, state: KernelState, iteration: Int32[Array, ""]) -> tuple[KernelState, Edge]:
        return state, Edge(state.parent, state.action, state.node)

    def add(
        self, state: KernelState, evaluation: Evaluation, iteration: Int32[Array, ""]
    ) -> KernelState:
        now = Now(
            iteration=iteration[None],
            considered=self._considered,
            reward=evaluation.reward,
            discount=evaluation.discount,
            value=evaluation.value,
            prior_logits=evaluation.prior_logits,
            gumbels=self._gumbels,
        )

        def simulate(now: Now, before: KernelState, *after: Any) -> None:
            simulate_row(now, before, KernelState(*after), self._settings)

        inputs = len(jax.tree.leaves(now))
        changed = len(jax.tree.leaves(state))
        return pl.pallas_call(
            simulate,
            grid=(state.node.shape[0],),
            in_specs=(
                jax.tree.map(_row_of, now)._replace(iteration=pl.BlockSpec((1,), lambda row: (0,))),
                jax.tree.map(_row_of, state),
            ),
            out_specs=jax.tree.map(_row_of, state),
            out_shape=jax.tree.map(
                lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), state
            ),
            input_output_aliases={inputs + leaf: leaf for leaf in range(changed)},
            compiler_params=plgpu.CompilerParams(num_warps=NUM_WARPS, num_stages=1),
            interpret=jax.default_backend() == "cpu",
        )(now, state)

    def finish(self, state: KernelState) -> SearchTree:
        nodes, num_nodes = state.nodes, self._settings.num_simulations + 1
        parents, actions = nodes.parents[:, :num_nodes], nodes.actions[:, :num_nodes]
        rows = jnp.arange(parents.shape[0])[:, None]
        # Past the end, and so dropped, where there is no edge; JAX would wrap a negative index.
        parent = jnp.where(parents == NO_PARENT, num_nodes + jnp.arange(num_nodes), parents)
        logits = state.unvisited_logits.at[rows, parent, actions].set(
            nodes.edge_logits[:, :num_nodes], mode="drop", unique_indices=True
        )
        return SearchTree(
            visits=nodes.visits[:, :num_nodes],
            values=nodes.values[:, :num_nodes],
            raw_values=nodes.raw_values[:, :num_nodes],
            rewards=nodes.rewards[:, :num_nodes],
            discounts=nodes.discounts[:, :num_nodes],
            parents=parents,
            actions=actions,
            prior_logits=logits,
        )


def considered_visits(root: Root, settings: SearchSettings) -> Int32[Array, "B nodes"]:
    """The visits that Sequential Halving wants of the action that simulation `i + 1` takes.

    The column after the last simulation is -1, which no action has.
    """
    table = np.array(
        get_table_of_considered_visits(
            settings.max_num_considered_actions, settings.num_simulations
        ),
        np.int32,
    )
    table = np.pad(table, ((0, 0), (0, 1)), constant_values=-1)
    num_legal = root.legal.sum(axis=-1, dtype=jnp.int32)
    considered = jnp.minimum(settings.max_num_considered_actions, num_legal)
    return jnp.asarray(table)[considered]


def _row_of(array: jax.ShapeDtypeStruct | Array) -> pl.BlockSpec:
    """The part of an array `[B, ...]` that the program of one batch row sees."""
    if array.ndim == 1:
        return pl.BlockSpec((1,), lambda row: (row,))
    rest = (0,) * (array.ndim - 1)
    return pl.BlockSpec((None, *array.shape[1:]), lambda row: (row, *rest))
