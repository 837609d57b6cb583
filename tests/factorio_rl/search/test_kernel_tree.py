"""The kernel tree, interpreted, finds what the lean tree finds.

The numbers of the game come without rounding, and its configurations hold no near ties, so that
actions, topology and visits are the same; only sums differ, by their order.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from search_configurations import CONFIGURATIONS

from benchmarks.agreement_table import root_masks
from benchmarks.hash_game import HashGame
from factorio_rl.search import SearchOutput, SearchSettings, gumbel_muzero_search

# An interpreted kernel takes seconds to compile: those that go through other parts of it. Not
# "large_values": Q-values scaled to 1e5 leave a resolution of 0.01, and so ties everywhere.
SMALL = (
    "one_considered",
    "more_considered_than_actions",
    "narrow",
    "flat_prior",
    "ties_everywhere",
    "negative_discount",
    "all_edges_terminal",
    "very_peaked_prior_deep",
    "few_legal_interior",
    "depth_1",
    "depth_2_peaked_visits_leaves_again",
    "rescaled_peaked",
    "raw_value_completion_small_scale",
)


def assert_same_search(lean: SearchOutput, kernel: SearchOutput) -> None:
    for name in ("visits", "parents", "actions", "raw_values", "rewards", "discounts"):
        left, right = getattr(lean.tree, name), getattr(kernel.tree, name)
        np.testing.assert_array_equal(left, right, err_msg=name)
    np.testing.assert_array_equal(lean.tree.prior_logits, kernel.tree.prior_logits)
    np.testing.assert_array_equal(lean.embeddings, kernel.embeddings)
    np.testing.assert_array_equal(lean.action, kernel.action)
    np.testing.assert_allclose(lean.tree.values, kernel.tree.values, rtol=1e-6)
    np.testing.assert_allclose(lean.action_weights, kernel.action_weights, rtol=0, atol=1e-6)


def compare(name: str, search) -> None:
    knobs, settings = CONFIGURATIONS[name]
    game, settings = HashGame(**knobs), SearchSettings(**settings)
    roots = game.roots(6)
    legal = root_masks(game.legal_actions(roots))
    for gumbel_scale in (0.0, 1.0):
        lean = search(game, settings, roots, legal, gumbel_scale, seed=3)
        kernel = search(game, replace(settings, tree="kernel"), roots, legal, gumbel_scale, seed=3)
        assert_same_search(lean, kernel)


@pytest.mark.parametrize("name", SMALL)
def test_kernel_finds_the_tree_of_the_lean_one(name, search):
    compare(name, search)


@pytest.mark.slow
def test_kernel_finds_the_tree_of_the_lean_one_over_all_actions(search):
    compare("full_action_space", search)


@pytest.mark.parametrize("rescale", [False, True])
def test_all_actions_of_a_node_can_be_visited(rescale, search):
    """Then nothing unvisited is left to stand for the others."""
    game = HashGame(num_actions=3, legal=1.0)
    roots = game.roots(6)
    settings = SearchSettings(
        64, 3, rescale_values=rescale, value_scale=0.1 if rescale else 1.0, epsilon=0.05
    )
    lean, kernel = (
        search(game, replace(settings, tree=tree), roots, game.legal_actions(roots), 1.0)
        for tree in ("lean", "kernel")
    )
    assert_same_search(lean, kernel)
    parents = np.asarray(lean.tree.parents)
    assert ((parents[:, :, None] == np.arange(1, 65)).sum(axis=1) == 3).any()


@pytest.mark.parametrize("at_root", [False, True])
def test_nodes_at_which_the_model_masks_everything_do_not_differ(at_root):
    """At the root, `root_legal` may still allow what the model masks."""
    game = HashGame(peak=16.0)
    roots = game.roots(6)

    def expand(state, action, is_root):
        evaluation, state = game.expand(state, action, is_root)
        masked = is_root if at_root else ~is_root & (state % 2 == 0)
        masked = jnp.broadcast_to(masked, state.shape)[:, None]
        lowest = jnp.finfo(jnp.float32).min
        logits = jnp.where(masked, lowest, evaluation.prior_logits)
        return evaluation._replace(prior_logits=logits), state

    def found(tree):
        settings = SearchSettings(32, 4, tree=tree)
        legal = jnp.asarray(root_masks(game.legal_actions(roots)))
        key = jax.random.key(0)
        return jax.jit(lambda: gumbel_muzero_search(key, expand, roots, legal, settings))()

    assert_same_search(found("lean"), found("kernel"))


def test_epsilon_is_the_least_spread_of_the_kernel_too(search):
    game = HashGame(peak=16.0, value=1 / 64, reward=0.0)
    roots = game.roots(6)
    settings = SearchSettings(32, 4, rescale_values=True, value_scale=0.1, epsilon=0.25)
    legal = game.legal_actions(roots)
    lean = search(game, settings, roots, legal, 1.0)
    assert_same_search(lean, search(game, replace(settings, tree="kernel"), roots, legal, 1.0))
    sharp = search(game, replace(settings, epsilon=1e-8), roots, legal, 1.0)
    assert (np.asarray(sharp.tree.actions) != np.asarray(lean.tree.actions)).any()


@pytest.mark.parametrize("tree", ["lean", "kernel"])
def test_root_evaluated_beforehand_gives_the_same_search(tree, search):
    game = HashGame(peak=16.0)
    roots = game.roots(6)
    legal = jnp.asarray(root_masks(game.legal_actions(roots)))
    settings = SearchSettings(16, 4, tree=tree)

    @jax.jit
    def beforehand():
        return gumbel_muzero_search(
            jax.random.key(0),
            game.expand,
            roots,
            legal,
            settings,
            root_evaluation=game.evaluate(roots),
        )

    together = search(game, settings, roots, legal, 1.0)
    for left, right in zip(jax.tree.leaves(together), jax.tree.leaves(beforehand()), strict=True):
        np.testing.assert_array_equal(left, right)


def test_root_evaluated_beforehand_is_what_the_search_starts_from():
    game = HashGame()
    roots = game.roots(4)
    other = game.evaluate(game.roots(4, seed=9))
    found = gumbel_muzero_search(
        jax.random.key(0),
        game.expand,
        roots,
        game.legal_actions(roots),
        SearchSettings(8, 4),
        root_evaluation=other,
    )
    np.testing.assert_array_equal(found.raw_value, other.value)
    assert (np.asarray(found.tree.visits)[:, 0] == 9).all()
