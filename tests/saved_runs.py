"""Tiny training runs, and what they left: states, metrics."""

from pathlib import Path

import numpy as np

from benchmarks.determinism import leaves
from factorio_rl.metrics import is_time_field, read_metrics

CONFIG = Path(__file__).parents[1] / "configs" / "minute.yaml"

TINY = (
    "--tasks.num_tasks=12",
    "--actor.num_envs=6",
    "--actor.chunk_moves=8",
    "--replay.capacity=600",
    "--search.num_simulations=3",
    "--search.max_num_considered_actions=3",
    "--eval.num_simulations=2",
    "--eval.max_num_considered_actions=2",
    "--eval.num_tasks=4",
    "--eval.every_chunks=4",
    "--train.checkpoint_every_chunks=2",
    "--train.imitation_updates=8",
    "--train.num_chunks=6",
    "--logging.wandb=disabled",
)
"""Settings of a run of six chunks, which takes about ten seconds on two cores."""


def steps(run_dir: Path) -> list[int]:
    """Steps of the checkpoints, oldest first."""
    folder = run_dir / "checkpoints"
    names = [path.name for path in folder.iterdir()] if folder.exists() else []
    return sorted(int(name) for name in names if name.isdigit())


def saved(run_dir: Path) -> dict[str, np.ndarray]:
    """Every leaf of the newest checkpoint, by its path."""
    return leaves(run_dir / "checkpoints" / str(steps(run_dir)[-1]))


def metrics_lines(run_dir: Path) -> list[dict]:
    """Metrics without what no two runs share."""
    file = run_dir / "metrics.jsonl"
    return [
        {name: value for name, value in record.items() if not is_time_field(name)}
        for record in (read_metrics(file) if file.exists() else [])
    ]
