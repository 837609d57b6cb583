"""The real wandb, unreachable, hanging, stopped and killed: training goes on, nothing is lost."""

import os
import signal
from pathlib import Path

import pytest
from reporting import markers, reporting, server, wait_for_end

from factorio_rl.metrics import read_metrics
from factorio_rl.run_links import refuse_links

pytestmark = pytest.mark.drill


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    path.mkdir()
    return path


def test_server_that_hangs_until_the_end(run_dir: Path, tmp_path: Path) -> None:
    with server(accepts=True) as there, reporting(run_dir, tmp_path, **there) as run:
        run.wandb_service()
        run.wait_for_reports(10)
        result = run.end()
    assert run.offline_markers() == markers(result["reports"])
    assert len(read_metrics(run_dir / "metrics.jsonl")) == result["reports"]
    assert "wandb: it did not answer in time; writing offline" in run.printed.read_text()


def test_unreachable_server_is_given_up_while_training_goes_on(
    run_dir: Path, tmp_path: Path
) -> None:
    with server(accepts=False) as there, reporting(run_dir, tmp_path, **there) as run:
        run.wait_for_text("; writing offline")
        run.wait_for_reports(10)
        result = run.end()
    assert "CommError" in run.printed.read_text()
    assert run.offline_markers() == markers(result["reports"])
    # wandb leaves links to its own logs, which must not keep the next start out.
    refuse_links(run_dir)


@pytest.mark.parametrize("whom", ["service", "process"])
def test_killed_wandb_is_replaced(run_dir: Path, tmp_path: Path, whom: str) -> None:
    with reporting(run_dir, tmp_path) as run:
        run.wandb_service()
        run.wait_for_reports(10)
        os.kill(run.wandb_service() if whom == "service" else run.wandb_process(), signal.SIGKILL)
        run.wait_for_text("; writing offline")
        run.wait_for_reports(10)
        result = run.end()
    assert run.offline_markers() == markers(result["reports"])
    assert len(list((run_dir / "wandb").glob("offline-run-*"))) == 2


def test_stopped_service_does_not_hold_up_the_end(run_dir: Path, tmp_path: Path) -> None:
    with reporting(run_dir, tmp_path) as run:
        service = run.wandb_service()
        run.wait_for_reports(10)
        os.kill(service, signal.SIGSTOP)
        try:
            run.wait_for_reports(5)
            result = run.end()
        finally:
            os.kill(service, signal.SIGKILL)
    assert len(read_metrics(run_dir / "metrics.jsonl")) == result["reports"]
    assert "still at work" in run.printed.read_text()


def test_killed_run_leaves_a_whole_offline_run(run_dir: Path, tmp_path: Path) -> None:
    with reporting(run_dir, tmp_path) as run:
        process = run.wandb_process()
        run.wait_for_reports(10)
        run.process.kill()
        run.process.wait()
        wait_for_end(process)
    written = [record["marker"] for record in read_metrics(run_dir / "metrics.jsonl")]
    assert len(written) >= 10
    # The last event may have been on its way.
    assert run.offline_markers()[: len(written) - 1] == written[:-1]


def test_signals_of_the_terminal_do_not_reach_wandb(run_dir: Path, tmp_path: Path) -> None:
    with reporting(run_dir, tmp_path) as run:
        process, service = run.wandb_process(), run.wandb_service()
        groups = {os.getpgid(pid) for pid in (process, service)}
        assert os.getpgid(run.process.pid) not in groups
        run.wait_for_reports(5)
        run.end()
        assert run.printed.read_text().splitlines()[0].startswith("[0:00:")
