"""The command `tasks`: builds pools, shows task sets, checks a user's tasks. Jax-free.

In: arguments. Out: a pool file; a table and a sheet of pictures; what is wrong with a file.
"""

import argparse
from pathlib import Path
from typing import Any

from factorio_rl.argument_types import whole_number

DEFAULT_SHOWN = 12


def add_parser(commands: Any) -> None:
    """Adds `tasks` to the subcommands of a parser."""
    parser = commands.add_parser("tasks", help="build, show and check tasks")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    _add_build(actions)
    _add_show(actions)
    _add_validate(actions)


def _add_build(actions: Any) -> None:
    from envs.families import FAMILIES, LARGE_MULTIPLE
    from envs.layout import DEFAULT_SIZE
    from envs.task_checks import MAX_SIDE, MIN_SIDE

    side = whole_number(MIN_SIDE, MAX_SIDE)
    parser = actions.add_parser(
        "build", help="make solved training tasks and write them to a pool file"
    )
    parser.set_defaults(run=_build)
    parser.add_argument("--out", type=Path, required=True, help="pool file to write")
    parser.add_argument(
        "--families",
        nargs="+",
        metavar="NAME",
        default=tuple(FAMILIES),
        help=f"in equal numbers; default: all, which are {', '.join(FAMILIES)}",
    )
    for name, kind, default, what in (
        ("--num-tasks", whole_number(1, 10_000_000), 4096, "how many"),
        ("--seed", whole_number(0, 2**32 - 1), 0, "of the random draws"),
        ("--width", side, DEFAULT_SIZE, "of the grid, cells"),
        ("--height", side, DEFAULT_SIZE, "of the grid, cells"),
        ("--max-blocked", whole_number(0, MAX_SIDE**2), 6, "most blocked cells of a task"),
        ("--placement-limit", whole_number(1, 999), LARGE_MULTIPLE, "or the family's, if lower"),
    ):
        parser.add_argument(
            name, type=kind, metavar="N", default=default, help=f"{what}; default {default}"
        )
    parser.add_argument(
        "--workers", type=whole_number(1, 256), metavar="N", help="processes; default: one a core"
    )


def _add_show(actions: Any) -> None:
    parser = actions.add_parser("show", help="list tasks and draw a sheet of them")
    parser.set_defaults(run=_show)
    parser.add_argument("tasks", help="name of a held-out set, pool file or task file")
    parser.add_argument("--png", type=Path, help="write a sheet of pictures")
    parser.add_argument("--family", help="only tasks of this family")
    parser.add_argument(
        "--num-tasks",
        type=whole_number(1, 400),
        metavar="N",
        default=DEFAULT_SHOWN,
        help=f"how many; default {DEFAULT_SHOWN}",
    )
    parser.add_argument(
        "--first",
        type=whole_number(0, 10_000_000),
        metavar="N",
        default=0,
        help="leave out so many before; default 0",
    )


def _add_validate(actions: Any) -> None:
    parser = actions.add_parser("validate", help="say what is wrong with a task file")
    parser.set_defaults(run=_validate)
    parser.add_argument("file", type=Path, help="task file, YAML or JSON")


def _build(options: argparse.Namespace) -> int:
    from envs.generate import GeneratorSettings
    from factorio_rl.runtime import num_threads
    from factorio_rl.tasks_build import build, known_families

    settings = GeneratorSettings(
        options.width,
        options.height,
        known_families(options.families),
        options.placement_limit,
        options.max_blocked,
    )
    workers = options.workers or num_threads()
    return build(options.out, settings, options.seed, options.num_tasks, workers)


def _show(options: argparse.Namespace) -> int:
    from factorio_rl.tasks_show import show

    return show(
        options.tasks,
        png=options.png,
        family=options.family,
        first=options.first,
        count=options.num_tasks,
    )


def _validate(options: argparse.Namespace) -> int:
    from factorio_rl.tasks_validate import validate

    return validate(options.file)
