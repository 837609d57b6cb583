"""The agent that is installed with the program: that it is there, small, and can do its work."""

import jax
import numpy as np

from envs.heldout import load_heldout
from envs.types import board_placements, stack_tasks, task_arrays
from factorio_rl.agent_file import SHIPPED_AGENT, load_agent
from factorio_rl.env_shape import env_shape
from factorio_rl.evaluation import GreedyPlay
from factorio_rl.model import make_predict
from factorio_rl.network import make_network
from factorio_rl.scoring import score_layout

MAX_BYTES = 8_000_000
"""Small enough to come with every installation."""

EASY = ("gear", "cable", "pipe", "stick", "ammunition", "science")


def test_installed_agent_is_small() -> None:
    assert SHIPPED_AGENT.stat().st_size <= MAX_BYTES


def test_installed_agent_solves_easy_tasks_that_it_was_never_trained_on() -> None:
    agent = load_agent(None, None, tell=print)
    config = agent.config
    entries = [entry for entry in load_heldout("heldout-v1").tasks if entry.spec.family in EASY]
    specs = [entry.spec for entry in entries[:12]]
    shape = env_shape(config)
    tasks = jax.device_put(stack_tasks([task_arrays(spec, shape) for spec in specs]))
    predict = make_predict(make_network(config.network), config.env.growth_rule)
    board = jax.device_get(GreedyPlay(config, predict, use_search=False)(agent.params, tasks))
    outcomes = [
        score_layout(spec, board_placements(*cells))
        for spec, cells in zip(specs, zip(board.entity, board.rotation, strict=True), strict=True)
    ]
    assert np.mean([outcome.score for outcome in outcomes]) > 0.8
