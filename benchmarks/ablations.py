"""What the parts of the recipe are worth: the quickstart with one setting changed, by two seeds.

    python -m benchmarks.ablations --dir runs/ablations

Every run is `train.py` with `configs/quickstart.yaml`, evaluated once at its end, in a process of
its own on the CPU. All play the same number of moves and make the same number of updates after
imitation, so what a run costs stands beside its score. Further arguments go to train.py. The same
command goes on where it was stopped.

Out: run directories `DIR/VARIANT-seed-S`, a table, and `docs/results/ablations.json`.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

from benchmarks.precision_rows import is_finished
from benchmarks.results import command_line, write_results
from benchmarks.search_rows import aligned
from factorio_rl.evaluation_files import read_report
from factorio_rl.metrics import read_metrics
from factorio_rl.run_directory import RunDirectory

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "configs" / "quickstart.yaml"
EVERY_RUN = ("--eval.every_chunks=360", "--eval.num_simulations=32", "--logging.wandb=disabled")

_NO_DEMONSTRATIONS = (
    "--train.imitation_updates=0",
    "--learner.demonstration_share_start=0",
    "--learner.demonstration_share_end=0",
)
_FROM_EMPTY = ("--actor.empty_share=1",)
VARIANTS: dict[str, tuple[str, ...]] = {
    "quickstart": (),
    "no demonstrations": _NO_DEMONSTRATIONS,
    "starts from empty alone": _FROM_EMPTY,
    "neither": (*_NO_DEMONSTRATIONS, *_FROM_EMPTY),
    "4 simulations": ("--search.num_simulations=4", "--search.max_num_considered_actions=4"),
    "16 simulations": ("--search.num_simulations=16",),
    "16 simulations of 16 actions": (
        "--search.num_simulations=16",
        "--search.max_num_considered_actions=16",
    ),
    "network 16x3": ("--network.channels=16",),
    "network 64x3": ("--network.channels=64",),
    "Q-transform of mctx": ("--search.value_scale=0.1", "--search.rescale_values=true"),
    "no growth rule": ("--env.growth_rule=false",),
}
"""Settings of train.py by name."""

COST_FILE = "cpu_seconds"
"""What all starts of a run took, kept beside its run directory."""

PRINTED = {
    "variant": "variant",
    "seed": "seed",
    "score": "score",
    "ci95_low": "from",
    "ci95_high": "to",
    "solved": "solved",
    "raw_score": "raw score",
    "env_steps": "env steps",
    "cpu_s": "CPU s",
}


def main(arguments: Sequence[str]) -> int:
    """Makes the runs that are missing and reports all; 1 if one of them failed."""
    parser = argparse.ArgumentParser(description="One setting of the quickstart changed at a time.")
    parser.add_argument("--dir", type=Path, required=True, help="folder of the run directories")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--report", action="store_true", help="make no run, report those there are")
    parser.add_argument("--out", type=Path, help="result file; default: in docs/results")
    options, settings = parser.parse_known_args(arguments)
    options.dir.mkdir(parents=True, exist_ok=True)
    failed = 0
    rows = []
    for seed in options.seeds:
        for variant in options.variants:
            folder = options.dir / f"{variant.replace(' ', '-')}-seed-{seed}"
            if not options.report and not is_finished(folder):
                failed |= _train(variant, seed, folder, settings)
            if is_finished(folder):
                rows.append(_row(variant, seed, folder))
    rows.sort(key=lambda row: list(VARIANTS).index(row["variant"]))
    cells = [[_shown(row[name]) for name in PRINTED] for row in rows]
    print(*aligned([list(PRINTED.values()), *cells]), sep="\n")
    print(write_results("ablations", rows, command_line("ablations", arguments), options.out))
    return failed


def _train(variant: str, seed: int, folder: Path, settings: Sequence[str]) -> int:
    """Trains to the end; whether that failed."""
    command = [
        *(sys.executable, str(ROOT / "train.py"), "--config", str(CONFIG)),
        *(
            "--run-dir",
            str(folder),
            f"--run.seed={seed}",
            *EVERY_RUN,
            *VARIANTS[variant],
            *settings,
        ),
    ]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    log, cost = folder.with_suffix(".log"), folder.with_suffix(f".{COST_FILE}")
    before_s = _children_s()
    with log.open("a") as file:
        code = subprocess.run(
            command, stdout=file, stderr=subprocess.STDOUT, env=environment
        ).returncode
    took_s = _children_s() - before_s + (float(cost.read_text()) if cost.exists() else 0.0)
    cost.write_text(f"{took_s:.0f}\n")
    print(f"{folder.name}: {f'failed with {code}, see {log}' if code else 'finished'}", flush=True)
    return int(code != 0)


def _children_s() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _row(variant: str, seed: int, folder: Path) -> dict[str, Any]:
    directory = RunDirectory(folder)
    chunk = directory.require_config().train.num_chunks
    report = read_report(directory.evaluations, f"chunk-{chunk:06d}")
    assert report is not None
    last = [line for line in read_metrics(folder / "metrics.jsonl") if line["event"] == "train"][-1]
    return {
        "variant": variant,
        "seed": seed,
        "score": report["score"],
        "ci95_low": report["ci95"][0],
        "ci95_high": report["ci95"][1],
        "solved": report["solved"],
        "raw_score": report["raw_policy"]["score"],
        "env_steps": last["env_steps"],
        "cpu_s": int(folder.with_suffix(f".{COST_FILE}").read_text()),
    }


def _shown(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
