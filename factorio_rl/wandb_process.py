"""The process that talks to Weights & Biases for a run: the only one that imports wandb.

In, on standard input, one JSON value per line: what the run is, then figures, pictures and agents,
at last the exit code of the run. Out, on standard output: `{"started": URL or null}`,
`{"warning": TEXT}` or `{"failed": TEXT}`. It lives on after the run for as long as an upload may
take, and takes no part in its signals and its terminal. `wandb_sink` starts it. No jax.
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
from pathlib import Path
from typing import IO, Any, NoReturn

from factorio_rl.wandb_files import AGENT, PICTURES, Agents, pictures
from factorio_rl.wandb_names import step_metric

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
    # Copies for uploads go here, not into the user's home.
    os.environ.setdefault("WANDB_DATA_DIR", str(Path(about["dir"], "wandb")))
    waiting: queue.Queue[bytes | None] = queue.Queue(WAITING_LINES)
    threading.Thread(target=_read, args=(lines, waiting), daemon=True).start()
    wandb = importlib.import_module("wandb")
    run = _start(wandb, about)
    tell("started", None if run.offline else run.url)
    receiver = _Receiver(wandb, run, lambda text: tell("warning", text))
    exit_code = UNFINISHED_EXIT_CODE
    signal.alarm(0)
    while (line := waiting.get()) is not None:
        value = json.loads(line)
        if isinstance(value, int):
            exit_code = value
            continue
        signal.alarm(PATIENCE_S)
        receiver.take(value)
        signal.alarm(0)
    signal.alarm(OUTLIVE_S)
    receiver.end()
    run.finish(exit_code=exit_code)
    wandb.teardown()


class _Receiver:
    """Hands to wandb what the run says."""

    def __init__(self, wandb: Any, run: Any, warn: Callable[[str], None]) -> None:
        self._wandb = wandb
        self._run = run
        self._warn = warn
        self._agents = Agents(wandb, run, warn)
        self._known: set[str] = set()

    def take(self, value: dict[str, Any]) -> None:
        """One line: figures, with pictures beside them or not, or an agent."""
        if AGENT in value:
            self._agents.offer(value[AGENT])
            return
        noted = value.pop(PICTURES, {})
        shown = pictures(self._wandb, noted, self._warn)
        for name in [name for name in {**value, **shown} if name not in self._known]:
            # One by one: whether a pattern covers `eval/family/gear/score` depends on the version.
            self._run.define_metric(name, step_metric=step_metric(name))
            self._known.add(name)
        if shown or not noted:
            self._run.log({**value, **shown})
        self._agents.upload_if_due()

    def end(self) -> None:
        """After the last line."""
        self._agents.upload()


def _start(wandb: Any, about: dict[str, Any]) -> Any:
    settings = {"console": "off", "silent": True, "init_timeout": INIT_TIMEOUT_S}
    # The figures of the system are to be those of the training process.
    settings |= {"x_stats_pid": os.getppid(), "program": about.pop("program")}
    return wandb.init(resume="allow", settings=wandb.Settings(**settings), **about)


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
