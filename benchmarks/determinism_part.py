"""Some chunks of training in a process of its own, from the start or from a saved state.

Self-play, updates and replay are those of a run; scores are made up from the layouts, so that no
verifier is needed. Used by `determinism`.
"""

import argparse
import json
import os
import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

import numpy as np

from envs.heldout import load_heldout
from factorio_rl import runtime
from factorio_rl.config import Config
from factorio_rl.config_file import load_config

NUM_TASKS = 54
"""References that are played, two of each family."""


def main() -> None:
    """Trains as the command line says, and saves the state."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.determinism_part")
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--load", type=int, help="chunk of the saved state to go on from")
    parser.add_argument("--save", type=int, nargs="+", required=True, help="chunks to save after")
    parser.add_argument("--name", required=True, help="of the saved states")
    options, settings = parser.parse_known_args()
    config = load_config(options.config, settings)
    if config.run.deterministic:
        runtime.compute_deterministically(os.environ)
    times_s = train(config, options.folder, options.name, options.load, options.save)
    (options.folder / f"{options.name}.json").write_text(json.dumps(times_s))


def train(
    config: Config, folder: Path, name: str, load: int | None, save: Sequence[int]
) -> list[float]:
    """Seconds of each chunk; states go to `folder/name/<chunk>`."""
    import jax

    from factorio_rl.checkpoint import CheckpointStore
    from factorio_rl.checkpoint_manifest import Manifest
    from factorio_rl.chunk import ChunkRunner
    from factorio_rl.demonstrations import make_references
    from factorio_rl.env_shape import env_shape
    from factorio_rl.loop_state import LoopState, parts_of
    from factorio_rl.network import make_network

    runtime.quiet_libraries()
    runtime.keep_programs(config.run, folder / "compiled")
    solved = load_heldout(config.tasks.heldout).tasks[:NUM_TASKS]
    variants = [[((True,) * len(entry.placements), 1.0)] for entry in solved]
    references = make_references(solved, variants, env_shape(config))
    runner = ChunkRunner(config, make_network(config.network), references, _made_up_scorer())
    state = jax.block_until_ready(runner.start())
    if load is None:
        state, _ = runner.imitate(state)
    else:
        store = CheckpointStore(folder / "straight", {})
        state = LoopState(**store.load(load, parts_of(state)))
    runner.resume(state)
    store, times_s = CheckpointStore(folder / name, {}), []
    while (chunk := int(state.counters.chunk)) < max(save):
        began_s = time.perf_counter()
        state, _ = runner.run(state)
        times_s.append(time.perf_counter() - began_s)
        if chunk + 1 in save:
            store.save(Manifest(chunk + 1, chunk + 1, None, {}, {}, {}), parts_of(state))
    return times_s


def _made_up_scorer():
    """A scorer whose scores are a function of the layouts, and known at once."""
    from factorio_rl.scoring import ChunkScores, Scorer
    from factorio_rl.selfplay import Ended

    class MadeUp(Scorer):
        def __init__(self) -> None:
            pass

        def submit(self, ended: Ended) -> "Future[ChunkScores]":
            score = np.where(ended.ended, ended.board.placed % 7 / np.float32(7), 0)
            good = np.asarray(ended.ended & (score > 0.5))
            known: Future[ChunkScores] = Future()
            known.set_result(ChunkScores(score.astype(np.float32), good, good, inexact=0))
            return known

    return MadeUp()


if __name__ == "__main__":
    main()
