"""Two searches of a pseudo-random game: the one under test, and stock mctx as its oracle.

The tables of configurations are shared by the tests of both trees.
"""

from collections.abc import Callable
from functools import partial

import jax
import mctx
import pytest

from benchmarks.hash_game import HashGame
from factorio_rl.search import SearchOutput, SearchSettings, gumbel_muzero_search


@partial(jax.jit, static_argnames="settings")
def _search(
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
def search() -> Callable[..., SearchOutput]:
    """`search(game, settings, roots, legal, gumbel_scale, seed=0)`, jitted."""
    return _search


@pytest.fixture
def stock() -> Callable[..., mctx.PolicyOutput]:
    """The same by `mctx.gumbel_muzero_policy`."""
    return _stock
