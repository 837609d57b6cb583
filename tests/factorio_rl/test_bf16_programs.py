"""A run without FP8 has the programs of a build whose quantisation cannot even be touched."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent / "lowered_programs.py"
ROOT = PROGRAM.parents[2]


def lowered(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAM), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_programs_are_the_same_bytes_when_quantisation_raises_on_touch() -> None:
    usual, untouchable = lowered(), lowered("--untouchable")
    assert usual.returncode == 0, usual.stderr
    assert untouchable.returncode == 0, untouchable.stderr
    assert usual.stdout.count("module @jit_") == 2
    assert "f8E4M3FN" not in usual.stdout
    assert untouchable.stdout == usual.stdout


def test_a_learner_that_trains_for_fp8_does_touch_it() -> None:
    fp8 = ("--network.channels=16", "--actor.precision=fp8", "--learner.qat=true")
    touching = lowered("--untouchable", *fp8)
    assert touching.returncode == 1
    assert "RuntimeError: touched factorio_rl." in touching.stderr
    assert "f8E4M3FN" in lowered(*fp8).stdout
