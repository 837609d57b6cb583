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


def in_background(work: Callable[[], Any], doing: str) -> Any:
    """What `work` returns; its errors are raised here.

    On a terminal, standard error says what is being done and for how long, after a few seconds.
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
    shown = False
    while thread.is_alive():
        thread.join(_POLL_S)
        elapsed_s = time.monotonic() - started
        if sys.stderr.isatty() and elapsed_s > QUIET_S and thread.is_alive():
            print(
                f"\r{doing}: {elapsed_s:.0f} s, Ctrl-C stops", end="", file=sys.stderr, flush=True
            )
            shown = True
    if shown:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    succeeded, result = outcome
    if not succeeded:
        raise result
    return result
