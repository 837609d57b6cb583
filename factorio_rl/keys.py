"""The random keys of a run: one root key per purpose, all folded from the seed.

Each use folds a counter into one of them, so there is no key to save.
"""

from dataclasses import dataclass

import jax
from jaxtyping import Array


@dataclass(frozen=True)
class Keys:
    """One root key per purpose."""

    init: Array
    actor: Array
    chunk: Array
    update: Array
    precision: Array


def make_keys(seed: int) -> Keys:
    """The keys of a run."""
    root = jax.random.key(seed)
    return Keys(*(jax.random.fold_in(root, purpose) for purpose in range(5)))
