"""What an FP8 actor does to training: five ways to train the same small network, by two seeds.

    python -m benchmarks.precision_experiment --dir runs/precision --jobs 1 --threads 2

Every run is `train.py` with `configs/precision_experiment.yaml` on the CPU, in a process of its
own that is kept to its cores; FP8 arithmetic is exact there, and slow. Further arguments go to
train.py, such as `--train.num_chunks=2`. The same command goes on where it was stopped.

Out: run directories `DIR/VARIANT-seed-S`, a table, and `docs/results/precision.json`, whose
columns `precision_rows.py` explains.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from benchmarks.precision_rows import fp8_report, is_finished, row_of, table_of
from benchmarks.results import command_line, write_results

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "configs" / "precision_experiment.yaml"

IGNITION_ENV_STEPS = 25_600
"""A third of a run: in bf16 the held-out score has gone from 0.13 to 0.48 by then (seed 0)."""

_FP8 = ("--actor.precision=fp8",)
_LATER = (*_FP8, f"--actor.switch.after_env_steps={IGNITION_ENV_STEPS}")
BF16 = "bf16"
VARIANTS = {
    BF16: (),
    "fp8": (*_FP8, "--actor.switch.gate=false"),
    "fp8-later": (*_LATER, "--actor.switch.gate=false"),
    "fp8-later-qat": (*_LATER, "--actor.switch.gate=false", "--learner.qat=true"),
    "fp8-later-qat-gate": (*_LATER, "--actor.switch.gate=true", "--learner.qat=true"),
}
"""Settings of train.py by name: FP8 never, from the start, or later; then with a learner that is
aware of it; then only while the gate lets it."""

SEEDS = (0, 1)


class Run(NamedTuple):
    """One run of train.py."""

    variant: str
    seed: int
    folder: Path


def main(arguments: Sequence[str]) -> int:
    """Makes the runs that are asked for and reports them; 1 if one of them failed."""
    args, settings = _parse(arguments)
    runs = [
        Run(variant, seed, args.dir / f"{variant}-seed-{seed}")
        for seed in args.seeds
        for variant in args.variants
    ]
    args.dir.mkdir(parents=True, exist_ok=True)
    free: SimpleQueue[str] = SimpleQueue()
    for cores in core_lists(sorted(os.sched_getaffinity(0)), args.jobs, args.threads):
        free.put(cores)
    with ThreadPoolExecutor(args.jobs) as workers:
        codes = list(workers.map(lambda run: _train(run, settings, free), runs))
    rows = [row_of(*run) for run in runs if is_finished(run.folder)]
    rows.sort(key=lambda row: list(VARIANTS).index(row["variant"]))
    print(table_of(rows))
    is_whole = set(args.variants) == set(VARIANTS) and set(args.seeds) == set(SEEDS)
    if args.out or (is_whole and not settings and not any(codes)):
        command = command_line("precision_experiment", arguments)
        print(write_results("precision", rows, command, args.out))
    return int(any(codes))


def train_command(run: Run, settings: Sequence[str], cores: str) -> list[str]:
    """What a run executes."""
    return [
        *("taskset", "--cpu-list", cores),
        *(sys.executable, str(ROOT / "train.py"), "--config", str(CONFIG)),
        *("--run-dir", str(run.folder), f"--run.seed={run.seed}", "--logging.wandb=disabled"),
        *VARIANTS[run.variant],
        *settings,
    ]


def core_lists(cores: Sequence[int], jobs: int, threads: int) -> Iterator[str]:
    """The cores of each job, as taskset takes them; no core is in two."""
    for job in range(jobs):
        yield ",".join(map(str, cores[job * threads : (job + 1) * threads]))


def evaluate_command(run: Run, cores: str) -> list[str]:
    """Plays the held-out tasks once more, with the trunk in FP8."""
    return [
        *("taskset", "--cpu-list", cores),
        *(sys.executable, "-m", "factorio_rl", "evaluate", "--run-dir", str(run.folder)),
        *("--checkpoint", "newest", "--precision", "fp8"),
    ]


def _train(run: Run, settings: Sequence[str], free: SimpleQueue[str]) -> int:
    """Trains to the end and evaluates in FP8, unless that was done before; the exit code."""
    commands = []
    if not is_finished(run.folder):
        commands.append(partial(train_command, run, settings))
    if run.variant != BF16 and fp8_report(run.folder) is None:
        commands.append(partial(evaluate_command, run))
    if not commands:
        return 0
    cores, code = free.get(), 0
    log = run.folder.with_suffix(".log")
    try:
        for command in commands:
            code = code or _logged(command(cores), log)
    finally:
        free.put(cores)
    words = "finished" if code == 0 else f"failed with exit code {code}, see {log}"
    print(f"{run.folder.name}: {words}", flush=True)
    return code


def _logged(command: Sequence[str], log: Path) -> int:
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    with log.open("a") as file:
        return subprocess.run(
            command, stdout=file, stderr=subprocess.STDOUT, env=environment
        ).returncode


def _parse(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        description="Train with and without FP8.", epilog="Further arguments go to train.py."
    )
    parser.add_argument("--dir", type=Path, required=True, help="folder of the run directories")
    parser.add_argument("--jobs", type=int, default=1, help="runs at once")
    parser.add_argument("--threads", type=int, default=2, help="cores of each run")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument(
        "--out",
        type=Path,
        help="result file (default: docs/results/precision.json for all runs, none for a part)",
    )
    args, settings = parser.parse_known_args(arguments)
    cores = len(os.sched_getaffinity(0))
    if min(args.jobs, args.threads) < 1 or args.jobs * args.threads > cores:
        parser.error(f"--jobs times --threads must be between 1 and the {cores} cores here")
    misused = [setting for setting in settings if "=" not in setting]
    if misused:
        parser.error(f"unknown arguments: {' '.join(misused)}; settings look like --run.seed=1")
    return args, settings


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
