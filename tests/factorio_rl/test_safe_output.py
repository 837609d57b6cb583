"""Standard output may be closed, broken or full: nothing is raised, and the exit code stays."""

import errno
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from factorio_rl.safe_output import SafeOutput

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys
from factorio_rl.safe_output import safe_output
with safe_output():
    for number in range(20_000):
        print("line", number, flush=number % 100 == 0)
    print("the end", file=sys.stderr)
sys.exit(3)
"""

BAR = """
import sys, time
from rich.console import Console
from factorio_rl.display import Display
from factorio_rl.safe_output import safe_output
with safe_output(), Display(Console(file=sys.__stdout__, force_terminal=True)) as display:
    display.stage("self-play", 100)
    print("ready", file=sys.__stderr__, flush=True)
    sys.stdin.read()
    for number in range(50):
        display.update(number, {"env_steps": number})
        display.message(f"line {number}")
        display.console.print("a table")
        time.sleep(0.01)
sys.exit(3)
"""


class _Broken(io.StringIO):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str, /) -> int:
        raise self.error

    def flush(self) -> None:
        raise self.error


def start(code: str, stdout: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""},
    )


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "full"),
        OSError(errno.EIO, "gone"),
        BrokenPipeError(errno.EPIPE, "broken"),
        BlockingIOError(errno.EAGAIN, "again", 0),
        ValueError("closed"),
    ],
)
def test_no_error_of_the_stream_is_raised(error: Exception) -> None:
    output = SafeOutput(_Broken(error))
    assert output.write("text") == 4
    output.flush()
    output.settle()


def test_closed_stream_is_no_terminal() -> None:
    stream = io.StringIO()
    output = SafeOutput(stream)
    stream.close()
    assert not output.isatty()
    output.write("text")


def test_text_arrives() -> None:
    stream = io.StringIO()
    print("some", "text", file=SafeOutput(stream))
    assert stream.getvalue() == "some text\n"


def test_reader_that_ends_early_does_not_end_the_program() -> None:
    process = start(PROGRAM, subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "line 0\n"
    process.stdout.close()
    assert process.stderr.read() == "the end\n"
    assert process.wait(30) == 3


def test_full_disk_under_the_output_does_not_end_the_program() -> None:
    with open("/dev/full", "w") as full:
        process = start(PROGRAM, full)
        _, errors = process.communicate(timeout=30)
    assert errors == "the end\n"
    assert process.returncode == 3


def test_live_bar_survives_a_reader_that_ends_early() -> None:
    process = start(BAR, subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    process.stdout.close()
    process.stdout = None
    _, errors = process.communicate("", timeout=30)
    assert errors == ""
    assert process.returncode == 3
