"""Cells of the search benchmark with next to no network, so that the tree is what costs.

The model is one linear layer over 1,729 actions, 1,400 of them legal. Its priors come flat, as
those of an untrained network, and peaked, which makes trees deep, as a trained network does.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from benchmarks.search_cell import Cell
from benchmarks.search_trees import Found, search_with
from factorio_rl.search import Evaluation, SearchSettings

NUM_ACTIONS = 1729
NUM_LEGAL = 1400
NUM_FEATURES = 16

PRIOR_SCALE = {"untrained": 1.0, "peaked": 12.0}
"""Factor of the logits, whose standard deviation is about 1. With 12 the best action has a prior
of 0.8 on average, and the deepest walks reach the depth that Sequential Halving allows."""


class LinearModel(NamedTuple):
    """Positions are `[B, NUM_FEATURES]`; an action adds its own vector."""

    moves: jax.Array
    policy: jax.Array
    value: jax.Array
    legal: jax.Array

    def expand(
        self, position: jax.Array, action: jax.Array, is_root: jax.Array
    ) -> tuple[Evaluation, jax.Array]:
        position = jnp.where(is_root, position, jnp.tanh(position + self.moves[action]))
        value = jax.nn.sigmoid(position @ self.value)
        lowest = jnp.finfo(jnp.float32).min
        evaluation = Evaluation(
            reward=jnp.zeros_like(value),
            discount=jnp.ones_like(value),
            prior_logits=jnp.where(self.legal, position @ self.policy, lowest),
            value=value,
        )
        return evaluation, position


class LinearInputs(NamedTuple):
    model: LinearModel
    roots: jax.Array  # [B, NUM_FEATURES]


def linear_cell(batch: int, simulations: int, trees: Sequence[str]) -> Cell:
    """The cell with these trees under both policies."""
    roots = jax.random.normal(jax.random.key(1), (batch, NUM_FEATURES))
    settings = SearchSettings(simulations)
    return Cell(
        network="none",
        batch=batch,
        simulations=simulations,
        searches={tree: _search(tree, settings) for tree in trees},
        inputs={
            policy: LinearInputs(linear_model(scale), roots)
            for policy, scale in PRIOR_SCALE.items()
        },
        embedding_bytes=roots.nbytes,
    )


def linear_model(prior_scale: float) -> LinearModel:
    moves, policy, value, legal = jax.random.split(jax.random.key(0), 4)
    order = jax.random.permutation(legal, NUM_ACTIONS)
    scale = prior_scale / NUM_FEATURES**0.5
    return LinearModel(
        moves=jax.random.normal(moves, (NUM_ACTIONS, NUM_FEATURES)),
        policy=jax.random.normal(policy, (NUM_FEATURES, NUM_ACTIONS)) * scale,
        value=jax.random.normal(value, (NUM_FEATURES,)) / NUM_FEATURES**0.5,
        legal=order < NUM_LEGAL,
    )


def _search(tree: str, settings: SearchSettings) -> Callable[[jax.Array, LinearInputs], Found]:
    def search(key: jax.Array, inputs: LinearInputs) -> Found:
        legal = jnp.broadcast_to(inputs.model.legal, (len(inputs.roots), NUM_ACTIONS))
        return search_with(tree, key, inputs.model.expand, inputs.roots, legal, settings)

    return search
