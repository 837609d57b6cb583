"""The compiled search: no full-size tree array is copied, and the network stands in it once."""

import re

import jax
import jax.numpy as jnp
import pytest

from factorio_rl.search import Evaluation, SearchSettings, gumbel_muzero_search

BATCH, SIMULATIONS = 3, 6


def full_size_operations(compiled: str, num_actions: int) -> dict[str, int]:
    """How often a select or copy produces a `[B, N + 1, A]` array, fused ones included."""
    shape = rf"{BATCH},{SIMULATIONS + 1},{num_actions}"
    return {
        operation: len(re.findall(rf"= \w+\[{shape}\]\S* {operation}\(", compiled))
        for operation in ("select", "copy")
    }


@pytest.fixture
def compiled_text(make_game):
    def text(search) -> str:
        game = make_game(num_actions=11)
        roots = game.roots(BATCH)
        legal = game.legal_actions(roots)
        settings = SearchSettings(SIMULATIONS, 4)
        return search.lower(game, settings, roots, legal, 1.0).compile().as_text()

    return text


def test_search_never_selects_or_copies_a_full_size_array(compiled_text, search):
    assert full_size_operations(compiled_text(search), 11) == {"select": 0, "copy": 0}


def test_the_guard_sees_the_copies_of_stock_mctx(compiled_text, stock):
    found = full_size_operations(compiled_text(stock), 11)
    assert found["select"] >= 2
    assert found["copy"] >= 2


def test_network_stands_once_in_the_program():
    kernel = jnp.ones((3, 3, 2, 4))

    def expand(board, action, is_root):
        board = jnp.where(is_root, board, board + action[:, None, None, None])
        features = jax.lax.conv_general_dilated(
            board, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        value = jnp.tanh(features.mean(axis=(1, 2, 3)))
        evaluation = Evaluation(
            jnp.zeros_like(value), jnp.ones_like(value), features.sum(axis=(1, 2)), value
        )
        return evaluation, board

    def search(board):
        legal = jnp.ones((BATCH, 4), bool)
        return gumbel_muzero_search(
            jax.random.key(0), expand, board, legal, SearchSettings(SIMULATIONS)
        )

    lowered = jax.jit(search).lower(jnp.zeros((BATCH, 5, 5, 2)))
    assert lowered.as_text().count("stablehlo.convolution") == 1
    assert len(re.findall(r" convolution\(", lowered.compile().as_text())) == 1
