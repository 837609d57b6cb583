"""Metrics to Weights & Biases, on a thread of their own.

In: log events. Out: calls of wandb, which may be absent, broken, slow or unreachable: every call,
the import and the start included, runs on a daemon thread behind a bounded queue, so the run
never waits for it. The first failure is one warning; then the sink is off. No jax.
"""

import importlib
import netrc
import os
import queue
import threading
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from factorio_rl.config_sections import LoggingConfig
from factorio_rl.metrics import Fields, plain

QUEUE_EVENTS = 1000
"""Events that may wait; later ones are dropped while wandb does not take them."""

INIT_TIMEOUT_S = 20
"""Seconds after which wandb gives up going online; it holds up the end of the process so long."""

COUNTERS = ("chunk", "env_steps", "learner_updates")
"""Fields that are logged under their own name, not under their event's."""

ID_FILE = "wandb_id"


def resolve_mode(mode: str, environment: Mapping[str, str]) -> str:
    """online, offline or disabled, from the setting and the environment; never asks.

    auto follows WANDB_MODE if that is set. Without a key, online becomes offline.
    """
    if mode == "auto":
        wanted = environment.get("WANDB_MODE", "online")
        mode = wanted if wanted in ("offline", "disabled") else "online"
    if mode == "online" and not _has_key(environment):
        return "offline"
    return mode


def _has_key(environment: Mapping[str, str]) -> bool:
    if environment.get("WANDB_API_KEY"):
        return True
    host = urlparse(environment.get("WANDB_BASE_URL", "")).hostname or "api.wandb.ai"
    try:
        return netrc.netrc(environment.get("NETRC")).authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False


class WandbSink:
    """Sends the events of one run directory to one wandb run, over all starts of the run.

    `config` is what wandb shows as the run's settings; `notify` gets the address of the run and
    the one warning. `module` is a test's stand-in for wandb.
    """

    def __init__(
        self,
        run_dir: Path,
        settings: LoggingConfig,
        config: Mapping[str, Any],
        notify: Callable[[str], None] = print,
        module: Any = None,
    ) -> None:
        self._run_dir = run_dir
        self._settings = settings
        self._config = dict(config)
        self._notify = notify
        self._module = module
        self._warned = False
        self._queue: queue.Queue[dict[str, Any] | None] = queue.Queue(QUEUE_EVENTS)
        self._off = threading.Event()
        self._exit_code = 0
        self._mode = resolve_mode(settings.wandb, os.environ)
        self._thread = threading.Thread(target=self._work, name="wandb", daemon=True)
        if self._mode == "disabled":
            self._off.set()
            return
        if self._mode != settings.wandb == "online":
            self._warn("no key is configured (wandb login); writing offline")
        self._thread.start()

    def log(self, event: str, fields: Fields) -> None:
        """Queues one event; drops it, with one warning, if wandb is too far behind."""
        if self._off.is_set():
            return
        figures = {
            name if name in COUNTERS else f"{event}/{name}": plain(value)
            for name, value in fields.items()
        }
        try:
            self._queue.put_nowait(figures)
        except queue.Full:
            self._warn("not keeping up; events are dropped")

    def close(self, timeout_s: float, exit_code: int = 0) -> None:
        """Ends the wandb run, waiting for at most `timeout_s` seconds."""
        if not self._thread.is_alive():
            return
        self._exit_code = exit_code
        try:
            self._queue.put_nowait(None)
        except queue.Full:
            self._off.set()
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            self._warn("did not finish in time; `wandb sync` can upload what is on disk")
        self._off.set()

    def _work(self) -> None:
        """The thread: starts the wandb run, then logs until the end or the first failure."""
        try:
            run = self._start()
            while (figures := self._queue.get()) is not None and not self._off.is_set():
                run.log(figures)
            run.finish(exit_code=self._exit_code)
        except BaseException as error:  # a failing wandb must not reach the run, whatever it raises
            self._warn(f"switched off after {type(error).__name__}: {_first_line(error)}")
        finally:
            self._off.set()

    def _start(self) -> Any:
        wandb = self._module or importlib.import_module("wandb")
        try:
            run = self._init(wandb, self._mode)
        except Exception as error:
            if self._mode != "online":
                raise
            self._warn(f"cannot go online ({_first_line(error)}); writing offline")
            wandb.teardown()
            run = self._init(wandb, "offline")
        run.define_metric("env_steps")
        run.define_metric("*", step_metric="env_steps")
        if not run.offline:
            self._notify(f"wandb: {run.url}")
        return run

    def _init(self, wandb: Any, mode: str) -> Any:
        return wandb.init(
            project=self._settings.wandb_project,
            entity=self._settings.wandb_entity,
            id=self._run_id(),
            name=self._run_dir.name,
            dir=str(self._run_dir),
            config=self._config,
            mode=mode,
            resume="allow",
            settings=wandb.Settings(console="off", silent=True, init_timeout=INIT_TIMEOUT_S),
        )

    def _run_id(self) -> str:
        """The id of the wandb run, made at the first start and kept in the run directory."""
        path = self._run_dir / ID_FILE
        if path.exists():
            return path.read_text(encoding="utf-8").strip()
        fresh = uuid.uuid4().hex[:12]
        path.write_text(fresh + "\n", encoding="utf-8")
        return fresh

    def _warn(self, text: str) -> None:
        if not self._warned:
            self._warned = True
            self._notify(f"warning: wandb: {text}")


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["no message"])[0]
