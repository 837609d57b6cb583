"""The process that talks to Weights & Biases for a run: the only one that imports wandb.

In, on standard input, one JSON value per line: what the run is, then figures to log, at last the
exit code of the run. Out, on standard output: `{"started": URL or null}` or `{"failed": TEXT}`.
It lives on after the run for as long as an upload may take, and takes no part in its signals and
its terminal. `wandb_sink` starts it. No jax.
"""

import contextlib
import importlib
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import IO, Any, NoReturn

INIT_TIMEOUT_S = 20
"""Seconds after which wandb gives up going online."""

PATIENCE_S = 60
"""Seconds for importing and starting wandb, and for it to take one figure; more is a hang."""

OUTLIVE_S = 300
"""Seconds that an upload may still take after the last figure; it is on disk in any case."""

WAITING_LINES = 10_000
"""Lines that are taken from the run before wandb has taken those before them."""

UNFINISHED_EXIT_CODE = 1
"""What wandb shows of a run that ended without saying how, such as one that was killed."""


def main() -> NoReturn:
    """Serves one run; the exit code is 0 if wandb has taken all of it."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process, whatever hangs
    os.nice(10)  # The run's own threads come first.
    messages = _take_standard_output()

    def tell(kind: str, text: str | None) -> None:
        with contextlib.suppress(OSError):
            messages.write(json.dumps({kind: text}) + "\n")
            messages.flush()

    try:
        serve(sys.stdin.buffer, tell)
    except BaseException as error:  # wandb may raise anything, SystemExit too
        reason = (str(error).strip().splitlines() or ["no message"])[0]
        tell("failed", f"{type(error).__name__}: {reason}")
        os._exit(1)
    os._exit(0)  # What wandb does at exit is done, or could hang.


def serve(lines: IO[bytes], tell: Callable[[str, str | None], None]) -> None:
    """Logs the lines as one wandb run. Raises whatever wandb raises; SIGALRM ends a hang."""
    signal.alarm(PATIENCE_S)
    about = json.loads(lines.readline())
    waiting: queue.Queue[bytes | None] = queue.Queue(WAITING_LINES)
    threading.Thread(target=_read, args=(lines, waiting), daemon=True).start()
    wandb = importlib.import_module("wandb")
    run = _start(wandb, about)
    tell("started", None if run.offline else run.url)
    exit_code = UNFINISHED_EXIT_CODE
    signal.alarm(0)
    while (line := waiting.get()) is not None:
        value = json.loads(line)
        if isinstance(value, int):
            exit_code = value
            continue
        signal.alarm(PATIENCE_S)
        run.log(value)
        signal.alarm(0)
    signal.alarm(OUTLIVE_S)
    run.finish(exit_code=exit_code)
    wandb.teardown()


def _start(wandb: Any, about: dict[str, Any]) -> Any:
    settings = {"console": "off", "silent": True, "init_timeout": INIT_TIMEOUT_S}
    # The figures of the system are to be those of the training process.
    settings |= {"x_stats_pid": os.getppid(), "program": about.pop("program")}
    run = wandb.init(resume="allow", settings=wandb.Settings(**settings), **about)
    run.define_metric("env_steps")
    run.define_metric("*", step_metric="env_steps")
    return run


def _read(lines: IO[bytes], waiting: "queue.Queue[bytes | None]") -> None:
    """Takes all lines, so that the run can end before wandb has taken them."""
    for line in lines:
        # The run may have been killed inside a line.
        if line.endswith(b"\n"):
            waiting.put(line)
    waiting.put(None)


def _take_standard_output() -> IO[str]:
    """The standard output for messages alone; whatever else is printed there is lost."""
    messages = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return messages


if __name__ == "__main__":
    main()
