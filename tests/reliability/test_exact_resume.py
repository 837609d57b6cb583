"""Stopped or killed anywhere, a run goes on as if nothing had happened, bit for bit."""

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from saved_runs import metrics_lines, steps
from training import Stepwise, Training, assert_same_run, trained

pytestmark = pytest.mark.drill

NUM_KILLS = int(os.environ.get("FACTORIO_RL_KILLS", "3"))
"""Random kills of one run; ten are asked for before a release."""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)]
)
def test_signal_stops_a_run_and_what_it_saved_is_gone_on_from(
    straight: Path, tmp_path: Path, number: int, code: int
) -> None:
    run_dir = tmp_path / "run"
    with Stepwise(run_dir) as training:
        training.allow(1)
        training.wait_before_chunk(2)
        training.process.send_signal(number)
        training.wait_for_output("stopping after this step")
        training.allow(2)
        began_s = time.monotonic()
        ended = training.end()
    assert ended.code == code, ended.output
    assert time.monotonic() - began_s < 30
    assert "saved, the same command goes on from here" in ended.output
    assert metrics_lines(run_dir)[-1]["chunk"] == 2
    if number == signal.SIGTERM:  # what is saved is the same for the others
        assert trained(run_dir).code == 0
        assert_same_run(straight, run_dir)


def test_run_that_is_killed_at_random_moments_goes_on_bit_for_bit(
    straight: Path, tmp_path: Path
) -> None:
    seed = random.randrange(1 << 32)
    moments, run_dir = random.Random(seed), tmp_path / "run"
    print(f"seed of the moments: {seed}")
    for _ in range(NUM_KILLS):
        with Training(run_dir) as training:
            # Beyond the start, which changes nothing: a whole run takes about ten seconds.
            time.sleep(moments.uniform(3.0, 9.0))
            training.process.kill()
            ended = training.end()
            assert ended.code in (0, -signal.SIGKILL), ended.output
    last = trained(run_dir)
    assert last.code == 0, last.output
    assert_same_run(straight, run_dir)
    assert_no_leftovers(run_dir)


@pytest.mark.parametrize(
    "fault", ["killed_in_save", "killed_before_rename", "killed_in_delete", "killed_in_evaluation"]
)
def test_run_that_is_killed_while_it_writes_goes_on_bit_for_bit(
    straight: Path, tmp_path: Path, fault: str
) -> None:
    run_dir = tmp_path / "run"
    assert trained(run_dir, fault=fault).code == -signal.SIGKILL
    assert metrics_lines(run_dir)[-1]["chunk"] > 0
    ended = trained(run_dir)
    assert ended.code == 0, ended.output
    assert "going on from the checkpoint" in ended.output
    assert "warning" not in ended.output
    assert_same_run(straight, run_dir)
    assert_no_leftovers(run_dir)


def test_run_goes_on_bit_for_bit_though_the_clock_goes_backwards(
    straight: Path, tmp_path: Path
) -> None:
    run_dir = tmp_path / "run"
    with Training(run_dir, fault="clock_backwards") as training:
        training.wait_for_chunk(3)
        assert training.end(signal.SIGTERM).code == 143
    ended = trained(run_dir, fault="clock_backwards")
    assert ended.code == 0, ended.output
    assert_same_run(straight, run_dir)


def test_run_whose_checkpoints_are_gone_is_not_begun_anew(straight: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    shutil.copytree(straight, run_dir)
    shutil.rmtree(run_dir / "checkpoints")
    before = (run_dir / "metrics.jsonl").read_bytes()
    ended = trained(run_dir)
    assert ended.code == 4
    assert "gone; last_save.json says that there was one" in ended.output
    (run_dir / "last_save.json").unlink()
    ended = trained(run_dir)
    assert ended.code == 4
    assert "has no checkpoint any more" in ended.output
    assert (run_dir / "metrics.jsonl").read_bytes() == before


def assert_no_leftovers(run_dir: Path) -> None:
    """Nothing is there but what a run without a stop has."""
    assert len(steps(run_dir)) >= 2
    for folder in (run_dir, run_dir / "checkpoints", run_dir / "eval", run_dir / "layouts"):
        strange = [path.name for path in folder.iterdir() if "tmp" in path.name]
        assert not strange
    assert all(path.name.isdigit() for path in (run_dir / "checkpoints").iterdir())
