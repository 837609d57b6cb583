"""What the agent does on a task set: from a report of an evaluation, or played here.

In: a report file, or a run directory. Out: results per task. The agent makes one greedy attempt
per task, all tasks as one batch; its seconds per task are the batch's wall time, after compilation
and with the verifier, divided by the number of tasks.
"""

import json
import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import jax

from benchmarks.baseline_rows import TaskResult
from envs.errors import UserError
from envs.solved import Solved
from envs.types import stack_tasks, task_arrays
from factorio_rl import runtime
from factorio_rl.checkpoint import CheckpointStore
from factorio_rl.config import Config
from factorio_rl.config_file import fixed_settings
from factorio_rl.env_shape import env_shape
from factorio_rl.evaluation import GreedyPlay
from factorio_rl.learner import start_learner
from factorio_rl.loop_state import start_counters
from factorio_rl.model import make_predict
from factorio_rl.network import Params, make_network
from factorio_rl.run_directory import RunDirectory
from factorio_rl.scoring import Scorer


class ReportError(UserError):
    """A report that cannot be used for a task set."""


class Played(NamedTuple):
    """What a run's networks do on the tasks.

    Attributes:
        agent: trained, with search.
        raw_policy: trained, without search.
        untrained: at the start of training, with search.
        simulations: of the search.
    """

    agent: list[TaskResult]
    raw_policy: list[TaskResult]
    untrained: list[TaskResult]
    simulations: int


def read_report(path: Path, task_set: str) -> dict[str, Any]:
    """The report of an evaluation on a task set. Raises ReportError."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        found = report["task_set"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReportError(
            f"{path} is no report of an evaluation ({error!r}); give a file of a run's eval folder"
        ) from None
    if found != task_set:
        raise ReportError(
            f"{path} is a report on {found}, not on {task_set}; give --task-set {found}"
        )
    return report


def reported_results(
    report: dict[str, Any],
    tasks: Mapping[int, Solved],
    attempts: int,
    seconds: float | None,
) -> list[TaskResult]:
    """Results on some tasks of the set. Raises ReportError where it does not hold them.

    Args:
        tasks: by their places in the set.
        attempts: finished layouts per task, each a call of the verifier.
        seconds: per task.
    """
    entries = {entry["id"]: entry for entry in report["tasks"]}
    results = []
    for index, task in tasks.items():
        name = f"{report['task_set']}/{index}"
        entry = entries.get(name)
        if entry is None or Fraction(entry["target"]) != task.spec.target_rate:
            fault = "lacks" if entry is None else "has another target for"
            raise ReportError(
                f"the report has {len(entries)} tasks and {fault} {name}; "
                "evaluate anew on the whole set"
            )
        rate = None if entry["rate"] is None else Fraction(entry["rate"])
        results.append(TaskResult(rate, attempts, None, seconds))
    return results


def play_run(path: Path, tasks: Sequence[Solved]) -> Played:
    """Plays the best checkpoint of a run. Raises UserError where it or the tasks do not fit."""
    directory = RunDirectory(path)
    config = directory.require_config()
    runtime.quiet_libraries()
    runtime.enable_compilation_cache(config.run.compilation_cache)
    network = make_network(config.network)
    start = start_learner(config, network, jax.random.key(config.run.seed))
    store = CheckpointStore(directory.checkpoints, fixed_settings(config))
    like = {"learner": start, "counters": start_counters()}
    trained = store.load(store.best_step(print), like)["learner"].params
    return Played(
        _play(config, trained, tasks, use_search=True),
        _play(config, trained, tasks, use_search=False),
        _play(config, start.params, tasks, use_search=True),
        config.eval.num_simulations,
    )


def _play(
    config: Config, params: Params, tasks: Sequence[Solved], *, use_search: bool
) -> list[TaskResult]:
    """One greedy attempt per task."""
    shape = env_shape(config)
    arrays = jax.device_put(stack_tasks([task_arrays(task.spec, shape) for task in tasks]))
    predict = make_predict(make_network(config.network), config.env.growth_rule)
    play = GreedyPlay(config, predict, use_search=use_search)
    scorer = Scorer([task.spec for task in tasks], runtime.num_threads())
    jax.block_until_ready(play(params, arrays))
    start = time.perf_counter()
    board = jax.device_get(play(params, arrays))
    outcomes = scorer.score_boards(list(zip(board.entity, board.rotation, strict=True)))
    seconds = (time.perf_counter() - start) / len(tasks)
    scorer.close()
    return [TaskResult(outcome.rate, 1, None, seconds) for outcome in outcomes]
