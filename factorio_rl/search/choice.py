"""Which of the two trees a run searches with: what a setting asks for, and what the device can do.

Before the kernel tree is used, it searches a small random game beside the lean tree, and has to
find the same.
"""

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


class KernelTreeError(UserError):
    """The kernel tree was asked for where it cannot run."""


def choose_tree(wanted: TreeChoice) -> TreeName:
    """The tree to search with; `auto` is the kernel tree wherever it runs.

    Raises `KernelTreeError` if the kernel tree is asked for and cannot run.
    """
    if wanted == "lean":
        return "lean"
    obstacle = _obstacle()
    if obstacle is None:
        return "kernel"
    if wanted == "kernel":
        raise KernelTreeError(
            f"search.tree is kernel, but {obstacle}; set it to auto or lean, which is slower."
        )
    return "lean"


@lru_cache
def _obstacle() -> str | None:
    return kernel_obstacle("the search", lambda: _same(_probe("lean"), _probe("kernel")))


def _same(lean: SearchTree, kernel: SearchTree) -> bool:
    """Whether both visited the same actions as often, and saw the same values."""
    exact = all(
        np.array_equal(getattr(lean, name), getattr(kernel, name))
        for name in ("visits", "parents", "actions")
    )
    return exact and np.allclose(lean.values, kernel.values, rtol=1e-5, atol=1e-6)


def _probe(tree: TreeName) -> SearchTree:
    """The tree after searches of a random game, deep enough to pass through all of the kernel."""
    batch, num_actions, num_positions = 32, 200, 64
    logits, value, legal = jax.random.split(jax.random.key(0), 3)
    prior_logits = 6.0 * jax.random.normal(logits, (num_positions, num_actions))
    values = jax.random.uniform(value, (num_positions,))
    roots = jnp.arange(batch, dtype=jnp.int32)

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
        allowed = jax.random.bernoulli(legal, 0.5, (batch, num_actions))
        settings = SearchSettings(32, max_num_considered_actions=4, tree=tree)
        return gumbel_muzero_search(jax.random.key(1), expand, roots, allowed, settings).tree

    return jax.device_get(search())
