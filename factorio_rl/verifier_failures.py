"""Layouts that the verifier could not score, in files that reproduce it. Jax-free.

In: tasks, placements, and what went wrong. Out: at most `MAX_FILES` layout files that
`python -m factorio_rl verify` reads, named by their content, and a few warnings. Recording never
fails: a disk that takes no file costs the file, not the run.
"""

import hashlib
import json
import shlex
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from envs.atomic_file import write_text_atomically
from envs.layout_json import layout_to_json
from envs.task_spec import Placement, TaskSpec, layout_of, spec_to_json
from envs.verifier import RULES_VERSION, TICK_CAP

MAX_FILES = 100
"""Files in a folder; further layouts are only counted."""

NOT_EXACT = "NotExact"
"""Kind of a layout without an exact rate; other kinds are names of exceptions."""

MAX_REASON = 300
"""Longest reason in a file or warning, characters."""


class FailureLog:
    """Counts and keeps the layouts of one run; threads may share it."""

    def __init__(self, folder: Path, warn: Callable[[str], None]) -> None:
        """`folder` is made when there is something to write."""
        self._folder = folder
        self._warn = warn
        self._lock = threading.Lock()
        self._counts = Counter[str]()
        self._disk_warned = False

    def record(
        self, spec: TaskSpec, placements: Sequence[Placement], failure: Exception | None
    ) -> None:
        """Takes down a layout that got no rate; without `failure` its rate is not exact (R47)."""
        kind = NOT_EXACT if failure is None else type(failure).__name__
        reason = _reason(failure)
        identity, content = _content(spec, placements, kind, reason)
        with self._lock:
            path = self._write(identity, content)
            self._counts[kind] += 1
            self._tell(kind, reason, path)

    def _write(self, identity: str, content: dict[str, Any]) -> Path | None:
        """The file of a layout; None where there is no room for it."""
        path = self._folder / f"{identity}.json"
        try:
            if path.exists():
                return path
            if len(list(self._folder.glob("*.json"))) >= MAX_FILES:
                return None
            self._folder.mkdir(exist_ok=True)
            write_text_atomically(path, json.dumps(content, indent=1) + "\n")
        except OSError as error:
            self._tell_disk(path, error)
            return None
        return path

    def _tell(self, kind: str, reason: str, path: Path | None) -> None:
        """Warns of the first of a kind, and each time that all are ten times as many."""
        if self._counts[kind] == 1:
            see = "" if path is None else f"; see python -m factorio_rl verify {_quoted(path)}"
            self._warn(f"warning: a layout scores 0 since it got no exact rate: {reason}{see}")
        total = self._counts.total()
        if total >= 10 and total == 10 ** (len(str(total)) - 1):
            kinds = ", ".join(f"{count:,} {name}" for name, count in self._counts.most_common())
            self._warn(
                f"warning: {total:,} layouts score 0 since they got no exact rate ({kinds}); "
                f"the first {MAX_FILES} are in {self._folder}"
            )

    def _tell_disk(self, path: Path, error: OSError) -> None:
        if self._disk_warned:
            return
        self._disk_warned = True
        self._warn(
            f"warning: cannot write {path}: {error.strerror or error}; layouts without an exact "
            "rate are only counted until there is room"
        )


def _reason(failure: Exception | None) -> str:
    """What went wrong, on one line."""
    if failure is None:
        return f"not exact within {TICK_CAP:,} ticks"
    text = " ".join(f"{type(failure).__name__}: {failure}".split())
    return text if len(text) <= MAX_REASON else text[:MAX_REASON] + "..."


def _content(
    spec: TaskSpec, placements: Sequence[Placement], kind: str, reason: str
) -> tuple[str, dict[str, Any]]:
    """(first 16 digits of the hash of the layout, content of its file).

    Placements that are no layout at all have no entities in their file.
    """
    task = spec_to_json(spec)
    numbers = [[put.kind, put.x, put.y, put.rotation] for put in placements]
    try:
        layout = layout_to_json(layout_of(spec, placements))
    except (LookupError, ValueError):
        layout = {}
    identity = hashlib.sha256(
        json.dumps(layout or [task, numbers], sort_keys=True).encode()
    ).hexdigest()[:16]
    about = {
        "name": f"{spec.family} {identity}",
        "kind": kind,
        "reason": reason,
        "rules": RULES_VERSION,
        "family": spec.family,
    }
    return identity, {**about, **layout, "task": task, "placements": numbers}


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
