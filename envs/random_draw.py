"""Draws of the task generator. All use `Generator.random` alone, whose stream numpy keeps."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def below(rng: np.random.Generator, bound: int) -> int:
    """A random integer in 0..bound-1."""
    return int(rng.random() * bound)


def chosen(rng: np.random.Generator, options: Sequence[T]) -> T:
    """One of the options."""
    return options[below(rng, len(options))]


def shuffled(rng: np.random.Generator, options: Sequence[T]) -> list[T]:
    """The options in random order."""
    keys = rng.random(len(options))
    return [options[i] for i in np.argsort(keys, kind="stable")]
