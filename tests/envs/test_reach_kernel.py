"""The reach kernel, interpreted, follows links to the same items as the plain code."""

import jax
import numpy as np
import pytest
from example_states import batch_of, random_states, state_of

from envs import observe_choice
from envs.heldout import load_heldout
from envs.observation import observe
from envs.observe_choice import choose_observe, random_links
from envs.reach import find_links, reachable_items, spread_items
from envs.reach_kernel import spread_items_by_kernel
from envs.types import EnvShape

plain = jax.jit(jax.vmap(spread_items))
kernel = jax.jit(jax.vmap(spread_items_by_kernel))


@pytest.mark.parametrize(("height", "width"), [(12, 12), (8, 8), (5, 9), (17, 3)])
def test_kernel_reaches_what_the_plain_code_reaches_over_random_links(height, width):
    links = random_links(np.random.default_rng(height), batch=48, height=height, width=width)
    reached = np.asarray(plain(links))
    np.testing.assert_array_equal(kernel(links), reached)
    assert 0.02 < (reached > 0).mean() < 0.98


def test_random_links_use_every_code_and_long_ways():
    links = random_links(np.random.default_rng(0), batch=64, height=12, width=12)
    for codes, names in ((links.belts, {0, 1, 2, 3}), (links.arms, {0, 2, 3, 4})):
        assert all(set(np.unique(code)) == names for code in codes)
    reached = np.asarray(plain(links))
    assert (reached > 0).mean() > 4 * (np.asarray(links.supply) > 0).mean()
    assert np.asarray(links.is_machine).any()


def test_kernel_reaches_what_the_plain_code_reaches_on_boards():
    shape = EnvShape(height=8, width=8, item_slots=5, recipe_slots=4, max_ports=4)
    _, states = random_states(13, 40, shape, 25)

    def reach(spread):
        return jax.jit(jax.vmap(lambda state: reachable_items(state, spread)))(states)

    expected = np.asarray(reach(spread_items))
    np.testing.assert_array_equal(reach(spread_items_by_kernel), expected)
    assert (expected > 0).any()


def test_kernel_reaches_what_the_plain_code_reaches_in_references():
    shape = EnvShape(height=12, width=12, item_slots=6, recipe_slots=4, max_ports=4)
    solved = load_heldout("heldout-v1").tasks[::9]
    states = batch_of([state_of(entry.spec, shape, entry.placements) for entry in solved])
    links = jax.jit(jax.vmap(find_links))(states)
    expected = np.asarray(plain(links))
    np.testing.assert_array_equal(kernel(links), expected)
    assert (expected > 0).any(axis=(1, 2, 3)).all()


@pytest.fixture
def fresh_choice(monkeypatch):
    observe_choice._obstacle.cache_clear()
    yield monkeypatch
    observe_choice._obstacle.cache_clear()


def test_plain_observation_is_chosen_without_a_gpu(fresh_choice):
    assert choose_observe() is observe


def test_kernel_is_chosen_on_a_gpu_where_it_agrees(fresh_choice):
    """The backend is a pretence; the kernel stays interpreted, since it asks for itself."""
    fresh_choice.setattr(observe_choice, "kernel_obstacle", lambda purpose, agrees: _says(agrees))
    assert choose_observe() is not observe


def _says(agrees) -> str | None:
    return None if agrees() else "differs"


def test_plain_observation_is_chosen_where_the_kernel_differs(fresh_choice):
    fresh_choice.setattr(observe_choice, "_agrees", lambda: False)
    fresh_choice.setattr(jax, "default_backend", lambda: "gpu")
    assert choose_observe() is observe
