"""What a run directory tells of its run, for who looks at it from outside. Jax-free.

In: a run directory, of a run that goes on, was resumed, is damaged or old. Out: `RunRecord`. What
cannot be read is left out and named in `problems`; nothing here is trusted but to be text, numbers
and pictures. The run may write while it is read.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs.text_file import open_regular, read_text
from envs.yaml_text import parse_yaml
from factorio_rl.metrics import parse_metrics
from factorio_rl.run_directory import (
    CONFIG_FILE,
    IDENTITY_FILE,
    METRICS_FILE,
    RunDirectory,
    RunDirectoryError,
)
from factorio_rl.run_links import refuse_links

MAX_BYTES = 16 << 20
"""Longest file of JSON or YAML that is read; metrics may be longer."""

MAX_NUMBER = 1e30
"""Figures beyond it are of no run; they are left out."""

NEW_START_S = 30.0
"""Lines of one start of a run agree on when it began, but for a clock that is set."""

Record = Mapping[str, Any]


@dataclass(frozen=True)
class RunRecord:
    """A run as its directory shows it.

    Attributes:
        path: the run directory.
        config: sections of the settings; empty where the file is damaged.
        records: lines of the metrics in order, each with `hours` of training up to it.
        starts: for each start of the run, the position of its first line.
        evaluations: reports of the run's own evaluations by name, in order, `untrained` first.
        others: reports of other evaluations, by name.
        identity, made_with: what it was made with, names and texts.
        problems: what could not be read, a sentence each.
    """

    path: Path
    config: Mapping[str, Any]
    records: tuple[Record, ...]
    starts: tuple[int, ...]
    evaluations: Mapping[str, Record]
    others: Mapping[str, Record]
    identity: Mapping[str, str]
    made_with: Mapping[str, str]
    problems: tuple[str, ...]

    def of_event(self, event: str) -> list[Record]:
        """The records of one event."""
        return [record for record in self.records if record.get("event") == event]

    def setting(self, path: str) -> Any:
        """A setting by its dotted path, None where there is none."""
        value: Any = self.config
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return value


def number(record: Record, name: str) -> float | None:
    """A figure of a record; None where there is none, or no finite one."""
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Compared before it becomes a float: a whole number may be too long for one.
    return float(value) if abs(value) <= MAX_NUMBER else None


def mapping(record: Record, name: str) -> Record:
    """A mapping in a record, empty where there is none."""
    value = record.get(name)
    return value if isinstance(value, Mapping) else {}


def read_run(path: Path) -> RunRecord:
    """Reads a run directory.

    Raises:
        RunDirectoryError: it is none.
        UserError: a link in it leads out of it.
    """
    _require_run(path)
    refuse_links(path)
    problems: list[str] = []
    records, starts = _timed(_metrics(path, problems))
    found = dict(_evaluations(path, problems))
    of_run = {name: report for name, report in found.items() if _is_of_run(name)}
    return RunRecord(
        path,
        _config(path, problems),
        records,
        starts,
        dict(sorted(of_run.items(), key=lambda one: (one[0] != "untrained", one[0]))),
        {name: report for name, report in found.items() if name not in of_run},
        _texts(_json(path / IDENTITY_FILE, problems)),
        _made_with(path),
        tuple(problems),
    )


def _require_run(path: Path) -> None:
    if not (path / CONFIG_FILE).is_file():
        RunDirectory(path).require_config()
        raise RunDirectoryError(
            f"{path} is no run directory: its {CONFIG_FILE} is no file; "
            "give the directory of a run that train.py made"
        )


def _config(path: Path, problems: list[str]) -> Mapping[str, Any]:
    try:
        config = parse_yaml(read_text(path / CONFIG_FILE, MAX_BYTES))
    except ValueError as error:
        problems.append(f"{CONFIG_FILE} cannot be read: {error}")
        return {}
    if not isinstance(config, Mapping):
        problems.append(f"{CONFIG_FILE} has no sections")
        return {}
    return config


def _metrics(path: Path, problems: list[str]) -> list[Record]:
    try:
        with open_regular(path / METRICS_FILE) as file:
            text = file.read().decode(errors="replace")
    except OSError as error:
        problems.append(f"{METRICS_FILE} cannot be read: {error.strerror}")
        return []
    parsed = parse_metrics(text)
    if parsed and parsed[-1] is None and not text.endswith("\n"):
        parsed.pop()  # the run is writing it
    damaged = sum(record is None for record in parsed)
    if damaged:
        problems.append(f"{damaged} of {len(parsed)} lines of {METRICS_FILE} are damaged")
    return [record for record in parsed if record is not None]


def _timed(records: list[Record]) -> tuple[tuple[Record, ...], tuple[int, ...]]:
    """The records with `hours` over all starts, and where starts begin."""
    timed, starts = [], []
    began_s, before_s, last_s = None, 0.0, 0.0
    for position, record in enumerate(records):
        elapsed_s, time_s = number(record, "elapsed_s"), number(record, "time")
        if elapsed_s is not None and time_s is not None:
            begin_s = time_s - elapsed_s
            if began_s is None or abs(begin_s - began_s) > NEW_START_S:
                starts.append(position)
                before_s, began_s = before_s + last_s, begin_s
            last_s = elapsed_s
        timed.append({**record, "hours": (before_s + last_s) / 3600})
    return tuple(timed), tuple(starts)


def _evaluations(path: Path, problems: list[str]) -> Iterator[tuple[str, Record]]:
    folder = path / "eval"
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        report = _json(file, problems)
        if report:
            yield file.stem, report


def _is_of_run(name: str) -> bool:
    return name == "untrained" or name.removeprefix("chunk-").isdecimal()


def _json(file: Path, problems: list[str]) -> Record:
    """A JSON object in a file; empty, with a word in `problems`, where it holds none."""
    try:
        content = json.loads(read_text(file, MAX_BYTES))
        if isinstance(content, dict):
            return content
        reason = "is no JSON object"
    except (ValueError, RecursionError) as error:
        reason = f"cannot be read: {error}"
    problems.append(f"{file.name} {reason}")
    return {}


def _made_with(path: Path) -> Mapping[str, str]:
    """Versions and device that the newest checkpoint names; empty without one."""
    folder = path / "checkpoints"
    steps = [one for one in folder.iterdir() if one.name.isdecimal()] if folder.is_dir() else []
    for step in sorted(steps, key=lambda one: -int(one.name)):
        made = mapping(_json(step / "manifest.json", []), "made_with")
        if made:
            return _texts(made)
    return {}


def _texts(record: Record) -> dict[str, str]:
    return {str(name): str(value) for name, value in record.items()}
