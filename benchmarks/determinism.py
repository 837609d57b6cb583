"""Whether a run that is stopped and gone on with ends bit for bit as one without a stop, and what
it costs a GPU to promise that.

    python -m benchmarks.determinism

For each way of setting XLA: a run of some chunks, and the same run stopped and gone on with; every
start compiles anew, as on another machine of the same type. Writes `docs/results/determinism.json`
after each way.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from orbax.checkpoint import v1 as ocp
from rich.console import Console
from rich.table import Table

from benchmarks.results import command_line, write_results

ROOT = Path(__file__).resolve().parents[1]

WAYS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "default": ("", ()),
    "ops": ("--xla_gpu_deterministic_ops=true", ()),
    "deterministic": ("", ("--run.deterministic=true",)),
}
"""(XLA_FLAGS, settings) by name."""

SMALL = (
    "--tasks.num_tasks=270",
    "--eval.num_tasks=4",
    "--eval.num_simulations=2",
    "--eval.max_num_considered_actions=2",
    "--eval.every_chunks=1000",
    "--train.checkpoint_every_chunks=1000",
    "--train.imitation_updates=24",
    "--logging.every_chunks=1",
    "--logging.wandb=disabled",
    "--run.compilation_cache=null",
)

STOP_AT_CHUNK = 3

FIRST_TIMED_CHUNK = 3
"""Those before it compile and warm up."""


def main() -> None:
    """Prints a table and writes the result file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.determinism", description=__doc__)
    parser.add_argument("--config", type=Path, default=ROOT / "configs" / "modules_12x12.yaml")
    parser.add_argument("--chunks", type=int, default=12)
    parser.add_argument("--only", nargs="+", choices=tuple(WAYS), default=list(WAYS))
    parser.add_argument("--out", type=Path)
    options, settings = parser.parse_known_args()
    rows: list[dict[str, Any]] = []
    for way in options.only:
        with tempfile.TemporaryDirectory() as folder:
            given = [*SMALL, f"--train.num_chunks={options.chunks}", *settings]
            rows.append(row(way, options.config, given, Path(folder)))
        command = command_line("determinism", sys.argv[1:])
        path = write_results("determinism", rows, command, options.out)
    Console().print(_table(rows))
    print(path)


def row(way: str, config: Path, settings: Sequence[str], folder: Path) -> dict[str, Any]:
    """Both runs in one way: their speed, and how many leaves of their last states differ."""
    flags, own = WAYS[way]

    def run(name: str, stop: bool = False) -> Path:
        command = [sys.executable, ROOT / "train.py", "--config", config, *settings, *own]
        _train([*map(str, command), f"--run-dir={folder / name}"], flags, folder / name, stop)
        return folder / name

    straight = run("straight")
    run("resumed", stop=True)
    resumed = run("resumed")
    speeds = [
        record["env_steps_per_s"]
        for record in _records(straight)
        if record["event"] == "train" and record["chunk"] >= FIRST_TIMED_CHUNK
    ]
    return {
        "way": way,
        "xla_flags": flags,
        "env_steps_per_s": round(statistics.median(speeds), 1),
        "resumed_differing_leaves": differing_leaves(straight, resumed),
        "leaves": len(_leaves(straight)),
    }


def differing_leaves(one: Path, other: Path) -> int:
    """Leaves of the last checkpoints that are not the same to the last bit."""
    first, second = _leaves(one), _leaves(other)
    return sum(first[path].tobytes() != second[path].tobytes() for path in first)


def _leaves(run_dir: Path) -> dict[str, np.ndarray]:
    import jax

    folder = max((run_dir / "checkpoints").glob("[0-9]*"), key=lambda path: int(path.name))
    names = [path.name for path in folder.iterdir() if path.is_dir()]
    trees = ocp.load_checkpointables(folder, dict.fromkeys(names))
    leaves = jax.tree_util.tree_leaves_with_path(trees)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def _train(command: list[str], flags: str, run_dir: Path, stop: bool) -> None:
    """Trains to the end, or until a signal stops it after some chunks."""
    environment = {**os.environ, "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip()}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    while stop and process.poll() is None:
        if any(record.get("chunk", 0) >= STOP_AT_CHUNK for record in _records(run_dir)):
            process.send_signal(signal.SIGTERM)
            break
        time.sleep(0.02)
    expected = 128 + signal.SIGTERM if stop else 0
    if process.wait() != expected:
        raise SystemExit(f"exit code {process.returncode}, expected {expected}: {command}")


def _records(run_dir: Path) -> list[dict[str, Any]]:
    file = run_dir / "metrics.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    table = Table("way", "moves/s", "leaves that differ after a stop")
    for entry in rows:
        differing = f"{entry['resumed_differing_leaves']} of {entry['leaves']}"
        table.add_row(entry["way"], f"{entry['env_steps_per_s']:,.0f}", differing)
    return table


if __name__ == "__main__":
    main()
