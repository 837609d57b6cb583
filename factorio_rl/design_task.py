"""The task of a design, and whether an agent can play it. Jax-free.

In: a task file, an agent's settings. Out: the task; a file that cannot be read, a task that is
impossible, and one that is too large for the agent are refused with every reason.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from envs.errors import UserError
from envs.families import FAMILIES
from envs.layout import DIRECTION_VECTORS
from envs.task_file import TaskEntry, read_entries
from envs.task_problems import errors_of, problems
from envs.task_spec import Placement, TaskSpec
from factorio_rl.config import Config
from factorio_rl.config_sections import EnvConfig
from factorio_rl.tasks_validate import problems_of


class DesignTaskError(UserError):
    """A task that cannot be designed for; the message has a line for each reason."""

    def __init__(self, what: str, reasons: Sequence[str]) -> None:
        separator = " " if len(reasons) == 1 else "\n  "
        super().__init__(separator.join([f"{what}:", *reasons]))


def read_task(path: Path) -> tuple[TaskEntry, list[str]]:
    """The only task of a file, and warnings.

    Raises:
        UserError: the file cannot be read, holds several tasks, or one that is impossible.
    """
    entries = read_entries(path)
    if len(entries) != 1:
        raise DesignTaskError(
            f"task file {path}", [f"it holds {len(entries)} tasks; give a file with one"]
        )
    entry = entries[0]
    found = problems_of(entry)
    if entry.spec is None or entry.faults or errors_of(found):
        raise DesignTaskError(f"task file {path}", found)
    return entry, found


def with_ways_kept(spec: TaskSpec, start: Iterable[Placement]) -> tuple[TaskSpec, list[str]]:
    """The task with the cells blocked that belts to and from ports inside the grid need, and notes.

    A sink inside gives its items to the cell ahead of it, a source gets them from the cell behind:
    with a piece of the module there, nothing could be joined. Where the task would then be
    impossible, or something of the start stands there, the cell stays free, and a note says so.
    """
    taken = {*spec.blocked, *((port.x, port.y) for port in spec.ports)}
    built = {cell for put in start for cell in put.cells()}
    notes, found = [], spec
    for port in spec.ports:
        dx, dy = DIRECTION_VECTORS[port.direction]
        ahead = 1 if port.is_sink else -1
        x, y = port.x + ahead * dx, port.y + ahead * dy
        if not (0 <= x < spec.width and 0 <= y < spec.height) or (x, y) in taken:
            continue
        kept = replace(found, blocked=tuple(sorted({*found.blocked, (x, y)})))
        what = f"({x}, {y}), where a belt joins the {'output' if port.is_sink else 'input'}"
        if (x, y) in built or errors_of(problems(kept)):
            notes.append(f"warning: {what} at ({port.x}, {port.y}), may be built on")
        else:
            found = kept
            notes.append(f"kept free: {what} at ({port.x}, {port.y})")
    return found, notes


def require_playable(spec: TaskSpec, env: EnvConfig, agent: str) -> None:
    """Raises DesignTaskError for a task with more than an agent can see."""
    sizes = (
        ("items", spec.items, env.item_slots),
        ("recipes", spec.recipes, env.recipe_slots),
        ("ports", spec.ports, env.max_ports),
    )
    reasons = [
        f"the task has {len(entries)} {what}, and it sees {allowed} at most"
        for what, entries, allowed in sizes
        if len(entries) > allowed
    ]
    if reasons:
        advice = "use an agent that was trained on larger tasks (--agent, --run-dir)"
        raise DesignTaskError(f"agent {agent} cannot play this task", [*reasons, advice])


def unfamiliar(spec: TaskSpec, config: Config) -> Iterator[str]:
    """What an agent did not see in training, in one line each."""
    env = config.env
    if (spec.width, spec.height) != (env.width, env.height):
        yield (
            f"the agent was trained on {env.width} x {env.height} cells, and the task has "
            f"{spec.width} x {spec.height}: expect less of it"
        )
    trained = {name for family in config.tasks.families for name in FAMILIES[family].recipes}
    new = [name for name in spec.recipes if name not in trained]
    if new:
        yield (
            f"the agent was not trained on {', '.join(new)} (it was on "
            f"{', '.join(sorted(trained))}): expect less of it"
        )
