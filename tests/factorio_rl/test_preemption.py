"""Signals, on real processes: the first asks to stop, the second ends the run at once."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from factorio_rl.preemption import StopRequest

# Says when it is ready and when it was asked to stop, and never stops on its own.
STUBBORN = """
import time
from factorio_rl.preemption import StopRequest

with StopRequest() as stop:
    print("ready", flush=True)
    while not stop:
        time.sleep(0.01)
    print("asked", stop.exit_code, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_second_signal_ends_the_process_at_once(
    first: signal.Signals, second: signal.Signals
) -> None:
    process = subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(first)
        assert process.stdout.readline() == f"asked {128 + first}\n"
        assert process.poll() is None
        process.send_signal(second)
        assert process.wait(timeout=30) == 128 + second
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_first_signal_only_sets_the_request(number: signal.Signals, exit_code: int) -> None:
    with StopRequest() as stop:
        assert not stop
        os.kill(os.getpid(), number)
        deadline_s = time.monotonic() + 10
        while not stop and time.monotonic() < deadline_s:
            time.sleep(0.001)
        assert stop
        assert stop.signal_number == number
        assert stop.exit_code == exit_code


# In a call of C that lets other threads run and no handler of Python, as a compilation does.
COMPILING = """
import hashlib
from factorio_rl.preemption import StopRequest

with StopRequest():
    print("ready", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
"""


def cpu_s(process: subprocess.Popen[str]) -> float:
    """Processor time of a process in its own code, seconds."""
    text = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii")
    fields = text.rpartition(")")[2].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")  # utime; proc_pid_stat(5)


def test_second_signal_ends_a_process_that_runs_no_handler() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", COMPILING],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        assert process.stdout.readline() == "ready\n"
        # Until it is in that call for certain: before it a handler could run.
        loaded_s = cpu_s(process)
        while cpu_s(process) < loaded_s + 0.2:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert select.select([process.stderr], [], [], 30)[0], "no notice came"
        assert process.stderr.readline() == "\n"
        assert "another signal quits at once" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 143
    finally:
        process.kill()
        process.communicate()


def test_signal_that_the_caller_has_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with StopRequest():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_handlers_are_restored_also_after_an_error() -> None:
    def own(number: int, frame: object) -> None:
        del number, frame

    before = signal.signal(signal.SIGTERM, own), signal.getsignal(signal.SIGINT)
    try:
        with StopRequest():
            assert signal.getsignal(signal.SIGTERM) is not own
        assert signal.getsignal(signal.SIGTERM) is own
        with pytest.raises(KeyError), StopRequest():
            raise KeyError
        assert signal.getsignal(signal.SIGTERM) is own
        assert signal.getsignal(signal.SIGINT) is before[1]
    finally:
        signal.signal(signal.SIGTERM, before[0])


def test_nothing_is_asked_without_a_signal() -> None:
    with StopRequest() as stop:
        assert not stop
    assert stop.signal_number is None
