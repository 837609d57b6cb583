"""Exact throughput of layouts by the rules fv-1: layouts in, rates as fractions out. Jax-free.

`verify`, `verify_many`, `score_rate` and `score_rates` are loaded on first use, since they load
numba.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envs.verifier.api import TICK_CAP, score_rate, score_rates, verify, verify_many
    from envs.verifier.report import SinkRate, Verified

RULES_VERSION = "fv-1"
"""Name of the rules that every rate follows."""

_HOME = {
    "SinkRate": "report",
    "Verified": "report",
    "TICK_CAP": "api",
    "score_rate": "api",
    "score_rates": "api",
    "verify": "api",
    "verify_many": "api",
}

__all__ = [
    "RULES_VERSION",
    "TICK_CAP",
    "SinkRate",
    "Verified",
    "score_rate",
    "score_rates",
    "verify",
    "verify_many",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
