"""The process that talks to wandb outlives the run, but no hang."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_wandb_use import FAKE, FakeWandb

ROOT = Path(__file__).parents[2]
ABOUT = {"mode": "offline", "program": "train.py", "dir": "run"}


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeWandb]:
    used = FakeWandb(tmp_path, monkeypatch)
    yield used
    used.clean_up()


def start(fault: str = "", before: str = "") -> "subprocess.Popen[bytes]":
    code = f"from factorio_rl import wandb_process\n{before}\nwandb_process.main()"
    paths = os.pathsep.join([str(ROOT), str(FAKE)])
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths, "FAKE_WANDB": fault},
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(ABOUT).encode() + b"\n" + b'{"loss": 0.5}\n')
    process.stdin.flush()
    return process


def test_run_that_was_killed_is_finished_as_failed(fake: FakeWandb) -> None:
    process = start()
    process.communicate(b'{"loss": 0.4')
    assert process.returncode == 0
    assert fake.logged() == [{"loss": 0.5}]
    assert fake.calls("finish") == [[1]]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_that_stop_the_run_do_not_stop_its_upload(fake: FakeWandb, number: int) -> None:
    process = start()
    fake.wait_for(fake.logged)
    process.send_signal(number)
    process.communicate(b'{"loss": 0.4}\n143\n')
    assert process.returncode == 0
    assert fake.logged() == [{"loss": 0.5}, {"loss": 0.4}]
    assert fake.calls("finish") == [[143]]


@pytest.mark.parametrize("call", ["import", "init", "log"])
def test_hang_ends_it(fake: FakeWandb, call: str) -> None:
    process = start(f"hang {call}", "wandb_process.PATIENCE_S = 1")
    assert process.wait(30) == -signal.SIGALRM


def test_upload_that_hangs_ends_it(fake: FakeWandb) -> None:
    process = start("hang finish", "wandb_process.OUTLIVE_S = 1")
    process.communicate(b"0\n", timeout=30)
    assert process.returncode == -signal.SIGALRM


def test_waiting_for_the_run_is_no_hang(fake: FakeWandb) -> None:
    process = start(before="wandb_process.PATIENCE_S = 1")
    fake.wait_for(fake.logged)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1.5)
    process.communicate(b"0\n")
    assert process.returncode == 0


def test_failure_is_told_in_one_line(fake: FakeWandb) -> None:
    output, _ = start("raise log").communicate(b"0\n")
    assert [json.loads(line) for line in output.splitlines()] == [
        {"started": None},
        {"failed": "RuntimeError: log failed"},
    ]


def test_only_messages_are_on_its_standard_output(fake: FakeWandb) -> None:
    output, _ = start("print init").communicate(b"0\n")
    assert [json.loads(line) for line in output.splitlines()] == [{"started": None}]
