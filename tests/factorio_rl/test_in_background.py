"""Work on a thread: its result, its errors, and Ctrl-C while it goes on."""

import _thread
import io
import signal
import threading
from collections.abc import Iterator

import pytest

from envs.errors import UserError
from factorio_rl import in_background as module
from factorio_rl.in_background import in_background


class Terminal(io.StringIO):
    """Standard error as if it were a terminal."""

    def isatty(self) -> bool:
        return True


def test_the_result_comes_back() -> None:
    caller = threading.get_ident()
    assert in_background(threading.get_ident, "thinking") != caller


@pytest.mark.parametrize("error", [UserError("no"), RuntimeError("bug"), KeyboardInterrupt()])
def test_an_error_of_the_work_is_raised_here(error: BaseException) -> None:
    def work() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        in_background(work, "failing")
    assert caught.value is error


@pytest.fixture
def ctrl_c_raises() -> Iterator[None]:
    """Python's own reaction to SIGINT, which a shell makes ignored for background jobs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_raises")
def test_ctrl_c_ends_the_wait_while_the_work_goes_on() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def work() -> None:
        _thread.interrupt_main()
        go_on.wait(60)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        in_background(work, "waiting")
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(60)


def test_on_a_terminal_it_says_what_is_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(module, "QUIET_S", -1.0)
    in_background(lambda: threading.Event().wait(3 * module._POLL_S), "verifying")
    assert "verifying: 0 s, Ctrl-C stops" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\033[K")


def test_short_work_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    in_background(lambda: threading.Event().wait(2 * module._POLL_S), "verifying")
    assert terminal.getvalue() == ""


def test_elsewhere_than_on_a_terminal_lines_are_rare(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "QUIET_S", -1.0)
    in_background(lambda: threading.Event().wait(4 * module._POLL_S), "verifying")
    assert capsys.readouterr().err == "verifying: 0 s, Ctrl-C stops\n"
