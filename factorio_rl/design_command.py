"""The command `design`: a trained agent designs a module for a task that a player writes.

In: a task file, an agent, perhaps what stands already. Out: the verified layout as a table, and
in a folder as layout, picture, blueprint strings, page and result.
"""

import argparse
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envs.errors import UserError
from factorio_rl.argument_types import MAX_SIMULATIONS, cell, place, seconds, whole_number

if TYPE_CHECKING:
    from envs.task_file import TaskEntry
    from factorio_rl.design_answer import DesignAnswer
    from factorio_rl.design_play import Order
    from factorio_rl.design_search import Designed, Goal
    from factorio_rl.preemption import StopRequest

MISSED = 1
"""Exit code where the target is missed, or nothing arrives."""

MAX_ATTEMPTS = 4096
MAX_BUDGET_S = 30 * 24 * 3600.0


def add_parser(commands: Any) -> None:
    """Adds `design` to the subcommands of a parser."""
    parser = commands.add_parser(
        "design",
        help="design a module for a task of yours with a trained agent",
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("--task", type=place, help="task file; --example writes one")
    parser.add_argument("--out", type=place, help="folder for layout, blueprints, page and result")
    parser.add_argument(
        "--example",
        nargs="?",
        const=Path("-"),
        type=Path,
        metavar="FILE",
        help="write an example of a task file, or print it, and end",
    )
    parser.add_argument("--run-dir", type=Path, help="agent: best checkpoint of a run directory")
    parser.add_argument("--agent", type=Path, help="agent: a file; default: the one installed")
    parser.add_argument(
        "--start",
        metavar="LAYOUT",
        help="what stands already and stays: layout JSON, blueprint string, file, or -",
    )
    parser.add_argument(
        "--start-at",
        type=cell,
        metavar="X,Y",
        help="cell of the top left of a blueprint that --start names; default: where it fits",
    )
    _add_effort(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_effort(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--time-budget-s",
        type=seconds(MAX_BUDGET_S),
        default=60.0,
        metavar="S",
        help="longest time for attempts, without compiling; default 60",
    )
    for name, default, most, what in (
        ("--attempts", 32, MAX_ATTEMPTS, "attempts side by side, round after round"),
        ("--num-simulations", 64, MAX_SIMULATIONS, "of the search for a move"),
        ("--seed", 0, 2**31 - 1, "of the random draws"),
    ):
        least = 0 if name == "--seed" else 1
        parser.add_argument(
            name,
            type=whole_number(least, most),
            default=default,
            metavar="N",
            help=f"{what}; default {default}",
        )


def run(options: argparse.Namespace) -> int:
    """Runs the command; the exit code: 0 reached, 1 missed, 130 stopped by Ctrl-C.

    Raises:
        UserError: the task, the start, the agent or the folder cannot be used.
    """
    from factorio_rl.design_files import require_folder
    from factorio_rl.design_task import read_task, with_ways_kept
    from factorio_rl.preemption import StopRequest

    if options.example is not None:
        from factorio_rl.design_example import give_example

        return give_example(None if options.example == Path("-") else options.example)
    for name in ("task", "out"):
        if getattr(options, name) is None:
            raise UserError(f"--{name} is missing; see python -m factorio_rl design --help")
    entry, warnings = read_task(options.task)
    assert entry.spec is not None
    start = _start(options, entry)
    spec, notes = with_ways_kept(entry.spec, start)
    require_folder(options.out)
    for warning in (*warnings, *notes):
        _tell(warning)
    # With it jax is loaded, which takes a second.
    from factorio_rl.design_search import Goal

    goal = Goal(
        spec,
        target_is_bound=entry.target_is_bound,
        start=start,
        budget_s=options.time_budget_s,
        seed=options.seed,
    )
    with StopRequest() as stop:
        designed, agent = _design(options, goal, stop)
        if stop and not designed.attempts:
            _tell("stopped before the first attempt; nothing was written")
            return stop.exit_code
        name = options.task.stem if entry.name == "0" else entry.name
        answer, notes = _answer(name, goal, designed, agent)
        _give(options, answer, notes)
        if stop:
            return stop.exit_code
        return 0 if answer.reached or (answer.target_is_bound and answer.rate) else MISSED


def _start(options: argparse.Namespace, entry: "TaskEntry") -> "Order":
    """What stands already, by the option or else by the task file."""
    named = options.start
    if named is None and entry.start is not None:
        named = str(entry.start)
    if named is None:
        if options.start_at is not None:
            raise UserError("--start-at says where a start lies, and there is none; give --start")
        return ()
    from factorio_rl.design_start import read_start

    assert entry.spec is not None
    start = read_start(named, entry.spec, options.start_at)
    for note in start.notes:
        _tell(note)
    return start.placements


def _design(
    options: argparse.Namespace, goal: "Goal", stop: "StopRequest"
) -> tuple["Designed", str]:
    """The best layout found, and the agent's name."""
    from factorio_rl.agent_file import load_agent
    from factorio_rl.design_bar import DesignBar
    from factorio_rl.design_judge import Judge
    from factorio_rl.design_play import make_player
    from factorio_rl.design_search import search
    from factorio_rl.design_task import require_playable, unfamiliar
    from factorio_rl.device_errors import is_out_of_memory
    from factorio_rl.first_compile import compile_if_needed
    from factorio_rl.runtime import num_threads

    agent = load_agent(options.run_dir, options.agent, tell=_tell)
    require_playable(goal.spec, agent.config.env, agent.label)
    for warning in unfamiliar(goal.spec, agent.config):
        _tell(f"warning: {warning}")
    compile_if_needed()
    player = make_player(
        agent.config, agent.params, goal.spec, options.attempts, options.num_simulations
    )
    judge = Judge(goal.spec, goal.start, num_threads())
    try:
        with DesignBar(goal.spec.target_rate, goal.budget_s) as bar:
            designed = search(goal, player, judge, bar, lambda: bool(stop))
    except (RuntimeError, ValueError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise UserError(
            f"out of memory with {options.attempts} attempts side by side and "
            f"{options.num_simulations} simulations a move; lower --attempts first"
        ) from error
    finally:
        judge.close()
    return designed, agent.label


def _answer(
    name: str, goal: "Goal", designed: "Designed", agent: str
) -> tuple["DesignAnswer", tuple[str, ...]]:
    """The verified answer, and what a player must know about its blueprints."""
    from envs.layout_input import Loaded
    from envs.task_spec import layout_of
    from envs.verifier import TICK_CAP
    from factorio_rl.design_answer import DesignAnswer
    from factorio_rl.design_files import make_blueprints
    from factorio_rl.design_pruning import building_order
    from factorio_rl.verify_answer import answer

    order = building_order(goal.spec, designed.found.order)
    layout = layout_of(goal.spec, order)
    report = answer(Loaded(name, layout), TICK_CAP)
    blueprints, notes = make_blueprints(layout, name)
    made = DesignAnswer(
        name=name,
        spec=goal.spec,
        placements=order,
        target_is_bound=goal.target_is_bound,
        report=report,
        blueprints=blueprints,
        attempts=designed.attempts,
        seconds=designed.seconds,
        agent=agent,
        reached=designed.found.outcome.solved,
        limited_by=report.bottleneck.sentence,
    )
    return made, notes


def _give(options: argparse.Namespace, answer: "DesignAnswer", notes: tuple[str, ...]) -> None:
    """Writes the files and prints the answer."""
    from factorio_rl.design_files import write_files
    from factorio_rl.design_summary import summary
    from factorio_rl.verify_text import print_answer

    settings = {
        "time_budget_s": options.time_budget_s,
        "attempts": options.attempts,
        "num_simulations": options.num_simulations,
        "seed": options.seed,
        "start": options.start,
    }
    result = write_files(options.out, answer, {"settings": settings, "notes": list(notes)})
    for note in notes:
        _tell(f"note: {note}")
    if options.json:
        print(json.dumps(result, allow_nan=False))
        return
    print_answer(answer.report)
    print()
    for line in summary(answer):
        print(line)
    print(f"wrote {', '.join(result['files'])} to {options.out}")


def _tell(text: str) -> None:
    """Not among the results, which a program may read; nothing depends on it."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)
