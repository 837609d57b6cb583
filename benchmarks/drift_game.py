"""A random game for checks of the search, whose numbers are ordinary floats with all bits in use.

A position's value lies near its parent's, as a network's does, so that searches meet close scores.
All numbers are read from tables, and summed but never multiplied: a compiler has nothing to fuse,
and two programs see the same bits.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.hash_game import root_states, step_state
from factorio_rl.search import Evaluation

NUM_ROWS = 512  # of each table; a position's number says which row is its own
LOWEST = np.finfo(np.float32).min


class Drift(NamedTuple):
    """A position: `number` `[B]` picks its rows of the tables, `value` `[B]` is its value."""

    number: jax.Array
    value: jax.Array


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class DriftGame:
    """The tables: `prior_logits` `[NUM_ROWS, A]`, and `[NUM_ROWS]` of the others."""

    prior_logits: jax.Array
    value_steps: jax.Array
    rewards: jax.Array
    discounts: jax.Array

    @property
    def num_actions(self) -> int:
        return self.prior_logits.shape[1]

    def roots(self, batch: int, seed: int = 0) -> Drift:
        """`[batch]` positions, others for each seed."""
        number = root_states(batch, seed)
        return Drift(number, 0.5 + self.value_steps[number % NUM_ROWS])

    def legal_actions(self, at: Drift) -> jax.Array:
        return self.prior_logits[at.number % NUM_ROWS] > LOWEST

    def evaluate(self, at: Drift) -> Evaluation:
        row = at.number % NUM_ROWS
        return Evaluation(
            reward=self.rewards[row],
            discount=self.discounts[row],
            prior_logits=self.prior_logits[row],
            value=at.value,
        )

    def expand(self, at: Drift, action: jax.Array, is_root: jax.Array) -> tuple[Evaluation, Drift]:
        number = step_state(at.number, action)
        after = Drift(number, at.value + self.value_steps[number % NUM_ROWS])
        at = jax.tree.map(lambda here, there: jnp.where(is_root, here, there), at, after)
        return self.evaluate(at), at


def drift_game(num_actions: int, spread: float) -> DriftGame:
    """Draws the tables; `spread` is the standard deviation of the logits."""
    draw = np.random.default_rng(0)
    logits = draw.normal(0.0, spread, (NUM_ROWS, num_actions))
    is_legal = draw.random(logits.shape) < 0.8
    is_legal[:, 0] = True
    is_terminal = draw.random(NUM_ROWS) < 0.1
    tables = {
        "prior_logits": np.where(is_legal, logits, LOWEST),
        "value_steps": draw.normal(0.0, 0.1, NUM_ROWS),
        "rewards": draw.normal(0.0, 0.1, NUM_ROWS),
        "discounts": np.where(is_terminal, 0.0, 0.97),
    }
    return DriftGame(**{name: jnp.float32(table) for name, table in tables.items()})
