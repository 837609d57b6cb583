"""The command `tasks`: builds pools, shows task sets, checks a user's tasks. Jax-free.

In: arguments. Out: a pool file; a table and a sheet of pictures; what is wrong with a file.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    from envs.task_checks import MAX_SIDE, MIN_SIDE

    side = _whole_number(MIN_SIDE, MAX_SIDE)
    parser = actions.add_parser(
        "build",
        help="make solved training tasks and write them to a pool file",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.set_defaults(run=_build)
    parser.add_argument("--out", type=Path, required=True, help="pool file to write")
    parser.add_argument(
        "--families", nargs="+", metavar="NAME", default=list(FAMILIES), help="in equal numbers"
    )
    parser.add_argument("--num-tasks", type=_whole_number(1, 10_000_000), default=4096)
    parser.add_argument("--seed", type=_whole_number(0, 2**32 - 1), default=0)
    parser.add_argument("--width", type=side, default=12, help="of the grid, cells")
    parser.add_argument("--height", type=side, default=12, help="of the grid, cells")
    parser.add_argument(
        "--max-blocked", type=_whole_number(0, MAX_SIDE**2), default=6, help="blocked cells"
    )
    parser.add_argument(
        "--placement-limit",
        type=_whole_number(1, 999),
        default=LARGE_MULTIPLE,
        help="of an episode; a family's own limit may be lower",
    )
    parser.add_argument(
        "--workers",
        type=_whole_number(1, 256),
        default=argparse.SUPPRESS,
        help="processes; one for each core that may be used by default",
    )


def _add_show(actions: Any) -> None:
    parser = actions.add_parser("show", help="list tasks and draw a sheet of them")
    parser.set_defaults(run=_show)
    parser.add_argument("tasks", help="name of a held-out set, pool file or task file")
    parser.add_argument("--png", type=Path, help="write a sheet of pictures")
    parser.add_argument("--family", help="only tasks of this family")
    parser.add_argument(
        "--num-tasks",
        type=_whole_number(1, 400),
        default=DEFAULT_SHOWN,
        help=f"how many; default {DEFAULT_SHOWN}",
    )
    parser.add_argument(
        "--first", type=_whole_number(0, 10_000_000), default=0, help="leave out so many before"
    )


def _add_validate(actions: Any) -> None:
    parser = actions.add_parser("validate", help="say what is wrong with a task file")
    parser.set_defaults(run=_validate)
    parser.add_argument("file", type=Path, help="task file, YAML or JSON")


def _whole_number(low: int, high: int) -> Callable[[str], int]:
    """An argparse type: a whole number within bounds."""

    def convert(text: str) -> int:
        if text.isascii() and text.isdigit() and len(text) <= 12 and low <= int(text) <= high:
            return int(text)
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no whole number from {low} to {high}")

    return convert


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
    workers = getattr(options, "workers", num_threads())
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
