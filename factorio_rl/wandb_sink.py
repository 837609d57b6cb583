"""Metrics to Weights & Biases, by way of a process of its own.

In: log events, pictures and agents. Out: lines for `wandb_process`, the only one that imports
wandb. wandb may be absent, slow or unreachable, it may hang, crash or be killed: the run waits for
none of it. A process that fails is replaced by one that writes offline and gets the events again;
if that one fails too, the sink is off. No jax.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from envs.atomic_file import write_text_atomically
from factorio_rl.config_sections import LoggingConfig
from factorio_rl.metrics import Fields, plain
from factorio_rl.wandb_files import AGENT, PICTURES, noted_agent, noted_pictures
from factorio_rl.wandb_mode import resolve_mode
from factorio_rl.wandb_names import wandb_name
from factorio_rl.wandb_sweep import MAX_ID_CHARACTERS, is_run_id, sweep_run

KEPT_EVENTS = 10_000
"""Newest events of this start, kept for a process that takes the place of a failed one."""

ID_FILE = "wandb_id"

COMMAND = (sys.executable, "-m", "factorio_rl.wandb_process")

_PROJECT = Path(__file__).parents[1]


class WandbSink:
    """Sends the events of one run directory to one wandb run, over all starts of the run.

    `config` is what wandb shows as the run's settings; `notify` gets the address of the run and
    the warnings, on a thread of the sink.
    """

    def __init__(
        self,
        run_dir: Path,
        settings: LoggingConfig,
        config: Mapping[str, Any],
        notify: Callable[[str], None] = print,
    ) -> None:
        self._run_dir = run_dir.resolve()
        self._settings = settings
        self._config = dict(config)
        self._notify = notify
        self._events = _Events()
        self._going_online: subprocess.Popen[bytes] | None = None
        self._started = threading.Event()
        self._mode = resolve_mode(settings.wandb, os.environ)
        self._sweep = sweep_run(os.environ)
        self._thread = threading.Thread(target=self._work, name="wandb", daemon=True)
        if self._mode == "disabled":
            return
        if self._mode != settings.wandb == "online":
            self._warn("no key is configured (wandb login); writing offline")
        self._thread.start()

    def log(self, event: str, fields: Fields) -> None:
        """Takes one event; never waits."""
        if self._thread.is_alive():
            self._events.add(
                {wandb_name(event, name): plain(value) for name, value in fields.items()}
            )

    def log_pictures(self, files: Mapping[str, Path], fields: Fields) -> None:
        """Takes pictures by name, with counters; one that is replaced before it is read is lost."""
        if self._thread.is_alive() and (notes := noted_pictures(files)):
            counters = {name: plain(value) for name, value in fields.items()}
            self._events.add({**counters, PICTURES: notes})

    def log_agent(self, file: Path, facts: Mapping[str, Any]) -> None:
        """Takes the file of the best agent so far and what is known of it, as JSON."""
        if self._thread.is_alive():
            self._events.add({AGENT: noted_agent(file, facts)})

    def close(self, timeout_s: float, exit_code: int = 0) -> None:
        """Ends the wandb run, waiting for at most `timeout_s` seconds.

        What has not gone online in half of that is written offline. What is not finished in all
        of it is finished by the process alone, after this one has ended.
        """
        if not self._thread.is_alive():
            return
        until_s = time.monotonic() + timeout_s
        self._events.end(exit_code)
        going_online = self._going_online
        if not self._started.wait(timeout_s / 2) and going_online is not None:
            going_online.send_signal(signal.SIGALRM)
        self._thread.join(until_s - time.monotonic())
        if self._thread.is_alive():
            self._warn("still at work; it ends by itself, `wandb sync` can upload what it does not")

    def _work(self) -> None:
        """The thread: a process, and a second one if the first fails."""
        try:
            failure = self._run(self._mode)
            if failure is not None:
                self._warn(f"{failure}; writing offline")
                failure = self._run("offline")
        except OSError as error:
            failure = f"cannot start: {error.strerror}"
        if failure is not None:
            self._warn(f"switched off: {failure}; metrics.jsonl has every event")
        self._started.set()

    def _run(self, mode: str) -> str | None:
        """One process from start to end; why it failed, None if it did not. Raises OSError."""
        lines = self._events.lines(self._about(mode))
        process = subprocess.Popen(
            COMMAND,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": _python_path()},
            start_new_session=True,  # The Ctrl-C of the terminal is for the run alone.
        )
        assert process.stdin is not None
        assert process.stdout is not None
        self._going_online = process if mode == "online" else None
        threading.Thread(target=_feed, args=(process.stdin, lines), daemon=True).start()
        failure = None
        for line in process.stdout:
            message = _message(line)
            if "started" in message:
                self._started.set()
                if message["started"]:
                    self._notify(f"wandb: {message['started']}")
            if message.get("warning"):
                self._warn(str(message["warning"]))
            failure = message.get("failed")
        process.stdout.close()
        code = process.wait()
        return None if code == 0 else failure or _how_it_ended(code)

    def _about(self, mode: str) -> dict[str, Any]:
        """What the process passes to `wandb.init`, and the program that wandb is to show.

        In a sweep wandb takes project, entity and id from the agent's environment, and a name that
        counts the runs.
        """
        about = {
            "dir": str(self._run_dir),
            "config": self._config,
            "mode": mode,
            "program": sys.argv[0],
        }
        own = {
            "project": self._settings.wandb_project,
            "entity": self._settings.wandb_entity,
            "id": self._run_id(),
            "name": self._run_dir.name,
        }
        return about if self._sweep else {**about, **own}

    def _run_id(self) -> str:
        """The id of the wandb run: a sweep's, or made at the first start.

        Kept in the run directory, so that later starts go on with that run, outside of a sweep too.
        """
        path = self._run_dir / ID_FILE
        if self._sweep is not None:
            write_text_atomically(path, self._sweep.run + "\n")
            return self._sweep.run
        if path.is_file():
            with path.open(encoding="utf-8", errors="replace") as file:
                found = file.read(MAX_ID_CHARACTERS + 1).strip()
            if is_run_id(found):
                return found
        fresh = uuid.uuid4().hex[:12]
        write_text_atomically(path, fresh + "\n")
        return fresh

    def _warn(self, text: str) -> None:
        self._notify(f"warning: wandb: {text}")


class _Events:
    """The newest events as lines of JSON, which several readers take one after another."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._first = 0  # number of the oldest line that is kept
        self._ended = False
        self._changed = threading.Condition()

    def add(self, value: Any) -> None:
        """Appends one line and forgets the oldest one above KEPT_EVENTS."""
        line = json.dumps(value).encode() + b"\n"
        with self._changed:
            self._lines.append(line)
            if len(self._lines) > KEPT_EVENTS:
                self._lines.popleft()
                self._first += 1
            self._changed.notify_all()

    def end(self, exit_code: int) -> None:
        """Appends the last line."""
        self.add(exit_code)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def lines(self, about: dict[str, Any]) -> Iterator[bytes]:
        """The opening line, then all lines from the oldest kept one to the last; waits for them."""
        yield json.dumps(about).encode() + b"\n"
        position = 0
        while True:
            with self._changed:
                while position >= self._next and not self._ended:
                    self._changed.wait()
                position = max(position, self._first)
                if position == self._next:
                    return
                line = self._lines[position - self._first]
            yield line
            position += 1

    @property
    def _next(self) -> int:
        """Number that the next line will have."""
        return self._first + len(self._lines)


def _feed(pipe: IO[bytes], lines: Iterator[bytes]) -> None:
    """Writes the lines until the last one, or until the process has ended."""
    try:
        with pipe:
            for line in lines:
                while line:
                    line = line[pipe.write(line) :]
    except OSError:
        return


def _message(line: bytes) -> dict[str, str | None]:
    """What the process tells; nothing in a line that was cut short when it was killed."""
    try:
        return json.loads(line)
    except ValueError:
        return {}


def _python_path() -> str:
    """PYTHONPATH of a process that is to find this package, wherever the run was started."""
    return os.pathsep.join(filter(None, [str(_PROJECT), os.environ.get("PYTHONPATH")]))


def _how_it_ended(code: int) -> str:
    if code == -signal.SIGALRM:
        return "it did not answer in time"
    return f"its process was killed by signal {-code}" if code < 0 else f"its process ended: {code}"
