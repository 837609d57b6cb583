"""Drills: training that needs more memory than there is ends with one message, and no traceback."""

from pathlib import Path

import pytest
from saved_runs import steps
from training import Finished, trained

pytestmark = pytest.mark.drill

ROWS_OF_3_TIB = "--replay.capacity=2000000000"


def message(finished: Finished) -> str:
    """The one error that a process ended with."""
    assert finished.code == 2, finished.output
    assert "Traceback" not in finished.output
    (line,) = [line for line in finished.output.splitlines() if line.startswith("error: ")]
    return line


def test_replay_above_the_memory_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    line = message(trained(run_dir, ROWS_OF_3_TIB))
    assert line.startswith("error: replay.capacity is 2,000,000,000, for which the replay takes 3.")
    assert not run_dir.exists()


def test_replay_that_jax_cannot_allocate_names_its_setting(tmp_path: Path) -> None:
    line = message(trained(tmp_path / "run", ROWS_OF_3_TIB, fault="no_estimate_of_memory"))
    assert "out of memory in setting up replay and network: RESOURCE_EXHAUSTED" in line
    assert "Lower replay.capacity (now 2000000000" in line


def test_replay_above_a_limit_of_the_process_names_its_setting(tmp_path: Path) -> None:
    # 5 GB, which the machine has and the process may not have.
    line = message(
        trained(tmp_path / "run", "--replay.capacity=3000000", fault="little_address_space")
    )
    assert "out of memory in setting up replay and network" in line
    assert "Lower replay.capacity (now 3000000" in line


def test_self_play_out_of_memory_names_its_settings_and_leaves_a_checkpoint(
    tmp_path: Path,
) -> None:
    run_dir = tmp_path / "run"
    line = message(trained(run_dir, fault="huge_self_play"))
    assert "out of memory in self-play: RESOURCE_EXHAUSTED" in line
    assert "Lower actor.num_envs (now 6" in line
    assert steps(run_dir)
