"""Whether a GPU kernel can be used on this process's device, found by running it once.

A kernel needs a GPU that Pallas compiles for, and it has to give what the plain JAX code gives on
a test input: so a compiler that translates it wrongly is found before a run, not in its results.
"""

import logging
from collections.abc import Callable
from functools import lru_cache

import jax


def kernel_obstacle(purpose: str, agrees: Callable[[], bool]) -> str | None:
    """Why a kernel cannot be used, or None. It is logged once, on a CPU as mere information.

    `purpose` begins the log line, as in "the search"; `agrees` runs the kernel beside the plain
    code, and says whether they agree.
    """
    obstacle = _find_obstacle(agrees)
    if obstacle is not None:
        _log_once(f"{purpose} does without its kernel: {obstacle}")
    return obstacle


@lru_cache
def _log_once(message: str) -> None:
    level = logging.INFO if jax.default_backend() == "cpu" else logging.WARNING
    logging.getLogger(__name__).log(level, message)


def _find_obstacle(agrees: Callable[[], bool]) -> str | None:
    backend = jax.default_backend()
    if backend != "gpu":
        return f"the kernel needs a GPU, and jax computes on {backend}"
    try:
        return None if agrees() else "the kernel gave another result than plain JAX in a test"
    # Whatever a compiler or driver raises, the plain code does not need it.
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        return f"the kernel does not run here ({type(error).__name__}: {lines[0][:200]})"
