"""Signals at the worst moments: in a compilation, in an evaluation, before anything is there."""

import os
import signal
import time
from pathlib import Path

import pytest
from faults import COMPILING, SLOW_EVALUATION
from saved_runs import metrics_lines
from training import Training, assert_same_run, trained

from factorio_rl.preemption import NOTICE

pytestmark = pytest.mark.drill

MANY_TASKS = "--tasks.num_tasks=100000"
"""More than are made before the drill ends."""

MAKING = "making 100000"
ASKED = NOTICE.decode().strip()


def test_second_signal_ends_a_compilation_at_once(tmp_path: Path) -> None:
    with Training(tmp_path / "run", fault="long_compilation") as training:
        training.wait_for_output(COMPILING)
        training.process.send_signal(signal.SIGTERM)
        training.wait_for_output(ASKED)
        training.process.send_signal(signal.SIGTERM)
        # The compilation itself takes a minute.
        assert training.process.wait(5) == 143
        assert "Traceback" not in training.output


def test_run_that_is_stopped_in_an_evaluation_makes_it_again(
    straight: Path, tmp_path: Path
) -> None:
    run_dir = tmp_path / "run"
    with Training(run_dir, fault="slow_evaluation") as training:
        training.wait_for_output(SLOW_EVALUATION)
        training.process.send_signal(signal.SIGTERM)
        assert training.process.wait(30) == 143, training.output
    evaluated = [line["chunk"] for line in metrics_lines(run_dir) if line["event"] == "eval"]
    assert evaluated == [0]
    ended = trained(run_dir)
    assert ended.code == 0, ended.output
    assert "going on from the checkpoint of chunk 4" in ended.output
    assert_same_run(straight, run_dir)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_run_that_is_stopped_while_it_makes_tasks_leaves_nothing(
    tmp_path: Path, number: int, code: int
) -> None:
    """SIGINT goes to the workers too, as Ctrl-C in a terminal does."""
    with Training(tmp_path / "run", MANY_TASKS) as training:
        training.wait_for_output(MAKING)
        time.sleep(0.5)
        send = os.killpg if number == signal.SIGINT else os.kill
        send(training.process.pid, number)
        assert training.process.wait(30) == code, training.output
    assert "stopped by a signal before training began; nothing was written" in training.output
    assert "Traceback" not in training.output
    assert not training.run_dir.exists()


def test_signal_that_the_caller_has_ignored_is_ignored(tmp_path: Path) -> None:
    """As `nohup` does with SIGHUP."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        training = Training(tmp_path / "run", MANY_TASKS)
    finally:
        signal.signal(signal.SIGHUP, before)
    with training:
        training.wait_for_output(MAKING)
        training.process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        assert ASKED not in training.output
        ended = training.end(signal.SIGTERM)
    assert ended.code == 143
    assert ended.output.count(ASKED) == 1
