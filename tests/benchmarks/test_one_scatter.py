"""The backward with one scatter per array has the bits of mctx's own, without its copies."""

import re
from contextlib import suppress

import jax
import numpy as np
import pytest
from jax.tree_util import keystr, tree_leaves_with_path
from mctx._src import search as mctx_search

from benchmarks.hash_game import HashGame
from benchmarks.one_scatter import one_scatter_backward
from benchmarks.search_trees import mctx_policy
from factorio_rl.search import SearchSettings

BATCH, NUM_ACTIONS, SIMULATIONS = 5, 11, 24


def make_search(max_depth: int | None):
    """A new jitted function (game, roots, key) -> the output of mctx."""

    settings = SearchSettings(SIMULATIONS, 3, max_depth, rescale_values=True)

    @jax.jit
    def search(game: HashGame, roots: jax.Array, key: jax.Array):
        return mctx_policy(key, game.expand, roots, game.legal_actions(roots), settings)

    return search


def arguments(peak: float = 4.0):
    game = HashGame(num_actions=NUM_ACTIONS, peak=peak)
    return game, game.roots(BATCH), jax.random.key(5)


@pytest.mark.parametrize("max_depth", [None, 2])
def test_search_has_the_bits_of_stock(max_depth):
    stock, fix = make_search(max_depth), make_search(max_depth)
    for peak in (0.0, 32.0):
        theirs = stock(*arguments(peak))
        with one_scatter_backward():
            ours = fix(*arguments(peak))
        expected = jax.tree.leaves(theirs)
        for (path, leaf), other in zip(tree_leaves_with_path(ours), expected, strict=True):
            assert np.asarray(leaf).tobytes() == np.asarray(other).tobytes(), keystr(path)


def test_only_stock_selects_whole_arrays():
    def full_size_selects() -> int:
        text = make_search(None).lower(*arguments()).compile().as_text()
        return len(re.findall(rf"\[{BATCH},{SIMULATIONS + 1},{NUM_ACTIONS}\]\S* select\(", text))

    assert full_size_selects() >= 2
    with one_scatter_backward():
        assert full_size_selects() == 0


def test_mctx_is_itself_again_afterwards():
    stock = mctx_search.backward
    with suppress(ZeroDivisionError), one_scatter_backward():
        assert mctx_search.backward is not stock
        raise ZeroDivisionError
    assert mctx_search.backward is stock
