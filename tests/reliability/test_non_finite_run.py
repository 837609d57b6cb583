"""Numbers that are not finite end a run with a dump that shows them again; none is saved."""

import subprocess
import sys
from pathlib import Path

import pytest
from saved_runs import steps
from training import ROOT, trained

pytestmark = pytest.mark.drill

DIVERGING = (
    "--learner.learning_rate=1e30",
    "--learner.warmup_updates=0",
    "--learner.max_skipped_updates=10",
)


def test_run_that_diverges_ends_with_a_dump_that_reproduces_it(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    ended = trained(run_dir, *DIVERGING)
    assert ended.code == 3, ended.output
    assert ended.output.count("error:") == 1
    assert "Traceback" not in ended.output
    assert "warning: not saved at chunk 0: the last updates were skipped" in ended.output
    assert not steps(run_dir)
    [dump] = (run_dir / "non_finite").iterdir()
    assert f"python -m factorio_rl reproduce {dump}" in ended.output
    reproduce = subprocess.run(
        [sys.executable, "-m", "factorio_rl", "reproduce", dump],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert reproduce.returncode == 0, reproduce.stdout + reproduce.stderr
    assert "reproduced; the first that is not finite is" in reproduce.stdout
