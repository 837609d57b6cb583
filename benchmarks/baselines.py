"""What a user could do instead of training: planners beside the agent, all through the verifier.

    python -m benchmarks.baselines --num-tasks 108 --run-dir runs/x --calls 100 1000

Flow: task set -> agent (played here or from reports) -> planners from empty, under budgets ->
table and `docs/results/NAME.json`, written anew after every method. Every planner runs (a) with
as many calls of the verifier per task as the agent makes attempts, (b) with as many seconds per
task as the agent takes, and (c) with the further budgets that `--calls` and `--seconds` name. A
planner works on one core per task; seconds of the agent are its batch's wall time over the
number of tasks.

Rows hold means per task: `verifier_calls`, `looks` (layouts that a planner judged by item flow
alone, since nothing can arrive or the working parts are known) and `seconds`. A solved task ends
its search. `reference` is the layout that the generator took the target from: it scores 1 by
construction and shows that the tasks can be solved. Not run: the trained denoiser of the
factorion wheel, since it pins a torch of its own and knows other tasks than these.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.baseline_rows import Method, Row, TaskResult, make_rows, print_table, summary_row
from benchmarks.planners.judge import Budget
from benchmarks.planners.running import PLANNERS, make_workers, run_on_all
from benchmarks.results import command_line, write_results
from envs.errors import UserError
from envs.heldout import HELDOUT_SETS, load_heldout
from envs.solved import Solved
from envs.task_spec import layout_of
from envs.verifier import score_rate


class OptionError(UserError):
    """Options that do not go together."""


def choose_tasks(tasks: Sequence[Solved], count: int | None) -> list[int]:
    """Places of `count` tasks in the set, as many of each family as possible; all if None."""
    if count is None or count >= len(tasks):
        return list(range(len(tasks)))
    seen: dict[str, int] = {}
    turns = []
    for index, task in enumerate(tasks):
        seen[task.spec.family] = seen.get(task.spec.family, 0) + 1
        turns.append((seen[task.spec.family], index))
    return sorted(index for _, index in sorted(turns)[:count])


def reference_results(tasks: Sequence[Solved]) -> list[TaskResult]:
    """The stored layouts, scored."""
    return [
        TaskResult(score_rate(layout_of(task.spec, task.placements)), 1, None, None)
        for task in tasks
    ]


def agent_rows(
    options: argparse.Namespace, tasks: Sequence[Solved], indices: Sequence[int]
) -> list[Row]:
    """Rows of the agent, the raw policy and the untrained network, where options name them."""
    from benchmarks.agent_results import play_run, read_report, reported_results

    name = options.task_set
    if options.run_dir is not None:
        played = play_run(options.run_dir, tasks)
        sims = played.simulations
        return [
            *make_rows(Method("agent", None, sims, 1), name, tasks, played.agent),
            *make_rows(Method("raw_policy", None, None, 1), name, tasks, played.raw_policy),
            *make_rows(Method("untrained", None, sims, 1), name, tasks, played.untrained),
        ]
    rows = []
    attempts, seconds = options.attempts, options.agent_seconds
    placed = dict(zip(indices, tasks, strict=True))
    for method, path in (("agent", options.agent_report), ("untrained", options.untrained_report)):
        if path is None:
            continue
        report = read_report(path, name)
        results = reported_results(report, placed, attempts, seconds)
        described = Method(method, None, report.get("num_simulations"), attempts)
        rows += make_rows(described, name, tasks, results)
        if method == "agent":
            raw = Method("raw_policy", None, None, 1)
            rows.append(summary_row(raw, name, report["raw_policy"], report["n"]))
    return rows


def budgets(options: argparse.Namespace, rows: Sequence[Row]) -> list[Budget]:
    """The budgets of the planners: the agent's calls, the agent's seconds, and the named ones."""
    agent = next((row for row in rows if row["method"] == "agent"), None)
    calls, seconds = list(options.calls), list(options.seconds)
    if agent is not None:
        calls.insert(0, agent["attempts"])
        if agent["seconds"] is not None:
            seconds.insert(0, float(f"{agent['seconds']:.3g}"))
    found = [Budget(calls=count) for count in dict.fromkeys(calls)]
    found += [Budget(seconds=count) for count in dict.fromkeys(seconds)]
    if not found:
        raise OptionError(
            "no budget is given; pass --calls, --seconds, --run-dir or --agent-report"
        )
    return found


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.baselines", description="Planners beside the agent."
    )
    parser.add_argument("--task-set", choices=sorted(HELDOUT_SETS), default="heldout-v1")
    parser.add_argument("--num-tasks", type=_positive_int, help="a part of the set, by family")
    parser.add_argument("--methods", nargs="+", choices=list(PLANNERS), default=list(PLANNERS))
    parser.add_argument("--calls", nargs="+", type=_positive_int, default=[])
    parser.add_argument("--seconds", nargs="+", type=_positive, default=[])
    parser.add_argument("--workers", type=_positive_int, default=1, help="tasks at a time")
    parser.add_argument("--seed", type=int, default=0)
    agent = parser.add_mutually_exclusive_group()
    agent.add_argument("--run-dir", type=Path, help="a run whose best checkpoint is played here")
    agent.add_argument("--agent-report", type=Path, help="a report of an evaluation instead")
    parser.add_argument("--agent-seconds", type=_positive, help="per task, for --agent-report")
    parser.add_argument("--attempts", type=_positive_int, default=1, help="for --agent-report")
    parser.add_argument("--untrained-report", type=Path)
    parser.add_argument("--name", type=_name, default="baselines", help="file in docs/results")
    return parser.parse_args(arguments)


def _name(text: str) -> str:
    if not text.replace("_", "").isalnum():
        raise argparse.ArgumentTypeError(f"{text!r} is no name of letters, digits and _")
    return text


def _positive_int(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is below 1")
    return value


def _positive(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def measure(options: argparse.Namespace, command: str, console: Console) -> list[Row]:
    """Runs everything, writing the rows after each method."""
    every = load_heldout(options.task_set).tasks
    indices = choose_tasks(every, options.num_tasks)
    tasks = [every[index] for index in indices]
    specs = [task.spec for task in tasks]
    rows = make_rows(Method("reference"), options.task_set, tasks, reference_results(tasks))
    rows += agent_rows(options, tasks, indices)
    plan = [(method, budget) for budget in budgets(options, rows) for method in options.methods]
    with make_workers(options.workers) as workers:
        for method, budget in plan:
            found = run_on_all(workers, method, specs, budget, options.seed)
            results = [TaskResult(one.rate, one.calls, one.looks, one.seconds) for one in found]
            rows += make_rows(Method(method, budget), options.task_set, tasks, results)
            path = write_results(options.name, rows, command)
            console.print(f"{method} under {budget}: rows are in {path}")
    return rows


def main(arguments: list[str]) -> int:
    """The exit code."""
    options = parse(arguments)
    console = Console()
    try:
        rows = measure(options, command_line("baselines", arguments), console)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print_table(console, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
