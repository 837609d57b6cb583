"""A pseudo-random game for checks of the search, whose numbers come without rounding.

A position is one unsigned integer, and all that it implies is hashed from it. Its numbers are
multiples of 2^-24, scaled by powers of two, so that they cannot depend on how a compiler fuses the
game with the search around it.
"""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp

from factorio_rl.search import Evaluation


def hash_bits(x: jax.Array) -> jax.Array:
    """The 32-bit finaliser of MurmurHash3."""
    x = (x ^ (x >> 16)) * jnp.uint32(0x85EBCA6B)
    x = (x ^ (x >> 13)) * jnp.uint32(0xC2B2AE35)
    return x ^ (x >> 16)


def step_state(state: jax.Array, action: jax.Array) -> jax.Array:
    """The position that an action leads to."""
    return hash_bits(state * jnp.uint32(31) + action.astype(jnp.uint32))


def root_states(batch: int, seed: int) -> jax.Array:
    """`[batch]` positions, others for each seed."""
    return hash_bits(jnp.arange(batch, dtype=jnp.uint32) + jnp.uint32(17 + seed * batch))


def _unit(x: jax.Array, purpose: int) -> jax.Array:
    """Multiples of 2^-24 in [0, 1)."""
    return (hash_bits(x ^ jnp.uint32(purpose * 0x1F3779B9)) >> 8).astype(jnp.float32) / 2**24


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class HashGame:
    """Rules and network of the game; the fields are its knobs, traced to save compilations.

    `peak`, `reward` and `value` are the ranges of prior logits (0: flat), rewards and values,
    `legal` is the share of legal actions (action 0 always is), `terminal` the share of edges with
    discount 0, and `discount` that of the others.
    """

    num_actions: int = field(default=13, metadata={"static": True})
    peak: float = 4.0
    legal: float = 0.75
    reward: float = 0.5
    terminal: float = 0.25
    discount: float = 0.9
    value: float = 1.0

    def roots(self, batch: int, seed: int = 0) -> jax.Array:
        return root_states(batch, seed)

    def legal_actions(self, state: jax.Array) -> jax.Array:
        return (_unit(self._edges(state), 1) < self.legal).at[:, 0].set(True)

    def step(self, state: jax.Array, action: jax.Array) -> jax.Array:
        return step_state(state, action)

    def evaluate(self, state: jax.Array) -> Evaluation:
        logits = self.peak * _unit(self._edges(state), 2)
        is_terminal = _unit(state, 3) < self.terminal
        return Evaluation(
            reward=self.reward * _unit(state, 4),
            discount=jnp.where(is_terminal, 0.0, self.discount),
            prior_logits=jnp.where(self.legal_actions(state), logits, jnp.finfo(jnp.float32).min),
            value=self.value * _unit(state, 5),
        )

    def expand(
        self, state: jax.Array, action: jax.Array, is_root: jax.Array
    ) -> tuple[Evaluation, jax.Array]:
        state = jnp.where(is_root, state, self.step(state, action))
        return self.evaluate(state), state

    def _edges(self, state: jax.Array) -> jax.Array:
        return step_state(state[:, None], jnp.arange(self.num_actions))
