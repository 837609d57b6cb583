"""The observation function to use on this process's device: with the reach kernel where it runs."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import jax
import numpy as np

from envs.kernel_check import kernel_obstacle
from envs.observation import Observation, observe
from envs.reach import DIRECTIONS, KEEP, TO_LEFT, TO_MACHINE, TO_RIGHT, Links, spread_items
from envs.types import State

Observe = Callable[[State], Observation]


def choose_observe() -> Observe:
    """`observe` with the kernel, or, where it does not run or agree, as it is."""
    if _obstacle() is not None:
        return observe
    from envs.reach_kernel import spread_items_by_kernel

    return partial(observe, spread=spread_items_by_kernel)


@lru_cache
def _obstacle() -> str | None:
    return kernel_obstacle("the observation", _agrees)


def _agrees() -> bool:
    # Loaded where it is used: a jax without Pallas's Triton backend still has the plain code.
    from envs.reach_kernel import spread_items_by_kernel

    links = random_links(np.random.default_rng(0), batch=64, height=12, width=12)
    plain, kernel = (
        jax.jit(jax.vmap(spread))(links) for spread in (spread_items, spread_items_by_kernel)
    )
    return np.array_equal(plain, kernel)


def random_links(random: np.random.Generator, batch: int, height: int, width: int) -> Links:
    """Links `[batch, ...]` as no board has them, with long ways and machines in regular places.

    Every second board has one source, no belts, and machines that take everything and need one
    item. There, rounds in which nothing but the content of one machine changes are common.
    """
    shape = (batch, height, width)
    sparse = (np.arange(batch) % 2 == 1)[:, None, None]

    def codes(*possible: int) -> np.ndarray:
        chosen = random.choice((0, *possible), shape).astype(np.int32)
        return np.where(random.random(shape) < 0.7, chosen, 0)

    def items(share: float) -> np.ndarray:
        bits = random.integers(1, 256, shape, np.uint8)
        return np.where(random.random(shape) < share, bits, 0).astype(np.uint8)

    one_source = np.zeros((batch, height * width), np.bool_)
    one_source[np.arange(batch), random.integers(0, height * width, batch)] = True
    one_item = (1 << random.integers(0, 8, shape)).astype(np.uint8)
    is_machine = np.zeros(shape, np.bool_)
    is_machine[:, 1 : height - 1 : 3, 1 : width - 1 : 3] = True
    is_machine &= (random.random(shape) < 0.5) | sparse
    supply = np.where(sparse, items(1.0) * one_source.reshape(shape), items(0.01))
    wanted = np.where(sparse, one_item, items(1.0) & items(1.0))
    links: dict[str, Any] = {
        "belts": tuple(np.where(sparse, 0, codes(KEEP, TO_LEFT, TO_RIGHT)) for _ in DIRECTIONS),
        "arms": tuple(codes(TO_LEFT, TO_RIGHT, TO_MACHINE) for _ in DIRECTIONS),
        "supply": np.stack([supply, np.where(sparse, 0, items(0.01))], axis=-1).astype(np.uint8),
        "usable": np.where(sparse, 255, items(0.5)).astype(np.uint8),
        "is_machine": is_machine,
        "wanted": (wanted * is_machine).astype(np.uint8),
        "product": items(1.0) * is_machine,
    }
    return Links(**links)
