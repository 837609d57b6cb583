"""A sink whose process finds the stand-in for wandb, and what that one was called with."""

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from factorio_rl.config import LoggingConfig
from factorio_rl.wandb_sink import WandbSink

FAKE = Path(__file__).parent / "fake_wandb"
PATIENCE_S = 30


class FakeWandb:
    """Makes sinks of one run directory; knows the calls that their processes made."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.run_dir = folder / "run"
        self.run_dir.mkdir()
        self.texts: list[str] = []
        self._monkeypatch = monkeypatch
        self._record = folder / "record"
        for name in [name for name in os.environ if name.startswith("WANDB_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("NETRC", str(folder / "none"))
        monkeypatch.setenv("PYTHONPATH", str(FAKE))
        monkeypatch.setenv("FAKE_WANDB_RECORD", str(self._record))

    def sink(self, mode: str = "auto", fault: str = "", online: bool = False) -> WandbSink:
        self._monkeypatch.setenv("FAKE_WANDB", fault)
        if online:
            self._monkeypatch.setenv("WANDB_API_KEY", "k")
        settings = LoggingConfig.model_validate({"wandb": mode})
        return WandbSink(self.run_dir, settings, {"a": {"b": 1}}, self.texts.append)

    def calls(self, name: str) -> list[list[Any]]:
        """The arguments of each call of a function, in order."""
        lines = self._record.read_text().splitlines() if self._record.exists() else []
        return [arguments for call, *arguments in map(json.loads, lines) if call == name]

    def logged(self) -> list[Any]:
        return [figures for (figures,) in self.calls("log")]

    def wait_for(self, condition: Callable[[], object]) -> None:
        until_s = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < until_s, self.texts
            time.sleep(0.01)

    def artifacts(self) -> list[Any]:
        """The files of each artifact that was logged."""
        return [files for _, _, files, _ in self.calls("log_artifact")]

    def kill_newest(self) -> None:
        os.kill(self.calls("import")[-1][0], signal.SIGKILL)

    def clean_up(self) -> None:
        """Kills processes that hang, and those that take their place, until no sink is at work."""

        def is_over() -> bool:
            for pid, _ in self.calls("import"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return all(thread.name != "wandb" for thread in threading.enumerate())

        self.wait_for(is_over)
