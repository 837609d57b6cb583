"""Speed of training end to end: chunks of self-play and updates, with their time breakdown.

In: a config of `train.py`, and variants of it as overrides. Out: a table and rows in
`docs/results/training.json`, one for each variant, all in this process: environment steps and
episodes a second, where the time went, how busy the device was. `--profile` takes the device's own
record of two chunks instead, and prints which programs and operations it spent its time on.

    python -m benchmarks.training --config configs/h200.yaml --variant search.num_simulations=32
"""

import argparse
import cProfile
import pstats
import shlex
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.device_profile import print_profile
from benchmarks.results import command_line, write_results
from factorio_rl import runtime
from factorio_rl.config import Config
from factorio_rl.config_file import load_config

WARM_UP_CHUNKS = 3
"""The first compiles, and scores are due from the third on."""

PROFILED_CHUNKS = 2
SHOWN_FUNCTIONS = 25


def main(arguments: Sequence[str]) -> None:
    """Measures all variants; writes the rows after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--pool", help="pool file; default: tasks made by the config")
    parser.add_argument("--num-tasks", type=int, help="of the pool; default: the config's")
    parser.add_argument("--variant", action="append", default=[], help="overrides, space between")
    parser.add_argument("--imitation-updates", type=int, default=1000, help="before the chunks")
    parser.add_argument("--chunks", type=int, default=10)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--host-profile", action="store_true", help="of the main thread")
    parser.add_argument("--out", type=Path, help="results file; default: docs/results")
    options = parser.parse_args(arguments)
    runtime.quiet_libraries()
    rows: list[dict[str, Any]] = []
    pools: dict[str, Any] = {}
    for variant in options.variant or [""]:
        config = _config(options, variant)
        rows.append(_measure(config, options, variant, pools))
        print(rows[-1], flush=True)
        write_results("training", rows, command_line("training", arguments), options.out)


def _config(options: argparse.Namespace, variant: str) -> Config:
    overrides = {}
    if options.pool:
        overrides["tasks.pool"] = options.pool
    if options.num_tasks:
        overrides["tasks.num_tasks"] = str(options.num_tasks)
    overrides |= dict(part.split("=", 1) for part in shlex.split(variant))
    return load_config(options.config, [f"--{name}={value}" for name, value in overrides.items()])


def _measure(
    config: Config, options: argparse.Namespace, variant: str, pools: dict[str, Any]
) -> dict[str, Any]:
    """One row; the pool is made once and shared by variants with the same tasks."""
    import jax

    from factorio_rl.chunk import ChunkRunner
    from factorio_rl.demonstrations import make_references
    from factorio_rl.env_shape import env_shape
    from factorio_rl.network import make_network
    from factorio_rl.pool import make_pool
    from factorio_rl.precision_choice import choose_fp8
    from factorio_rl.scoring import Scorer
    from factorio_rl.time_breakdown import TrainingClock

    runtime.keep_programs(config.run, Path("compiled"))
    key = config.tasks.model_dump_json()
    if key not in pools:
        pool = make_pool(config, lambda: None)
        pools[key] = (pool, make_references(pool.solved, pool.variants, env_shape(config)))
    pool, references = pools[key]
    scorer = Scorer([entry.spec for entry in pool.solved], runtime.num_threads())
    runner = ChunkRunner(
        config,
        make_network(config.network),
        references,
        scorer,
        may_use_fp8=choose_fp8(config, print),
    )
    began_s = time.monotonic()
    state = jax.block_until_ready(runner.start())
    while int(state.learner.updates) < options.imitation_updates:
        state, _ = runner.imitate(state)
    imitated_s = time.monotonic()
    runner.resume(state)
    for _ in range(WARM_UP_CHUNKS):
        state, figures = runner.run(state)
    warm_s = time.monotonic()
    if options.profile:
        with print_profile():
            for _ in range(PROFILED_CHUNKS):
                state, _ = runner.run(state)
    if options.host_profile:
        with cProfile.Profile() as host:
            for _ in range(PROFILED_CHUNKS):
                state, _ = runner.run(state)
        pstats.Stats(host).sort_stats("tottime").print_stats(SHOWN_FUNCTIONS)
    clock = TrainingClock(state.counters)
    laps = []
    for _ in range(options.chunks):
        state, figures = runner.run(state)
        clock.add(figures.times)
        precision = figures.hand_over.precision
        network_s = partial(runner.network_s, state, figures.hand_over)
        laps.append(clock.lap(state.counters, precision, network_s))
    scorer.close()
    return {
        "variant": variant,
        "network": f"{config.network.channels}x{config.network.blocks}",
        "batch": config.actor.num_envs,
        "simulations": config.search.num_simulations,
        "updates": config.learner.updates_per_chunk,
        "learner_batch": config.learner.batch_size,
        **{name: median(lap[name] for lap in laps) for name in laps[0]},
        "peak_gb": _peak_gb(),
        "imitation_s": imitated_s - began_s,
        "warm_up_s": warm_s - imitated_s,
    }


def _peak_gb() -> float | None:
    """Most memory of the device in use so far, all variants together; None on a CPU."""
    import jax

    statistics = jax.devices()[0].memory_stats()
    return statistics["peak_bytes_in_use"] / 1e9 if statistics else None


if __name__ == "__main__":
    main(sys.argv[1:])
