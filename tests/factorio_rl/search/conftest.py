"""Two searches of a pseudo-random game: the one under test, and stock mctx as its oracle."""

from collections.abc import Callable
from functools import partial

import jax
import mctx
import pytest

from benchmarks.hash_game import HashGame
from benchmarks.search_trees import mctx_policy
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
    key = jax.random.key(seed)
    return mctx_policy(key, game.expand, roots, legal, settings, gumbel_scale)


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
