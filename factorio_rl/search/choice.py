"""Which of the two trees a run searches with: what a setting asks for, and what the device can do.

Before the kernel tree is used, it searches a random game beside the lean tree, with the budget, the
settings and the number of actions of the run, and has to find the same.
"""

from dataclasses import replace
from functools import lru_cache
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32

from envs.errors import UserError
from envs.kernel_check import kernel_obstacle
from factorio_rl.search.policy import gumbel_muzero_search
from factorio_rl.search.settings import SearchSettings, TreeName
from factorio_rl.search.tree import Evaluation, SearchTree

TreeChoice = Literal["auto", "lean", "kernel"]

NUM_SEARCHES = 32
NUM_NEAR_TIES = 2
"""Searches of a probe that may part: near ties fall as the order of a sum has it."""


class KernelTreeError(UserError):
    """The kernel tree was asked for where it cannot run."""


def choose_tree(wanted: TreeChoice, settings: SearchSettings, num_actions: int) -> TreeName:
    """The tree to search with; `auto` is the kernel tree wherever it runs.

    Raises `KernelTreeError` if the kernel tree is asked for and cannot run.
    """
    if wanted == "lean":
        return "lean"
    obstacle = _obstacle(replace(settings, tree="lean"), num_actions)
    if obstacle is None:
        return "kernel"
    if wanted == "kernel":
        raise KernelTreeError(
            f"search.tree is kernel, but {obstacle}; set it to auto or lean, which is slower."
        )
    return "lean"


@lru_cache
def _obstacle(settings: SearchSettings, num_actions: int) -> str | None:
    def agrees() -> bool:
        return _same(*(probe(tree, settings, num_actions) for tree in ("lean", "kernel")))

    return kernel_obstacle("the search", agrees)


def _same(lean: SearchTree, kernel: SearchTree) -> bool:
    """Whether both visited the same actions as often, and saw the same values, near ties aside."""
    names = ("visits", "parents", "actions")
    equal = np.all([getattr(lean, name) == getattr(kernel, name) for name in names], axis=(0, 2))
    values = np.isclose(lean.values, kernel.values, rtol=1e-5, atol=1e-6).all(axis=1)
    return bool((equal & values).sum() >= NUM_SEARCHES - NUM_NEAR_TIES)


def probe(tree: TreeName, settings: SearchSettings, num_actions: int) -> SearchTree:
    """The trees of `NUM_SEARCHES` searches of a random game.

    Few root actions are considered, so that the walks are deeper than they are in a run.
    """
    num_positions = 64
    narrow = min(4, settings.max_num_considered_actions)
    settings = replace(settings, tree=tree, max_num_considered_actions=narrow)
    logits, value, legal = jax.random.split(jax.random.key(0), 3)
    prior_logits = 6.0 * jax.random.normal(logits, (num_positions, num_actions))
    values = jax.random.uniform(value, (num_positions,))
    roots = jnp.arange(NUM_SEARCHES, dtype=jnp.int32)

    def expand(
        position: Int32[Array, "B"], action: Int32[Array, "B"], is_root: Bool[Array, ""]
    ) -> tuple[Evaluation, Int32[Array, "B"]]:
        position = jnp.where(is_root, position, (7 * position + action + 1) % num_positions)
        value = values[position]
        return Evaluation(
            0.25 * value, 0.75 + 0.25 * value, prior_logits[position], value
        ), position

    @jax.jit
    def search() -> SearchTree:
        allowed = jax.random.bernoulli(legal, 0.5, (NUM_SEARCHES, num_actions))
        return gumbel_muzero_search(jax.random.key(1), expand, roots, allowed, settings).tree

    return jax.device_get(search())
