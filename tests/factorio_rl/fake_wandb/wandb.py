"""A stand-in for wandb, found by the process of the sink: records calls, and fails as it is told.

FAKE_WANDB is `FAULT CALL`: the fault (raise, exit, abort, hang, print) at the call (import, init,
init online, log, finish). Calls go to the file FAKE_WANDB_RECORD, one JSON list per line.
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
    def __init__(self, mode: str) -> None:
        self.offline = mode == "offline"
        self.url = "https://wandb.example/run"

    def define_metric(self, name: str, step_metric: str | None = None) -> None:
        _record("define_metric", name, step_metric)

    def log(self, figures: dict[str, Any]) -> None:
        _at("log")
        _record("log", figures)

    def finish(self, exit_code: int) -> None:
        _at("finish")
        _record("finish", exit_code)


def init(**options: Any) -> _Run:
    _record("init", options)
    _at("init")
    _at(f"init {options['mode']}")
    return _Run(options["mode"])


def teardown() -> None:
    _record("teardown")


_record("import", os.getpid(), os.getsid(0))
_at("import")
