"""The metrics file of a run: one JSON object per line, appended as the run goes.

In: an event name and flat fields (`chunk`, `env_steps`, `learner_updates`, then figures). Out:
lines of `metrics.jsonl`, always valid JSON: a float that is not finite becomes null and its name
stands in `non_finite`. Lines that a full or broken disk does not take wait in memory and follow,
in order, as soon as it does; the run goes on. No jax.
"""

import errno
import json
import math
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Any, NoReturn

from envs.atomic_file import write_atomically

Fields = Mapping[str, Any]
"""Flat figures of one event: numbers, text, or arrays of one element."""

UNTRAINED_EVENT = "eval_untrained"
"""The event that stands apart from the order: it tells of no updates, after those of imitation."""

WAITING_LINES = 10_000
"""Lines that are kept while the disk takes none; beyond it the oldest are lost, and counted."""


def is_time_field(name: str) -> bool:
    """Whether a field holds seconds, a rate per second or a share of time: no two runs share it."""
    return name in ("time", "device_busy") or name.endswith("_s")


def plain(value: Any) -> Any:
    """A number out of an array of one element (numpy or jax); anything else as it is."""
    return value.item() if hasattr(value, "item") else value


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The records of a metrics file in order; lines cut short by a kill are left out."""
    return [record for _, record in _records(path)]


def parse_metrics(text: str) -> list[dict[str, Any] | None]:
    """The record of each line of a metrics file; None for one that is no record."""
    return [_record(line) for line in text.splitlines()]


class MetricsLog:
    """Appends records to a file; what it cannot write it writes later.

    `warn` gets the text of a warning; `clock` gives the `time` field, unix seconds. Nothing but
    that field depends on the clock.
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
        self._waiting: deque[tuple[str, dict[str, Any]]] = deque()
        self._line_is_open = _ends_inside_a_line(path)
        self._failures = 0  # in a row
        self._written = 0  # lines since the first of them
        self._lost = 0  # lines since then

    def write(self, event: str, fields: Fields) -> None:
        """Appends one record; it has reached the operating system, or waits in memory."""
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
        self._waiting.append((json.dumps(record, allow_nan=False), record))
        if len(self._waiting) > WAITING_LINES:
            self._waiting.popleft()
            self._lost += 1
        self._write_waiting()

    def has(self, event: str) -> bool:
        """Whether there is a record of such an event, in the file or waiting."""
        return self._holds(lambda record: record.get("event") == event)

    def has_progress(self) -> bool:
        """Whether there is a record of a chunk, in the file or waiting."""
        return self._holds(lambda record: _count(record, "chunk") > 0)

    def _holds(self, is_meant: Callable[[Mapping[str, Any]], bool]) -> bool:
        try:
            in_file = _records(self._path)
        except OSError:
            in_file = []
        return any(is_meant(record) for _, record in (*in_file, *self._waiting))

    def close(self) -> None:
        """Tries once more what still waits, and says what is lost now."""
        if self._waiting:
            self._write_waiting()
        if self._waiting:
            self._warn(f"{len(self._waiting)} lines of {self._path} could not be written")

    def truncate_after(self, learner_updates: int, *, scored: bool) -> None:
        """Drops records made after the checkpoint of so many updates that the run goes on from.

        A checkpoint that is not `scored` was saved before its evaluation was finished: the record
        of that one is dropped too, since it is made again. A number below 0 drops all: the run
        starts over.
        """

        def is_kept(record: Mapping[str, Any]) -> bool:
            at = _count(record, "learner_updates")
            is_made_again = not scored and record.get("event") == "eval" and at == learner_updates
            return at <= learner_updates and not is_made_again

        self._waiting = deque(entry for entry in self._waiting if is_kept(entry[1]))
        try:
            lines = _lines(self._path)
            kept = [
                (line, record) for line, record in lines if record is not None and is_kept(record)
            ]
            if learner_updates >= 0:
                # A kill cuts the last line.
                unreadable = sum(record is None for _, record in lines[:-1])
                self._warn_if_damaged([record for _, record in kept], unreadable)
            _replace(self._path, "".join(line + "\n" for line, _ in kept).encode())
            self._line_is_open = False
        except FileNotFoundError:
            if learner_updates >= 0:
                self._warn(f"{self._path} is gone, and with it the lines before the checkpoint")
        except OSError as error:
            self._complain(error)

    def _warn_if_damaged(self, kept: Sequence[Mapping[str, Any]], unreadable: int) -> None:
        """Warns where lines before the checkpoint are not those that a run writes in order."""
        marks = [
            (_count(record, "learner_updates"), _count(record, "chunk"))
            for record in kept
            if record.get("event") != UNTRAINED_EVENT
        ]
        trained = [chunk for record in kept if (chunk := _trained_chunk(record)) > 0]
        problems = [
            (not kept, "it has no line of before the checkpoint"),
            (unreadable > 0, f"{unreadable} lines of it are no records and are left out"),
            (marks != sorted(marks), "its lines are not in the order of a run"),
            (len(trained) != len(set(trained)), "it has lines twice"),
        ]
        for is_there, problem in problems:
            if is_there:
                self._warn(f"{self._path} was changed since the run wrote it: {problem}")

    def _write_waiting(self) -> None:
        """Writes the waiting lines in order; each leaves the queue once the file has it."""
        try:
            with self._path.open("ab", buffering=0) as file:
                while self._waiting:
                    self._append(file, self._waiting[0][0])
                    self._waiting.popleft()
                    self._written += 1
        except OSError as error:
            self._complain(error)
            return
        if self._failures:
            self._warn(
                f"{self._path} is written again: {self._written - 1} lines came late, "
                f"{self._lost} are lost"
            )
        self._failures = self._written = self._lost = 0

    def _append(self, file: FileIO, line: str) -> None:
        """Writes one line, whole or not at all. Raises OSError."""
        size = os.fstat(file.fileno()).st_size
        opening = "\n" if self._line_is_open and size else ""
        data = f"{opening}{line}\n".encode()
        written = file.write(data)
        # A line that lacks but its end is a line; the next one ends it.
        self._line_is_open = written < len(data)
        if written >= len(data) - 1:
            return
        # A disk with room for a part of it; should the cut fail, the next line begins with an end.
        file.truncate(size)
        self._line_is_open = bool(opening)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _complain(self, error: OSError) -> None:
        """Warns of the first failure in a row, the second, the fourth and so on."""
        self._failures += 1
        if self._failures & (self._failures - 1) == 0:
            self._warn(
                f"cannot write {self._path}: {error.strerror}; the run goes on, "
                f"{len(self._waiting)} lines wait in memory, {self._lost} are lost"
            )


def _replace(path: Path, kept: bytes) -> None:
    """Leaves these bytes in a file; where it begins with them it is cut, which needs no room."""
    if path.read_bytes().startswith(kept):
        os.truncate(path, len(kept))
    else:
        write_atomically(path, [kept])


def _records(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """(line, record) of each whole line."""
    return [(line, record) for line, record in _lines(path) if record is not None]


def _lines(path: Path) -> list[tuple[str, dict[str, Any] | None]]:
    """(line, record) of each line; None for one that is no record."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return [(line, _record(line)) for line in text.splitlines()]


def _record(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _refuse_constant(name: str) -> NoReturn:
    """NaN and infinity, which Python reads and JSON does not have."""
    raise ValueError(f"{name} is no JSON")


def _count(record: Mapping[str, Any], name: str) -> int:
    """A counter of a record; 0 where it has none."""
    value = record.get(name, 0)
    return value if isinstance(value, int) else 0


def _trained_chunk(record: Mapping[str, Any]) -> int:
    """The chunk that a record of training is of; 0 for all others."""
    return _count(record, "chunk") if record.get("event") == "train" else 0


def _ends_inside_a_line(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except OSError:
        return False
