"""Tasks that a user writes: YAML or JSON files with one task or several. Jax-free.

In: a file. Out: tasks; a file of another form is refused with everything that is wrong in it and
the nearest known key. A task is brief (`task_brief`) or says everything (`task_fields`). Also read
is the form of held-out sets, whose tasks have references. Whether a task makes sense is for
`task_problems.problems` to say. The format: docs/tasks.md.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs.blueprint.text import shown
from envs.errors import UserError
from envs.task_brief import is_brief, read_brief
from envs.task_fields import Faults, Fields, read_placements, read_spec
from envs.task_spec import Placement, TaskSpec
from envs.text_file import UnreadableError, read_text
from envs.yaml_text import parse_yaml

MAX_BYTES = 4 << 20
"""Longest file that is read."""

MAX_TASKS = 10_000
"""Most tasks of a file."""

_SET_KEYS = ("manifest", "tasks")
_SOLVED_KEYS = ("spec", "placements", "difficulty")


class TaskFileError(UserError):
    """A task file that cannot be read; the message has a line for each problem."""

    def __init__(self, path: Path, faults: Sequence[str]) -> None:
        separator = " " if len(faults) == 1 else "\n  "
        super().__init__(separator.join([f"task file {path}:", *faults]))


@dataclass(frozen=True)
class TaskEntry:
    """One task of a file.

    Attributes:
        name: its own, else its number in the file from 0 on.
        spec: None where a value is missing or not allowed.
        placements: its reference; empty where the file has none.
        faults: what is wrong with its form.
        target_is_bound: no rate was asked for; the target is one that no layout exceeds.
        start: file of what stands already; None where the task has none.
    """

    name: str
    spec: TaskSpec | None
    placements: tuple[Placement, ...]
    faults: tuple[str, ...]
    target_is_bound: bool = False
    start: Path | None = None


def read_task_file(path: Path) -> list[TaskSpec]:
    """The tasks of a file. Raises TaskFileError, which names every fault of their form."""
    entries = read_entries(path)
    faults = [f"task {entry.name}: {fault}" for entry in entries for fault in entry.faults]
    if faults:
        raise TaskFileError(path, faults)
    return [entry.spec for entry in entries if entry.spec is not None]


def read_entries(path: Path) -> list[TaskEntry]:
    """The tasks of a file with the faults of each. Raises TaskFileError if there are none."""
    content = _parse(path, _read(path))
    entries = content
    if isinstance(content, Mapping):
        entries = [content]
        if "tasks" in content:
            foreign = [key for key in content if key not in _SET_KEYS]
            if foreign:
                raise TaskFileError(
                    path, [f"got {', '.join(map(shown, foreign))} beside tasks; give tasks alone"]
                )
            entries = content["tasks"]
    if not isinstance(entries, list) or not 1 <= len(entries) <= MAX_TASKS:
        got = f"{len(entries)} tasks" if isinstance(entries, list) else shown(entries)
        raise TaskFileError(
            path,
            [f"got {got}; give a task (product, inputs, output), or a list of 1 to {MAX_TASKS:,}"],
        )
    return [_entry(path.parent, str(number), entry) for number, entry in enumerate(entries)]


def _entry(folder: Path, number: str, obj: object) -> TaskEntry:
    if not isinstance(obj, Mapping):
        return TaskEntry(number, None, (), (f"got {shown(obj)}; a task is keys with values",))
    fields = Fields(obj, Faults())
    if is_brief(obj):
        name = fields.text("name", "a name", number)
        brief = read_brief(fields)
        # Absolute, lest it could stand for standard input or for a blueprint string.
        start = (folder / brief.start).absolute() if brief.start is not None else None
        faults = fields.faults.all()
        return TaskEntry(name, brief.spec, (), faults, brief.target_is_bound, start)
    placements: object = ()
    inner = fields
    if "spec" in obj:
        fields.refuse_unknown(_SOLVED_KEYS)
        inner, placements = fields.mapping("spec"), obj.get("placements", ())
    name = inner.text("name", "a name", number)
    spec = read_spec(inner)
    reference = read_placements(placements, spec, fields.faults) if spec else ()
    return TaskEntry(name, spec, reference, fields.faults.all())


def _read(path: Path) -> str:
    try:
        return read_text(path, MAX_BYTES, "give a YAML file")
    except UnreadableError as error:
        raise TaskFileError(path, [str(error)]) from None


def _parse(path: Path, text: str) -> Any:
    """The value of a YAML text, or of JSON where the file's name ends so."""
    is_json = path.suffix.lower() == ".json"
    try:
        return json.loads(text, object_pairs_hook=_unique) if is_json else parse_yaml(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise TaskFileError(path, [f"is no JSON: {error.msg} ({where})"]) from None
    except RecursionError:
        raise TaskFileError(path, ["is nested too deeply"]) from None
    except ValueError as error:
        raise TaskFileError(path, [f"is no {'JSON' if is_json else 'YAML'}: {error}"]) from None


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; a key that stands twice is refused. Raises ValueError."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {shown(key)} stands twice; remove one")
        found[key] = value
    return found
