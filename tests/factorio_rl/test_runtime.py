"""What a process sets up before jax is loaded, in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from factorio_rl.runtime import DETERMINISTIC_FLAGS

ROOT = Path(__file__).parents[2]

# A trainer that only says what it finds; the true one loads jax when it is imported.
TRAIN = """
import os, sys, types

def train(*arguments):
    assert "jax" not in sys.modules
    print("flags:", os.environ.get("XLA_FLAGS"))
    return 0

sys.modules["factorio_rl.trainer"] = types.SimpleNamespace(train=train)
from factorio_rl.cli import train_main

sys.exit(train_main(sys.argv[1:]))
"""


def flags_of(tmp_path: Path, *options: str) -> str:
    """XLA's flags when the trainer is imported."""
    config = ROOT / "configs" / "minute.yaml"
    arguments = ["--config", str(config), "--run-dir", str(tmp_path / "run"), *options]
    done = subprocess.run(
        [sys.executable, "-c", TRAIN, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "XLA_FLAGS": "--xla_of_the_user=1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    [line] = [line for line in done.stdout.splitlines() if line.startswith("flags:")]
    return line.removeprefix("flags: ")


def test_deterministic_run_adds_its_flags_before_jax_is_loaded(tmp_path: Path) -> None:
    flags = flags_of(tmp_path, "--run.deterministic=true")
    assert flags.split() == ["--xla_of_the_user=1", *DETERMINISTIC_FLAGS]


@pytest.mark.parametrize("options", [[], ["--run.deterministic=false"]])
def test_other_runs_leave_the_flags_alone(tmp_path: Path, options: list[str]) -> None:
    assert flags_of(tmp_path, *options) == "--xla_of_the_user=1"
