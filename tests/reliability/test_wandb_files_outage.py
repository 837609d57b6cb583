"""Pictures and agents while the real wandb hangs, is killed or cannot write: nothing waits."""

import json
import os
import signal
from pathlib import Path

import pytest
from offline_run import OfflineRun
from reporting import Reporting, markers, reporting, server

from factorio_rl.metrics import read_metrics

pytestmark = pytest.mark.drill

FILES = {"LEAVE_FILES": "1"}


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    path.mkdir()
    return path


def newest_agent(run_dir: Path) -> str:
    """What is in the one artifact of the newest offline run, whose description fits."""
    [artifact] = OfflineRun(run_dir).of("artifact")
    [content] = artifact.manifest.contents
    agent = Path(content.local_path).read_text()
    assert agent == f"agent {json.loads(artifact.metadata)['number']}"
    return agent


def assert_all_arrived(run: Reporting, reports: int) -> None:
    assert run.offline_markers() == markers(reports)
    assert newest_agent(run.run_dir) == (run.run_dir / "best.safetensors").read_text()
    assert any("pictures/a/path" in line for line in OfflineRun(run.run_dir).figures())
    assert len(read_metrics(run.run_dir / "metrics.jsonl")) == reports


def test_server_that_hangs_until_the_end(run_dir: Path, tmp_path: Path) -> None:
    with server(accepts=True) as there, reporting(run_dir, tmp_path, **there, **FILES) as run:
        run.wandb_service()
        run.wait_for_reports(20)
        result = run.end()
    assert_all_arrived(run, result["reports"])


def test_killed_wandb_is_replaced(run_dir: Path, tmp_path: Path) -> None:
    with reporting(run_dir, tmp_path, **FILES) as run:
        service = run.wandb_service()
        run.wait_for_reports(20)
        os.kill(service, signal.SIGKILL)
        run.wait_for_text("; writing offline")
        run.wait_for_reports(20)
        result = run.end()
    assert_all_arrived(run, result["reports"])


def test_copies_that_cannot_be_made_cost_no_figures(run_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with reporting(run_dir, tmp_path, WANDB_DATA_DIR=str(file), **FILES) as run:
        run.wandb_service()
        run.wait_for_reports(20)
        result = run.end()
    assert run.offline_markers() == markers(result["reports"])
    assert "warning: wandb: cannot upload the best agent: " in run.printed.read_text()
