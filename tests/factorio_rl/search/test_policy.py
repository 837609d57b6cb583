"""What a search promises beyond mctx's numbers: legality, dtypes, repeatability, useful targets."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from factorio_rl.search import Evaluation, SearchSettings, gumbel_muzero_search

NUM_ACTIONS, NUM_LEGAL, WINNER = 1729, 1400, 321
LOWEST = jnp.finfo(jnp.float32).min


def test_illegal_actions_are_never_visited(make_game, search):
    game = make_game(legal=0.25)
    roots = game.roots(8)
    out = search(game, SearchSettings(64, 4), roots, game.legal_actions(roots), 1.0)
    parents, actions = np.asarray(out.tree.parents), np.asarray(out.tree.actions)
    row, node = np.nonzero(parents >= 0)
    above = jnp.asarray(np.asarray(out.embeddings)[row, parents[row, node]])
    legal = np.asarray(game.legal_actions(above))
    assert (parents[row, node] > 0).sum() > 100
    assert legal[np.arange(len(row)), actions[row, node]].all()


def test_action_and_weights_respect_the_root_mask(make_game, search):
    game = make_game()
    roots = game.roots(4)
    legal = np.asarray(game.legal_actions(roots)).copy()
    legal[:, ::2] = False
    out = search(game, SearchSettings(16), roots, legal, 1.0)
    assert legal[np.arange(4), out.action].all()
    assert not np.asarray(out.action_weights)[~legal].any()
    np.testing.assert_allclose(out.action_weights.sum(axis=1), 1.0, rtol=1e-6)


@pytest.mark.parametrize("field", Evaluation._fields)
@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16, jnp.int32])
def test_model_that_returns_another_dtype_is_refused(field, dtype, make_game):
    game = make_game()
    roots = game.roots(2)

    def expand(state, action, is_root):
        evaluation, state = game.expand(state, action, is_root)
        return evaluation._replace(**{field: getattr(evaluation, field).astype(dtype)}), state

    with pytest.raises(TypeError, match=f"{field} as {jnp.dtype(dtype).name}.*float32"):
        gumbel_muzero_search(
            jax.random.key(0), expand, roots, game.legal_actions(roots), SearchSettings(2)
        )


def leaves(out) -> list[bytes]:
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(out)]


def test_same_key_gives_equal_bytes_and_another_key_does_not(make_game, search):
    game = make_game()
    roots = game.roots(4)
    legal = game.legal_actions(roots)
    first = leaves(search(game, SearchSettings(16), roots, legal, 1.0, seed=5))
    assert leaves(search(game, SearchSettings(16), roots, legal, 1.0, seed=5)) == first
    assert leaves(search(game, SearchSettings(16), roots, legal, 1.0, seed=6)) != first


def test_batch_elements_do_not_influence_each_other(make_game, search):
    game = make_game(peak=16.0)
    roots = game.roots(6)
    shuffled = roots[jnp.array([3, 0, 5, 1, 4, 2])]
    settings = SearchSettings(32, 4)
    out = search(game, settings, roots, game.legal_actions(roots), 0.0)
    moved = search(game, settings, shuffled, game.legal_actions(shuffled), 0.0)
    for leaf, moved_leaf in zip(jax.tree.leaves(out), jax.tree.leaves(moved), strict=True):
        np.testing.assert_array_equal(leaf[jnp.array([3, 0, 5, 1, 4, 2])], moved_leaf)


def one_move_game(winner_logit: float, noise: float):
    """Every move ends the game: `WINNER` pays 1, or, if its logit is 0, all pay some noise."""
    logits = jnp.zeros(NUM_ACTIONS).at[WINNER].set(winner_logit)
    logits = jnp.where(jnp.arange(NUM_ACTIONS) < NUM_LEGAL, logits, LOWEST)
    rewards = noise * jax.random.uniform(jax.random.key(1), (NUM_ACTIONS,))
    rewards = rewards.at[WINNER].set(1.0) if winner_logit else rewards

    def expand(roots, action, is_root):
        del is_root
        zeros = jnp.zeros(len(action))
        logits_of_all = jnp.tile(logits, (len(action), 1))
        return Evaluation(rewards[action], zeros, logits_of_all, zeros), roots

    return expand, jnp.tile(logits > LOWEST, (2, 1))


def target(settings: SearchSettings, winner_logit: float, noise: float) -> np.ndarray:
    expand, legal = one_move_game(winner_logit, noise)
    roots = jnp.zeros(2)
    search = jax.jit(lambda key: gumbel_muzero_search(key, expand, roots, legal, settings, 0.0))
    return np.asarray(search(jax.random.key(0)).action_weights)


@pytest.mark.parametrize(
    ("simulations", "considered", "tree"),
    [(16, 16, "lean"), (32, 16, "lean"), (64, 32, "lean"), (16, 16, "kernel")],
)
def test_target_follows_a_winning_move_among_1400(simulations, considered, tree):
    settings = SearchSettings(simulations, considered, tree=tree)
    assert (target(settings, winner_logit=5.0, noise=0.0)[:, WINNER] > 0.9).all()


@pytest.mark.parametrize(("simulations", "tree"), [(32, "lean"), (16, "kernel")])
def test_target_ignores_value_noise(simulations, tree):
    settings = SearchSettings(simulations, tree=tree)
    target_policy = target(settings, winner_logit=0.0, noise=1e-6)[0, :NUM_LEGAL]
    assert target_policy.max() < 1.1 / NUM_LEGAL
    assert target_policy.min() > 1 / NUM_LEGAL / 1.1


def test_rescaling_is_harmless_with_an_epsilon_above_the_noise():
    settings = SearchSettings(32, value_scale=0.1, rescale_values=True, epsilon=0.05)
    assert target(settings, winner_logit=0.0, noise=1e-6).max() < 1.1 / NUM_LEGAL


def test_rescaling_would_amplify_value_noise():
    """Why it is off by default: with mctx's own settings noise becomes a preference."""
    mctx_default = SearchSettings(32, value_scale=0.1, rescale_values=True)
    assert target(mctx_default, winner_logit=0.0, noise=1e-6).max() > 5 / NUM_LEGAL
