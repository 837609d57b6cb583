"""Evaluation: greedy episodes from empty on a frozen held-out set, scored by the verifier.

In: parameters. Out: one JSON-ready report and the layouts behind it. Greedy means no Gumbel
noise and one attempt per task; the raw policy (no search) plays the same tasks beside it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from envs.dynamics import legal_actions, reset, step
from envs.heldout import HELDOUT_SETS, HeldoutSet
from envs.solved import Solved
from envs.split import in_heldout_stratum
from envs.task_spec import Placement, TaskSpec
from envs.types import (
    Board,
    EnvShape,
    State,
    Task,
    TaskShapeError,
    board_placements,
    stack_tasks,
    task_arrays,
)
from factorio_rl.config import Config
from factorio_rl.device_errors import EVALUATION, explained
from factorio_rl.env_shape import env_shape
from factorio_rl.failure_kinds import failure_kind
from factorio_rl.model import Predict, plan
from factorio_rl.network import Params
from factorio_rl.scoring import Outcome, Scorer
from factorio_rl.selfplay import search_settings
from factorio_rl.verifier_failures import FailureLog

BOOTSTRAP_RESAMPLES = 10_000


@dataclass(frozen=True)
class Evaluation:
    """A report and the layout that the agent built for each task."""

    report: dict[str, Any]
    outcomes: list[Outcome]
    layouts: list[list[Placement]]


class Evaluator:
    """Plays one task set with given parameters; compiles once."""

    def __init__(
        self,
        config: Config,
        predict: Predict,
        task_set: str,
        tasks: Sequence[Solved],
        threads: int,
        failures: FailureLog | None = None,
    ) -> None:
        """`task_set` names the set in the report; `failures` hears of layouts without a rate.

        Raises:
            ValueError: a task does not fit the environment's shape.
        """
        self.task_set = task_set
        self._config = config
        self.specs = [entry.spec for entry in tasks]
        shape = env_shape(config)
        stacked = stack_tasks([task_arrays(spec, shape) for spec in self.specs])
        self._tasks: Task = jax.device_put(stacked)
        self._scorer = Scorer(self.specs, threads, failures)
        self._search = GreedyPlay(config, predict, use_search=True)
        self._policy = GreedyPlay(config, predict, use_search=False)

    def evaluate(
        self, params: Params, before_each_move: Callable[[], None] = lambda: None
    ) -> Evaluation:
        """The report of greedy search, with the raw policy's figures in it.

        `before_each_move` may raise to end it.
        """
        with explained(EVALUATION, self._config):
            outcomes, layouts = self._play(self._search, params, before_each_move)
            raw, _ = self._play(self._policy, params, before_each_move)
        report = make_report(self.task_set, self.specs, outcomes, layouts, raw)
        report["num_simulations"] = self._config.eval.num_simulations
        return Evaluation(report, outcomes, layouts)

    def close(self) -> None:
        """Ends the verifier's threads."""
        self._scorer.close()

    def _play(
        self, play: "GreedyPlay", params: Params, before_each_move: Callable[[], None]
    ) -> tuple[list[Outcome], list[list[Placement]]]:
        board = jax.device_get(play(params, self._tasks, before_each_move))
        boards = list(zip(board.entity, board.rotation, strict=True))
        return self._scorer.score_boards(boards), [board_placements(*cells) for cells in boards]


def require_fit(heldout: HeldoutSet, shape: EnvShape) -> None:
    """Raises TaskShapeError if the set's tasks do not fit the environment."""
    for entry in heldout.tasks:
        try:
            task_arrays(entry.spec, shape)
        except TaskShapeError as error:
            sets = ", ".join(
                f"{name} ({known.width} x {known.height})" for name, known in HELDOUT_SETS.items()
            )
            raise TaskShapeError(
                f"held-out set {heldout.name} does not fit: {error}; "
                f"or choose another with tasks.heldout: {sets}"
            ) from None


def with_budget(config: Config, num_simulations: int) -> Config:
    """The config with so many simulations in evaluation, and no more considered actions."""
    considered = min(config.eval.max_num_considered_actions, num_simulations)
    budget = {"num_simulations": num_simulations, "max_num_considered_actions": considered}
    return config.model_copy(update={"eval": config.eval.model_copy(update=budget)})


class GreedyPlay:
    """Plays tasks from empty to the end without noise, by search or by the policy alone.

    The moves are called one by one, so that whoever waits can end it between two.
    """

    def __init__(self, config: Config, predict: Predict, *, use_search: bool) -> None:
        self._start = jax.jit(jax.vmap(lambda task: reset(task).board))
        self._move = jax.jit(_make_move(config, predict, use_search))

    def __call__(
        self, params: Params, tasks: Task, before_each_move: Callable[[], None] = lambda: None
    ) -> Board:
        """The finished boards; `before_each_move` may raise to end it."""
        board, all_finished = self._start(tasks), False
        while not all_finished:
            before_each_move()
            # Of a program that failed in the background, reading a value can wait for ever
            # (CPU, jax 0.10.2).
            board, all_finished = jax.block_until_ready(self._move(params, tasks, board))
        return board


def _make_move(config: Config, predict: Predict, use_search: bool):
    """The function (params, tasks, boards) -> boards a move later, and whether all are finished."""
    settings = search_settings(
        config, config.eval.num_simulations, config.eval.max_num_considered_actions
    )
    growth_rule = config.env.growth_rule

    def choose(params: Params, states: State) -> Array:
        if not use_search:
            return predict(params, states).policy_logits.argmax(axis=-1).astype(jnp.int32)
        legal = jax.vmap(lambda state: legal_actions(state, growth_rule=growth_rule))(states)
        key = jax.random.key(0)  # scales to nothing: the search is greedy
        return plan(predict, params, key, states, settings, jnp.float32(0.0), legal).action

    def move(params: Params, tasks: Task, board: Board) -> tuple[Board, Array]:
        states = State(tasks, board)
        after = jax.vmap(step)(states, choose(params, states)).board
        return after, after.finished.all()

    return move


def make_report(
    task_set: str,
    specs: Sequence[TaskSpec],
    outcomes: Sequence[Outcome],
    layouts: Sequence[Sequence[Placement]],
    raw: Sequence[Outcome],
) -> dict[str, Any]:
    """The JSON report of an evaluation; rates and targets are exact fractions."""
    failures = [
        None if outcome.solved else failure_kind(spec, layout, outcome.rate)
        for spec, outcome, layout in zip(specs, outcomes, layouts, strict=True)
    ]
    families: dict[str, list[int]] = defaultdict(list)
    for index, spec in enumerate(specs):
        families[spec.family].append(index)

    def figures_of(indices: Sequence[int]) -> dict[str, Any]:
        kinds = Counter(kind for index in indices if (kind := failures[index]) is not None)
        return {**summarise([outcomes[index] for index in indices]), "failures": dict(kinds)}

    raw_summary = summarise(raw)
    ratios = [float((outcome.rate or 0) / outcome.target) for outcome in outcomes]
    return {
        "task_set": task_set,
        **figures_of(range(len(specs))),
        "ci95": bootstrap_interval([outcome.score for outcome in outcomes]),
        "inexact": sum(outcome.rate is None for outcome in outcomes),
        "ratio_to_reference": float(np.mean(ratios)),
        "raw_policy": {name: raw_summary[name] for name in ("score", "solved", "functional")},
        "by_family": {name: figures_of(families[name]) for name in sorted(families)},
        "by_split": _by_split(specs, outcomes),
        "tasks": [
            {
                "id": f"{task_set}/{index}",
                "rate": None if outcome.rate is None else str(outcome.rate),
                "target": str(outcome.target),
                "score": outcome.score,
                "failure": failures[index],
            }
            for index, outcome in enumerate(outcomes)
        ],
    }


def _by_split(
    specs: Sequence[TaskSpec], outcomes: Sequence[Outcome]
) -> dict[str, dict[str, float]]:
    """Tasks whose recipes were never trained on with such borders, and the others."""
    unseen = [in_heldout_stratum(spec) for spec in specs]
    split = {
        "stratum": [outcome for outcome, is_in in zip(outcomes, unseen, strict=True) if is_in],
        "geometry": [outcome for outcome, is_in in zip(outcomes, unseen, strict=True) if not is_in],
    }
    return {name: summarise(part) for name, part in split.items() if part}


def summarise(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Number of layouts, mean score, and shares that are solved and functional."""
    return {
        "n": len(outcomes),
        "score": float(np.mean([outcome.score for outcome in outcomes])),
        "solved": float(np.mean([outcome.solved for outcome in outcomes])),
        "functional": float(np.mean([outcome.functional for outcome in outcomes])),
    }


def bootstrap_interval(scores: Sequence[float]) -> list[float]:
    """The 95 % percentile bootstrap interval of the mean score; seeded, so it is repeatable."""
    values = np.asarray(scores)
    draws = np.random.default_rng(0).integers(0, len(values), (BOOTSTRAP_RESAMPLES, len(values)))
    low, high = np.quantile(values[draws].mean(axis=1), [0.025, 0.975])
    return [float(low), float(high)]
