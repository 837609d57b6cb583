"""Running a planner on many tasks, in processes of their own.

In: tasks, a method's name, a budget. Out: what it found on each. Random numbers depend on seed,
method and task alone, so results under a budget in calls are the same for any number of workers.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import get_context
from random import Random

from benchmarks.planners import annealing, genetic, greedy, random_legal
from benchmarks.planners.judge import Budget, Found, Judge
from benchmarks.planners.site import Site
from envs.catalogue import RECIPES
from envs.layout import EAST
from envs.task_spec import Port, TaskSpec, layout_of
from envs.verifier import score_rate

PLANNERS: dict[str, Callable[[Judge, Random], None]] = {
    "random": random_legal.search,
    "greedy": greedy.search,
    "annealing": annealing.search,
    "genetic": genetic.search,
}
"""Searches by method name."""


def run_planner(method: str, spec: TaskSpec, budget: Budget, seed: int, index: int) -> Found:
    """What a method finds on one task; `index` tells the tasks of a set apart."""
    judge = Judge(Site(spec), budget)
    PLANNERS[method](judge, Random(f"{seed}/{method}/{index}"))
    return judge.found()


def run_on_all(
    workers: Executor, method: str, specs: Sequence[TaskSpec], budget: Budget, seed: int
) -> list[Found]:
    """What a method finds on each task, in order."""
    futures = [
        workers.submit(run_planner, method, spec, budget, seed, index)
        for index, spec in enumerate(specs)
    ]
    return [future.result() for future in futures]


def make_workers(count: int) -> ProcessPoolExecutor:
    """Processes that have loaded the verifier before any clock runs."""
    return ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=warm_up)


def warm_up() -> None:
    """Loads the compiled verifier by a call."""
    item = next(iter(RECIPES))
    ports = (Port(0, 0, EAST, False, item, item), Port(1, 0, EAST, True, item, item))
    score_rate(layout_of(TaskSpec(2, 1, (), ports, (), item, Fraction(1), 1, "warm-up"), ()))
