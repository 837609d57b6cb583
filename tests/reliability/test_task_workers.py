"""Drills: the processes that make tasks are killed, alone or with the run."""

import os
import signal
from pathlib import Path

import pytest
from training import Training

pytestmark = pytest.mark.drill

MANY_TASKS = "--tasks.num_tasks=100000"
"""More than are made before the drill ends."""


def workers(parent: int) -> list[int]:
    """Process numbers of the workers that a process has started."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            stat = (folder / "stat").read_text()
            is_worker = b"spawn_main" in (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if is_worker and int(stat.rpartition(")")[2].split()[1]) == parent:
            found.append(int(folder.name))
    return found


@pytest.fixture
def making(tmp_path: Path):
    """A run whose workers make tasks."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("with one core there are no workers")
    with Training(tmp_path / "run", MANY_TASKS) as training:
        training.wait_until(lambda: len(workers(training.process.pid)) >= 2)
        yield training


def test_worker_that_is_killed_ends_the_run_with_one_message(making: Training) -> None:
    os.kill(workers(making.process.pid)[0], signal.SIGKILL)
    code, output = making.end()
    assert code == 2
    assert "error: one of the " in output
    assert "died: killed, perhaps for lack of memory" in output
    assert "Traceback" not in output


def test_signal_to_all_processes_stops_the_run_as_a_signal_to_one(making: Training) -> None:
    os.killpg(making.process.pid, signal.SIGTERM)
    code, output = making.end()
    assert code == 143, output
    assert "stopped by a signal" in output
    assert "Traceback" not in output
    assert not making.run_dir.exists()
