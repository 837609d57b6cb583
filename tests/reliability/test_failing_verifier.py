"""Drill: layouts that cannot be verified score 0, are counted and kept, and training goes on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from saved_runs import metrics_lines
from training import ROOT, trained

pytestmark = pytest.mark.drill


def test_training_goes_on_with_a_verifier_that_fails(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    code, output = trained(run_dir, fault="failing_verifier")
    assert code == 0, output
    assert "Traceback" not in output
    assert "warning: a layout scores 0 since it got no exact rate: MemoryError" in output
    assert "not exact within 1,000,000 ticks" in output
    last = [line for line in metrics_lines(run_dir) if line["event"] == "train"][-1]
    assert (last["chunk"], last["failed"] > 0, last["inexact"] > 0) == (6, True, True)
    files = sorted((run_dir / "verifier_failures").iterdir())
    assert {json.loads(file.read_text())["kind"] for file in files} == {"MemoryError", "NotExact"}
    verify = subprocess.run(
        [sys.executable, "-m", "factorio_rl", "verify", "--json", files[0]],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert verify.returncode == 0, verify.stderr
    assert json.loads(verify.stdout)["exact"]
