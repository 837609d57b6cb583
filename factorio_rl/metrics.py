"""The metrics file of a run: one JSON object per line, appended as the run goes.

In: an event name and flat fields (`chunk`, `env_steps`, `learner_updates`, then figures). Out:
lines of `metrics.jsonl`, always valid JSON: a float that is not finite becomes null and its name
stands in `non_finite`. A full disk costs lines, never the run. No jax.
"""

import json
import math
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Fields = Mapping[str, Any]
"""Flat figures of one event: numbers, text, or arrays of one element."""


def is_time_field(name: str) -> bool:
    """Whether a field holds seconds or a rate per second, which no two runs share."""
    return name == "time" or name.endswith("_s")


def plain(value: Any) -> Any:
    """A number out of an array of one element (numpy or jax); anything else as it is."""
    return value.item() if hasattr(value, "item") else value


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The records of a metrics file in order; lines cut short by a kill are left out."""
    return [record for _, record in _records(path)]


class MetricsLog:
    """Appends records to a file. Write errors warn once and are otherwise ignored.

    `warn` gets the text of a warning; `clock` gives the `time` field, unix seconds.
    """

    def __init__(
        self,
        path: Path,
        warn: Callable[[str], None] = print,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._warn = warn
        self._clock = clock
        self._warned = False
        self._line_is_open = _ends_inside_a_line(path)

    def write(self, event: str, fields: Fields) -> None:
        """Appends one record; it has reached the operating system when this returns."""
        record: dict[str, Any] = {"event": event}
        record |= {name: plain(value) for name, value in fields.items()}
        record["time"] = round(self._clock(), 3)
        non_finite = [
            name
            for name, value in record.items()
            if isinstance(value, float) and not math.isfinite(value)
        ]
        if non_finite:
            record |= dict.fromkeys(non_finite)
            record["non_finite"] = non_finite
        line = json.dumps(record, allow_nan=False) + "\n"
        self._append(("\n" if self._line_is_open else "") + line)

    def truncate_after(self, learner_updates: int) -> None:
        """Drops records made after the checkpoint of so many updates that the run goes on from.

        A number below 0 drops all: the run starts over.
        """
        if not self._path.exists():
            return
        fresh = self._path.with_name(self._path.name + ".tmp")
        try:
            records = _records(self._path)
            kept = [
                line
                for line, record in records
                if record.get("learner_updates", 0) <= learner_updates
            ]
            fresh.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
            os.replace(fresh, self._path)
            self._line_is_open = False
        except OSError as error:
            self._complain(error)

    def _append(self, text: str) -> None:
        data = text.encode()
        try:
            with self._path.open("ab", buffering=0) as file:
                written = file.write(data)
                self._line_is_open = written < len(data)
        except OSError as error:
            self._complain(error)

    def _complain(self, error: OSError) -> None:
        if not self._warned:
            self._warned = True
            self._warn(
                f"cannot write {self._path}: {error.strerror}; the run goes on and keeps trying, "
                "metrics may be missing"
            )


def _records(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """(line, record) of each whole line."""
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(record, dict):
            found.append((line, record))
    return found


def _ends_inside_a_line(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except OSError:
        return False
