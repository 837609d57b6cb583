"""`tasks show`: a table of tasks and a sheet of pictures, with references where known. Jax-free.

In: the name of a held-out set, a pool file or a task file. Out: a table on standard output, a
picture on request.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Column, Table

from envs.errors import UserError
from envs.heldout import HELDOUT_SETS, load_heldout
from envs.labels import rate_text, short_name
from envs.pool_file import is_pool_file, open_pool
from envs.render import render_png, render_sheet
from envs.solved import Solved, difficulty
from envs.suggestion import nearest
from envs.task_file import read_entries
from envs.task_problems import errors_of
from envs.task_spec import Placement, TaskSpec, layout_of
from factorio_rl.pictures import check_picture_path, save_picture
from factorio_rl.printing import counted, printing
from factorio_rl.tasks_validate import problems_of

SHEET_COLUMNS = 4

SHEET_SCALE_PX = 36
"""Pixels per cell of a sheet."""


class Shown(NamedTuple):
    """A task to show: what it is called, and its reference, empty where none is known.

    Where no rate is asked for, the target rate is an upper bound.
    """

    name: str
    spec: TaskSpec
    placements: tuple[Placement, ...]
    target_is_bound: bool = False


class TaskSource(NamedTuple):
    """Tasks that can be gone through, and a line about all of them."""

    tasks: Iterator[Shown]
    about: str


def show(argument: str, *, png: Path | None, family: str | None, first: int, count: int) -> int:
    """Prints tasks and draws them; the exit code. Raises UserError."""
    if png is not None:
        check_picture_path(png)
    source = open_source(argument)
    seen: Counter[str] = Counter()

    def of_family() -> Iterator[Shown]:
        for task in source.tasks:
            seen[task.spec.family] += 1
            if family in (None, task.spec.family):
                yield task

    shown = list(islice(of_family(), first, first + count))
    if not shown and family is not None and family not in seen:
        raise UserError(f"{argument} has no task of family {family!r}; {nearest(family, seen)}")
    if not shown:
        have = seen[family] if family else seen.total()
        raise UserError(f"--first is {first}, and there are {have} tasks; give less than that")
    _print_table(shown, source.about)
    if png is not None:
        save_picture(sheet(shown), png)
        print(f"wrote {png}")
    return 0


def open_source(argument: str) -> TaskSource:
    """The tasks of a held-out set by name, of a pool file or of a task file. Raises UserError."""
    path = Path(argument)
    if argument in HELDOUT_SETS:
        heldout = load_heldout(argument)
        return TaskSource(
            _numbered(heldout.tasks),
            f"held-out set {argument}: {len(heldout.tasks):,} tasks, SHA-256 {heldout.sha256}",
        )
    try:
        is_pool = is_pool_file(path)
    except OSError as error:
        raise UserError(
            f"{argument} is no held-out set ({', '.join(HELDOUT_SETS)}) and no file that can be "
            f"read ({error.strerror}); give one of these"
        ) from None
    if is_pool:
        pool = open_pool(path)
        about = (
            f"pool {path}: {len(pool):,} tasks, seed {pool.manifest['seed']}, generator "
            f"{pool.manifest['generator_version']}, SHA-256 {pool.manifest['sha256']}"
        )
        return TaskSource(_numbered(pool), about)
    entries = read_entries(path)
    wrong = [entry.name for entry in entries if errors_of(problems_of(entry))]
    if wrong:
        raise UserError(
            f"{path} has tasks that cannot be used ({', '.join(wrong[:5])}); see "
            f"python -m factorio_rl tasks validate {path}"
        )
    shown = (
        Shown(entry.name, entry.spec, entry.placements, entry.target_is_bound)
        for entry in entries
        if entry.spec is not None
    )
    return TaskSource(shown, f"task file {path}: {counted(len(entries), 'task')}")


def sheet(shown: Sequence[Shown]) -> Any:
    """Pictures of tasks with their references, in rows."""
    return render_sheet([_picture(task) for task in shown], SHEET_COLUMNS)


def _numbered(tasks: Any) -> Iterator[Shown]:
    for number in range(len(tasks)):
        solved = tasks[number]
        yield Shown(str(number), solved.spec, solved.placements)


def _picture(task: Shown) -> Any:
    most = "at most " if task.target_is_bound else ""
    caption = f"wanted {most}{rate_text(task.spec.target_rate)}"
    if task.placements:
        found = difficulty(Solved(task.spec, task.placements))
        caption += f"; {found.placements} placements, depth {found.depth}"
    return render_png(
        layout_of(task.spec, task.placements),
        blocked=task.spec.blocked,
        title=f"{task.name} {task.spec.family}: {short_name(task.spec.target_item)}",
        caption=caption,
        scale=SHEET_SCALE_PX,
    )


def _print_table(shown: Sequence[Shown], about: str) -> None:
    numbers = ("placements", "machines", "depth", "path", "limit", "blocked")
    table = Table(
        "task",
        Column("family", no_wrap=True),
        Column("wanted", no_wrap=True),
        Column("items/s", justify="right"),
        *(Column(name, justify="right") for name in numbers),
    )
    for task in shown:
        spec = task.spec
        figures = ["-"] * 4
        if task.placements:
            found = difficulty(Solved(spec, task.placements))
            values = (found.placements, found.machines, found.depth, found.path_length)
            figures = [str(value) for value in values]
        most = "at most " if task.target_is_bound else ""
        rate = most + rate_text(spec.target_rate).replace(" items/s", "")
        limits = (str(spec.placement_limit), str(len(spec.blocked)))
        table.add_row(task.name, spec.family, short_name(spec.target_item), rate, *figures, *limits)
    with printing() as console:
        console.print(table)
        console.print(about, soft_wrap=True, markup=False)
