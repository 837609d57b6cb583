"""`tasks validate`: what is wrong with a task file, task by task. Jax-free.

In: a file. Out: lines on standard output, and exit code 2 if anything is wrong.
"""

from pathlib import Path

from envs.errors import UserError
from envs.labels import rate_text
from envs.one_line import one_line
from envs.task_file import TaskEntry, read_entries
from envs.task_problems import errors_of, problems
from envs.task_spec import TaskSpec
from factorio_rl.printing import counted

MAX_SHOWN = 200

MAX_LISTED = 40
"""Most tasks without problems that are listed."""


def validate(path: Path) -> int:
    """Prints what is wrong with the tasks of a file; the exit code. Raises TaskFileError."""
    entries = read_entries(path)
    num_wrong = 0
    for number, entry in enumerate(entries):
        found = problems_of(entry)
        num_wrong += bool(errors_of(found))
        if found or number < MAX_LISTED:
            print(f"task {entry.name}: {_in_short(entry)}")
        for message in found:
            print(f"  {message}")
    tasks = counted(len(entries), "task")
    if num_wrong:
        print(f"{path}: {num_wrong} of {tasks} cannot be used")
        return UserError.exit_code
    print(f"{path}: {tasks}, nothing is wrong")
    return 0


def problems_of(entry: TaskEntry) -> list[str]:
    """Everything that is wrong with a task of a file, warnings last."""
    found = [*entry.faults]
    if entry.start is not None and not entry.start.is_file():
        place = one_line(str(entry.start), MAX_SHOWN)
        found.append(f"start: there is no file {place}; mend its path")
    return [*found, *(problems(entry.spec) if entry.spec is not None else [])]


def _in_short(entry: TaskEntry) -> str:
    """What a task asks for, defaults filled in."""
    spec = entry.spec
    if spec is None:
        return "cannot be read"
    sources = sum(not port.is_sink for port in spec.ports)
    return (
        f"{spec.width} x {spec.height}, {len(spec.blocked)} blocked, {counted(sources, 'source')}, "
        f"{_rate(entry, spec)} of {spec.target_item}, at most {spec.placement_limit} placements"
    )


def _rate(entry: TaskEntry, spec: TaskSpec) -> str:
    if not entry.target_is_bound:
        return rate_text(spec.target_rate)
    if errors_of(problems_of(entry)):
        return "as many as possible"
    return f"as many as possible, {rate_text(spec.target_rate)} at the very most,"
