"""Prints the lowered programs of self-play, replay and learner for the settings of `minute.yaml`.

Run as a program with overrides. With `--untouchable` the modules of quantisation raise as soon as
anything of them is looked at.
"""

import os
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path
from types import ModuleType

import jax
import jax.numpy as jnp

from envs.actions import num_actions
from envs.heldout import load_heldout
from factorio_rl.chunk import ChunkRunner
from factorio_rl.config_file import load_config
from factorio_rl.demonstrations import make_references
from factorio_rl.env_shape import env_shape
from factorio_rl.learner import Shares, make_update, start_learner
from factorio_rl.model import make_predict
from factorio_rl.network import make_network
from factorio_rl.precision_choice import choose_fp8
from factorio_rl.replay import Replay, Rows, Scores, add_rows, add_scores, empty_replay
from factorio_rl.scoring import ChunkScores, Scorer
from factorio_rl.selfplay import Ended, make_run_chunk, start_actor

CONFIG = Path(__file__).parents[2] / "configs" / "minute.yaml"
MODULES = ("quantize", "fp8_network", "precision", "agreement", "tower_timing", "audit_run")


class Untouchable(ModuleType):
    def __getattr__(self, name: str) -> None:
        raise RuntimeError(f"touched {self.__name__}.{name}")


class NoScorer(Scorer):
    def __init__(self) -> None:
        pass

    def submit(self, ended: Ended) -> "Future[ChunkScores]":
        raise NotImplementedError


def lowered(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What a process of its own prints."""
    command = [sys.executable, __file__, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def add_chunk(replay: Replay, scores: Scores, rows: Rows) -> Replay:
    return add_rows(add_scores(replay, scores), rows)


def main(arguments: list[str]) -> None:
    """Prints the programs."""
    if "--untouchable" in arguments:
        arguments.remove("--untouchable")
        for name in MODULES:
            sys.modules[f"factorio_rl.{name}"] = Untouchable(f"factorio_rl.{name}")
    config = load_config(CONFIG, arguments)
    solved = load_heldout(config.tasks.heldout).tasks[:4]
    variants = [[((True,) * len(entry.placements), 1.0)] for entry in solved]
    references = make_references(solved, variants, env_shape(config))
    network = make_network(config.network)
    may_use_fp8 = choose_fp8(config, print)
    # All that a run builds must do without, not only what is printed.
    ChunkRunner(config, network, references, NoScorer(), may_use_fp8=may_use_fp8).start()

    weights = jnp.ones((len(references.families), references.actions.shape[1] + 1))
    key = jax.random.key(0)
    env = config.env
    actions = num_actions(env.height, env.width)
    learner, actor, replay = jax.eval_shape(
        lambda: (
            start_learner(config, network, key),
            start_actor(config, references, weights, key),
            empty_replay(config.replay.capacity, env.height, env.width, actions),
        )
    )
    run_chunk = make_run_chunk(config, make_predict(network, env.growth_rule))
    _, chunk = jax.eval_shape(run_chunk, learner.params, references, weights, actor, key)
    ended = chunk.ended.ended
    scores = Scores(ended, chunk.ended.episode, jnp.zeros(ended.shape))
    share = jnp.float32(0.5)
    scales = jnp.ones(2 * config.network.blocks)
    for lowered in (
        jax.jit(run_chunk).lower(learner.params, references, weights, actor, key),
        jax.jit(add_chunk).lower(replay, scores, chunk.rows),
        jax.jit(make_update(config, network)).lower(
            learner, replay, references, Shares(share, share), scales, key
        ),
    ):
        print(lowered.as_text())


if __name__ == "__main__":
    main(sys.argv[1:])
