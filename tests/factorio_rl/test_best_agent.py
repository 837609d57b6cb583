"""The file of the best agent follows the score, and survives what else happens to it."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from envs.errors import UserError
from factorio_rl.agent_file import Agent, read_agent_file, write_agent_file
from factorio_rl.best_agent import AGENT_FILE, keep_best
from factorio_rl.config import Config
from factorio_rl.env_shape import env_shape
from factorio_rl.network import Params, init_params, make_network

Offers = list[tuple[Path, Mapping[str, Any]]]


@pytest.fixture(scope="module")
def params(config: Config) -> Params:
    return init_params(make_network(config.network), env_shape(config), jax.random.key(1))


def keep(run_dir: Path, config: Config, params: Params, score: float, chunk: int) -> Offers:
    """What was offered of an evaluation with this score after this chunk."""
    offers: Offers = []
    shares = {"score": score, "solved": 0.25, "functional": 0.5}
    report = {**shares, "task_set": "tiny", "n": 4, "num_simulations": 2, "ci95": [0.0, 1.0]}
    report |= {"by_family": {"pipes": {"n": 4, **shares}}, "tasks": []}
    counters = {"chunk": chunk, "env_steps": 8 * chunk, "learner_updates": 2 * chunk}
    keep_best(run_dir, config, params, report, counters, lambda *offer: offers.append(offer))
    return offers


def test_file_is_that_of_the_highest_score_and_the_newest_of_equal_ones(
    tmp_path: Path, config: Config, params: Params
) -> None:
    path = tmp_path / AGENT_FILE
    scores = [0.25, 0.5, 0.125, 0.5, 0.25]
    offers = [keep(tmp_path, config, params, score, 1 + at) for at, score in enumerate(scores)]
    assert [len(made) for made in offers] == [1, 1, 0, 1, 0]
    [(offered, facts)] = offers[3]
    assert offered == path
    assert (facts["score"], facts["env_steps"], facts["chunk"]) == (0.5, 32, 4)
    agent = read_agent_file(path)
    assert agent.facts["env_steps"] == 32
    assert agent.facts["scores"][0]["score"] == 0.5
    for read, given in zip(jax.tree.leaves(agent.params), jax.tree.leaves(params), strict=True):
        np.testing.assert_allclose(read, given, rtol=2**-8)


@pytest.mark.parametrize("there", ["damaged", "an agent without scores"])
def test_file_that_says_no_score_is_replaced(
    tmp_path: Path, config: Config, params: Params, there: str
) -> None:
    path = tmp_path / AGENT_FILE
    if there == "damaged":
        path.write_text(there)
    else:
        write_agent_file(path, Agent(config, params, there, {"env_steps": 1, "scores": []}))
    assert len(keep(tmp_path, config, params, 0.0, 1)) == 1
    assert read_agent_file(path).facts["chunk"] == 1


def test_full_disk_leaves_the_old_file(
    tmp_path: Path, config: Config, params: Params, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tmp_path, config, params, 0.25, 1)

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(UserError, match="No space left"):
        keep(tmp_path, config, params, 0.5, 2)
    assert read_agent_file(tmp_path / AGENT_FILE).facts["chunk"] == 1
    assert [path.name for path in tmp_path.iterdir()] == [AGENT_FILE]
