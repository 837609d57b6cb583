"""Searches for the tests of the agreement benchmark: with the lean tree, and one made by hand."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.agreement_table import Game, root_masks
from benchmarks.drift_game import drift_game
from benchmarks.hash_game import HashGame
from benchmarks.search_agreement import record_of, run_search
from benchmarks.tree_replay import Record, Task
from factorio_rl.search import SearchSettings

GAMES: dict[str, Game] = {
    "hash": HashGame(num_actions=13),
    "flat": HashGame(num_actions=13, peak=0.0),
    "peaked": HashGame(num_actions=13, peak=128.0),
    "drift": drift_game(13, spread=2.0),
}
BATCH = 8


@cache
def lean_searches(
    game_name: str, settings: SearchSettings, gumbel_scale: float = 1.0, handed_in: bool = False
) -> list[tuple[Task, Record]]:
    """One search for each kind of root mask."""
    game = GAMES[game_name]
    roots = game.roots(BATCH, 0)
    legal = root_masks(game.legal_actions(roots))
    output, gumbel = jax.device_get(
        run_search(
            game,
            jnp.int32(5),
            roots,
            legal,
            jnp.float32(gumbel_scale),
            settings=settings,
            handed_in=handed_in,
        )
    )
    return [
        (Task(settings, legal[row], gumbel[row].astype(np.float64)), record_of(output, row))
        for row in range(BATCH)
    ]


def tied_search(gap: float, taken: int) -> tuple[Task, Record]:
    """Two actions, tried once each; then `taken` again, under a depth limit of 1.

    By its Gumbel noise action 1 scores `gap` above action 0, so it is tried first. The third
    simulation adds no node, and only the visits tell which action it took.
    """
    settings = SearchSettings(3, max_num_considered_actions=2, max_depth=1)
    visits = np.array([4, 1, 1, 0])
    visits[2 - taken] += 1
    task = Task(settings, np.array([True, True]), np.array([1.0, 1.0 + gap]))
    record = Record(
        action=taken,
        action_weights=np.full(2, 0.5, np.float32),
        root_value=0.0,
        visits=visits.astype(np.int32),
        values=np.zeros(4, np.float32),
        raw_values=np.zeros(4, np.float32),
        rewards=np.zeros(4, np.float32),
        discounts=np.ones(4, np.float32),
        parents=np.array([-1, 0, 0, -1], np.int32),
        actions=np.array([-1, 1, 0, -1], np.int32),
        prior_logits=np.zeros((4, 2), np.float32),
    )
    return task, record
