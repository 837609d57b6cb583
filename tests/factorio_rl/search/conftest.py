"""A pseudo-random game, and two searches of it: the one under test, and stock mctx as its oracle.

A position is one unsigned integer, and all that it implies is hashed from it. The game's numbers
come without rounding (multiples of 2^-24, scaled by powers of two), so that they cannot depend on
how the compiler fuses the game with the search around it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import jax
import jax.numpy as jnp
import mctx
import pytest

from factorio_rl.search import Evaluation, SearchOutput, SearchSettings, gumbel_muzero_search


def _hash(x: jax.Array) -> jax.Array:
    """The 32-bit finaliser of MurmurHash3."""
    x = (x ^ (x >> 16)) * jnp.uint32(0x85EBCA6B)
    x = (x ^ (x >> 13)) * jnp.uint32(0xC2B2AE35)
    return x ^ (x >> 16)


def _unit(x: jax.Array, purpose: int) -> jax.Array:
    """Multiples of 2^-24 in [0, 1)."""
    return (_hash(x ^ jnp.uint32(purpose * 0x1F3779B9)) >> 8).astype(jnp.float32) / 2**24


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

    def roots(self, batch: int) -> jax.Array:
        return _hash(jnp.arange(batch, dtype=jnp.uint32) + 17)

    def legal_actions(self, state: jax.Array) -> jax.Array:
        return (_unit(self._edges(state), 1) < self.legal).at[:, 0].set(True)

    def step(self, state: jax.Array, action: jax.Array) -> jax.Array:
        return _hash(state * jnp.uint32(31) + action.astype(jnp.uint32))

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
        return self.step(state[:, None], jnp.arange(self.num_actions))


@partial(jax.jit, static_argnames="settings")
def _lean(
    game: HashGame,
    settings: SearchSettings,
    roots: jax.Array,
    legal: jax.Array,
    gumbel_scale: float,
    seed: int = 0,
) -> SearchOutput:
    key = jax.random.key(seed)
    return gumbel_muzero_search(key, game.expand, roots, legal, settings, gumbel_scale)


@partial(jax.jit, static_argnames="settings")
def _stock(
    game: HashGame,
    settings: SearchSettings,
    roots: jax.Array,
    legal: jax.Array,
    gumbel_scale: float,
    seed: int = 0,
) -> mctx.PolicyOutput:
    def recurrent_fn(
        params: None, key: jax.Array, action: jax.Array, state: jax.Array
    ) -> tuple[mctx.RecurrentFnOutput, jax.Array]:
        del params, key
        state = game.step(state, action)
        return mctx.RecurrentFnOutput(**game.evaluate(state)._asdict()), state

    at_root = game.evaluate(roots)
    return mctx.gumbel_muzero_policy(
        params=None,
        rng_key=jax.random.key(seed),
        root=mctx.RootFnOutput(
            prior_logits=at_root.prior_logits, value=at_root.value, embedding=roots
        ),
        recurrent_fn=recurrent_fn,
        num_simulations=settings.num_simulations,
        invalid_actions=~legal,
        max_depth=settings.max_depth,
        qtransform=settings.qtransform,
        max_num_considered_actions=settings.max_num_considered_actions,
        gumbel_scale=gumbel_scale,
    )


@pytest.fixture
def make_game() -> Callable[..., HashGame]:
    return HashGame


@pytest.fixture
def lean() -> Callable[..., SearchOutput]:
    """`search(game, settings, roots, legal, gumbel_scale, seed=0)`, jitted."""
    return _lean


@pytest.fixture
def stock() -> Callable[..., mctx.PolicyOutput]:
    """The same by `mctx.gumbel_muzero_policy`."""
    return _stock
