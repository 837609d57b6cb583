"""The random searches on which two trees are compared: a table of configurations.

Each configuration is one batch of searches: a game, its knobs, settings, and root masks of several
kinds. Knobs, masks and Gumbel scales are traced, so that configurations with the same settings and
the same kind of game share one compiled program.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np
from numpy.typing import NDArray

from benchmarks.drift_game import drift_game
from benchmarks.hash_game import HashGame
from factorio_rl.search import Evaluation, SearchSettings

NUM_ACTIONS = 1729


class Game(Protocol):
    """The rules and the network of a game; a pytree, so that a program can take it."""

    @property
    def num_actions(self) -> int: ...

    def roots(self, batch: int, seed: int, /) -> Any:
        """`[batch]` positions, others for each seed."""
        ...

    def legal_actions(self, position: Any, /) -> jax.Array:
        """`[B, A]`, by the rules."""
        ...

    def evaluate(self, position: Any, /) -> Evaluation: ...

    def expand(
        self, position: Any, action: jax.Array, is_root: jax.Array, /
    ) -> tuple[Evaluation, Any]:
        """The model in the form that a search takes."""
        ...


class Configuration(NamedTuple):
    """One batch of searches. With `handed_in` their roots are evaluated beforehand."""

    name: str
    make_game: Callable[[], Game]
    settings: SearchSettings
    gumbel_scale: float = 1.0
    handed_in: bool = False


def root_masks(own: jax.Array) -> NDArray[np.bool_]:
    """Legal actions `[B, A]` at the roots, from those of the game's own rules.

    Rows 1 to 5 are: all (also those that the model masks), three, one, none, every second. A batch
    of fewer rows has the first of these.
    """
    legal = np.array(own)
    action = np.arange(legal.shape[1])
    kinds = [
        np.full(len(action), True),
        np.isin(action, (2, 5, 11)),
        action == 7,
        np.full(len(action), False),
        action % 2 == 0,
    ]
    for row, kind in enumerate(kinds[: len(legal) - 1], start=1):
        legal[row] = kind
    return legal


def _hash(settings: dict[str, Any], actions: int = NUM_ACTIONS, **knobs: float) -> dict[str, Any]:
    return {
        "make_game": lambda: HashGame(num_actions=actions, **knobs),
        "settings": SearchSettings(**settings),
    }


def _drift(
    settings: dict[str, Any], actions: int = NUM_ACTIONS, *, spread: float
) -> dict[str, Any]:
    return {
        "make_game": lambda: drift_game(actions, spread),
        "settings": SearchSettings(**settings),
    }


N16, N32, N64, N128 = ({"num_simulations": count} for count in (16, 32, 64, 128))
NARROW = {**N64, "max_num_considered_actions": 4}
MCTX = {"value_scale": 0.1, "rescale_values": True}
RAW = {**N32, "use_mixed_value": False, "value_scale": 0.3, "maxvisit_init": 10.0}
GREEDY = {"gumbel_scale": 0.0}
HANDED_IN = {"handed_in": True}

_ROWS: dict[str, dict[str, Any]] = {
    "16, flat prior": _hash(N16, peak=0.0),
    "16, peaked prior": _hash(N16, peak=16.0),
    "32, flat prior": _hash(N32, peak=0.0),
    "32, nearly flat prior": _hash(N32, peak=0.01),
    "32, flat prior, greedy": _hash(N32, peak=0.0) | GREEDY,
    "32, peaked prior": _hash(N32, peak=16.0),
    "32, peaked prior, greedy": _hash(N32, peak=16.0) | GREEDY,
    "32, very peaked prior": _hash(N32, peak=128.0),
    "64, flat prior": _hash(N64, peak=0.0),
    "64, peaked prior": _hash(N64, peak=16.0),
    "64, very peaked prior": _hash(N64, peak=128.0),
    "64, few legal actions": _hash(N64, legal=0.004),
    "128, peaked prior": _hash(N128, peak=16.0),
    "128, very peaked prior": _hash(N128, peak=128.0, terminal=0.0),
    "all edges terminal": _hash(NARROW, terminal=1.0),
    "no edge terminal": _hash(NARROW, peak=32.0, terminal=0.0, discount=0.997),
    "no rewards, no discount": _hash(NARROW, peak=16.0, terminal=0.0, discount=1.0, reward=0.0),
    "negative discount": _hash(NARROW, peak=32.0, terminal=0.0, discount=-0.97),
    "depth 1": _hash({**NARROW, "max_depth": 1}, peak=16.0),
    "depth 2": _hash({**NARROW, "max_depth": 2}, peak=16.0),
    "depth 2, leaves again": _hash({**NARROW, "max_depth": 2}, peak=128.0),
    "depth 5": _hash({**NARROW, "max_depth": 5}, peak=32.0, terminal=0.0),
    "rescaled": _hash({**N64, **MCTX}, peak=16.0),
    "rescaled, large values": _hash({**N64, **MCTX}, peak=16.0, value=1024.0, reward=64.0),
    "rescaled, epsilon 0.05": _hash(
        {**N64, **MCTX, "epsilon": 0.05}, peak=16.0, value=0.125, reward=0.0625
    ),
    "raw value completes": _hash(RAW, peak=8.0),
    "root handed in": _hash(N32, peak=16.0) | HANDED_IN,
    "root handed in, greedy": _hash(N32, peak=16.0) | HANDED_IN | GREEDY,
    "floats, 16": _drift(N16, spread=1.0),
    "floats, 64": _drift(N64, spread=2.0),
    "floats, 64, nearly flat prior": _drift(N64, spread=0.001),
    "floats, 64, peaked prior": _drift(N64, spread=8.0),
    "floats, 64, greedy": _drift(N64, spread=4.0) | GREEDY,
    "floats, 128": _drift(N128, spread=4.0),
    "floats, 128, peaked prior": _drift(N128, spread=16.0),
    "floats, rescaled": _drift({**N64, **MCTX}, spread=4.0),
    "13 actions": _hash(NARROW, 13),
    "13 actions, all tied": _hash(NARROW, 13, peak=0.0, reward=0.0, value=0.0),
    "13 actions, depth 2": _hash({**NARROW, "max_depth": 2}, 13),
    "13 actions, more considered": _hash({**N16, "max_num_considered_actions": 32}, 13),
    "64 actions, 128": _hash(N128, 64, peak=8.0),
    "64 actions, floats, 128": _drift(N128, 64, spread=2.0),
}

TABLE = [Configuration(name=name, **row) for name, row in _ROWS.items()]

_QUICK = (
    "16, peaked prior",
    "rescaled, epsilon 0.05",
    "root handed in",
    "13 actions",
    "13 actions, all tied",
    "13 actions, depth 2",
    "64 actions, floats, 128",
)
QUICK_TABLE = [configuration for configuration in TABLE if configuration.name in _QUICK]
