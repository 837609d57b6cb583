"""Runs work that cannot be interrupted on a thread, so that Ctrl-C still works. Jax-free.

Compiled code looks at no signal until it returns. The thread is a daemon: leaving the program does
not wait for it.
"""

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

QUIET_S = 3.0
"""Seconds before the first word about how long the work has taken."""

_POLL_S = 0.1
_LINE_EVERY_S = 60.0


def in_background(work: Callable[[], Any], doing: str) -> Any:
    """What `work` returns; its errors are raised here.

    After a few seconds standard error says what is being done and for how long: again and again
    on one line of a terminal, a line a minute elsewhere.
    """
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.extend((True, work()))
        except BaseException as error:
            outcome.extend((False, error))

    thread = threading.Thread(target=run, daemon=True)
    started = time.monotonic()
    thread.start()
    due_s, terminal = QUIET_S, sys.stderr.isatty()
    while thread.is_alive():
        thread.join(_POLL_S)
        elapsed_s = time.monotonic() - started
        if elapsed_s < due_s or not thread.is_alive():
            continue
        start, end, pause_s = ("\r", "", _POLL_S) if terminal else ("", "\n", _LINE_EVERY_S)
        print(
            f"{start}{doing}: {elapsed_s:.0f} s, Ctrl-C stops", end=end, file=sys.stderr, flush=True
        )
        due_s = elapsed_s + pause_s
    if terminal and due_s > QUIET_S:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    succeeded, result = outcome
    if not succeeded:
        raise result
    return result
