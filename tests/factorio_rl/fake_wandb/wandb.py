"""A stand-in for wandb, found by the process of the sink: records calls, and fails as it is told.

FAKE_WANDB is `FAULT CALL`: the fault (raise, exit, abort, hang, print) at the call (import, init,
init online, log, Image, log_artifact, finish). Calls go to the file FAKE_WANDB_RECORD, one JSON
list per line.
"""

import json
import os
import sys
import time
from typing import Any

Settings = dict


def _record(*call: Any) -> None:
    with open(os.environ["FAKE_WANDB_RECORD"], "a", encoding="utf-8") as file:
        file.write(json.dumps(call) + "\n")


def _at(call: str) -> None:
    fault, _, faulty = os.environ.get("FAKE_WANDB", "").partition(" ")
    if call != faulty:
        return
    if fault == "raise":
        raise RuntimeError(f"{call} failed\nwith details")
    if fault == "exit":
        sys.exit("no")
    if fault == "abort":
        os._exit(9)
    if fault == "hang":
        time.sleep(600)
    if fault == "print":
        print("wandb speaks", flush=True)
        os.write(2, b"wandb speaks")


class _Run:
    def __init__(self, mode: str, run_id: str) -> None:
        self.id = run_id
        self.offline = mode == "offline"
        self.url = "https://wandb.example/run"

    def define_metric(self, name: str, step_metric: str | None = None) -> None:
        _record("define_metric", name, step_metric)

    def log(self, figures: dict[str, Any]) -> None:
        _at("log")
        images = {name: value.size for name, value in figures.items() if isinstance(value, Image)}
        _record("log", {**figures, **images})

    def log_artifact(self, artifact: "Artifact", aliases: list[str]) -> None:
        _at("log_artifact")
        _record("log_artifact", artifact.name, artifact.metadata, artifact.files, aliases)

    def finish(self, exit_code: int) -> None:
        _at("finish")
        _record("finish", exit_code)


class Image:
    def __init__(self, picture: Any) -> None:
        _at("Image")
        self.size = list(picture.size)


class Artifact:
    def __init__(self, name: str, kind: str, metadata: dict[str, Any]) -> None:
        self.name = f"{kind} {name}"
        self.metadata = metadata
        self.files: dict[str, str] = {}

    def add_file(self, path: str, name: str, skip_cache: bool) -> None:
        assert skip_cache
        with open(path, encoding="utf-8") as file:
            self.files[name] = file.read()


def init(**options: Any) -> _Run:
    _record("init", options)
    _at("init")
    _at(f"init {options['mode']}")
    return _Run(options["mode"], options.get("id", os.environ.get("WANDB_RUN_ID", "")))


def teardown() -> None:
    _record("teardown")


_record("import", os.getpid(), os.getsid(0))
_at("import")
