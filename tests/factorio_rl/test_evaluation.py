"""Evaluation: what a report holds, and that greedy play from empty is legal and repeatable."""

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import jax
import numpy as np
import pytest
from tiny_setup import PLACEMENT_LIMIT

from envs.heldout import load_heldout
from envs.solved import Solved
from envs.split import in_heldout_stratum
from envs.types import TaskShapeError, board_placements
from factorio_rl import evaluation as evaluation_module
from factorio_rl.config import Config
from factorio_rl.demonstrations import References
from factorio_rl.evaluation import (
    Evaluation,
    Evaluator,
    GreedyPlay,
    bootstrap_interval,
    make_report,
    summarise,
)
from factorio_rl.failure_kinds import JAMMED, NO_EXACT_RATE, TOO_SLOW
from factorio_rl.learner import LearnerState
from factorio_rl.model import Predict, plan
from factorio_rl.preemption import StoppedError
from factorio_rl.scoring import Outcome, score_layout
from factorio_rl.search import SearchSettings

ONE = Fraction(1)
OUTCOMES = [
    Outcome(Fraction(1, 2), ONE),
    Outcome(Fraction(3, 2), ONE),
    Outcome(Fraction(0), Fraction(6, 7)),
    Outcome(None, ONE),
]
RAW = [
    Outcome(Fraction(0), ONE),
    Outcome(ONE, ONE),
    Outcome(Fraction(3, 7), Fraction(6, 7)),
    OUTCOMES[3],
]


@pytest.fixture(scope="module")
def report(solved: list[Solved]) -> dict:
    """A report of made-up outcomes; the first two tasks are pipes, the others gears."""
    specs, layouts = [entry.spec for entry in solved], [entry.placements for entry in solved]
    return make_report("tiny", specs, OUTCOMES, layouts, RAW)


@pytest.fixture(scope="module")
def evaluator(config: Config, predict: Predict, solved: list[Solved]) -> Iterator[Evaluator]:
    made = Evaluator(config, predict, "tiny", solved, threads=2)
    yield made
    made.close()


@pytest.fixture(scope="module")
def evaluation(evaluator: Evaluator, learner: LearnerState) -> Evaluation:
    return evaluator.evaluate(learner.params)


def test_report_has_exactly_the_documented_fields(report: dict) -> None:
    assert set(report) == {
        "task_set",
        "score",
        "ci95",
        "solved",
        "functional",
        "inexact",
        "ratio_to_reference",
        "n",
        "raw_policy",
        "by_family",
        "by_split",
        "failures",
        "tasks",
    }
    assert {"score", "functional"} <= set(report["raw_policy"])
    for family in report["by_family"].values():
        assert set(family) == {"n", "score", "solved", "functional", "failures"}
    for task in report["tasks"]:
        assert set(task) == {"id", "rate", "target", "score", "failure"}


def test_report_sums_up_the_outcomes(report: dict) -> None:
    assert report["task_set"] == "tiny"
    assert report["n"] == 4
    assert report["score"] == pytest.approx(1.5 / 4)
    assert report["solved"] == 1 / 4
    assert report["functional"] == 2 / 4
    assert report["inexact"] == 1
    assert report["ratio_to_reference"] == pytest.approx(2 / 4)
    assert report["raw_policy"] == {
        "score": pytest.approx(1.5 / 4),
        "solved": 0.25,
        "functional": 0.5,
    }


def test_families_make_up_the_whole(report: dict) -> None:
    families = report["by_family"]
    assert list(families) == ["iron-gear-wheels", "pipes"]
    assert sum(family["n"] for family in families.values()) == report["n"]
    for name in ("score", "solved", "functional"):
        total = sum(family["n"] * family[name] for family in families.values())
        assert total / report["n"] == pytest.approx(report[name])
    assert families["pipes"] == {
        "n": 2,
        "score": 0.75,
        "solved": 0.5,
        "functional": 1.0,
        "failures": {TOO_SLOW: 1},
    }


def test_tasks_that_are_not_solved_say_why(report: dict) -> None:
    kinds = [task["failure"] for task in report["tasks"]]
    assert kinds == [TOO_SLOW, None, JAMMED, NO_EXACT_RATE]
    assert report["failures"] == {TOO_SLOW: 1, JAMMED: 1, NO_EXACT_RATE: 1}


def test_tasks_of_held_out_strata_are_reported_apart() -> None:
    specs = [solved.spec for solved in load_heldout("quickstart").tasks[:40]]
    unseen = [in_heldout_stratum(spec) for spec in specs]
    assert 0 < sum(unseen) < len(specs)
    outcomes = [
        Outcome(spec.target_rate * held, spec.target_rate)
        for spec, held in zip(specs, unseen, strict=True)
    ]
    layouts = [[] for _ in specs]
    by_split = make_report("quickstart", specs, outcomes, layouts, outcomes)["by_split"]
    assert by_split["stratum"] == {"n": sum(unseen), "score": 1, "solved": 1, "functional": 1}
    seen = len(specs) - sum(unseen)
    assert by_split["geometry"] == {"n": seen, "score": 0, "solved": 0, "functional": 0}


def test_rates_and_targets_of_tasks_are_exact(report: dict) -> None:
    assert [task["id"] for task in report["tasks"]] == [f"tiny/{number}" for number in range(4)]
    assert [task["rate"] for task in report["tasks"]] == ["1/2", "3/2", "0", None]
    assert [task["target"] for task in report["tasks"]] == ["1", "1", "6/7", "1"]
    assert [task["score"] for task in report["tasks"]] == [0.5, 1.0, 0.0, 0.0]


def test_report_is_plain_json(report: dict) -> None:
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_bootstrap_interval_is_repeatable_and_holds_the_mean() -> None:
    scores = np.random.default_rng(1).random(128).tolist()
    low, high = bootstrap_interval(scores)
    assert [low, high] == bootstrap_interval(scores)
    assert low < np.mean(scores) < high
    # Of a mean: 1.96 standard errors to each side.
    error = np.std(scores) / np.sqrt(len(scores))
    np.testing.assert_allclose(
        [low, high], np.mean(scores) + 1.96 * error * np.array([-1, 1]), atol=0.2 * error
    )


def test_bootstrap_interval_of_equal_scores_is_that_score() -> None:
    assert bootstrap_interval([0.25] * 7) == [0.25, 0.25]


def test_summary_of_one_outcome_is_that_outcome() -> None:
    assert summarise(OUTCOMES[:1]) == {"n": 1, "score": 0.5, "solved": 0.0, "functional": 1.0}


def test_greedy_play_equals_itself(
    evaluator: Evaluator, learner: LearnerState, evaluation: Evaluation
) -> None:
    again = evaluator.evaluate(learner.params)
    assert again.report == evaluation.report
    assert again.layouts == evaluation.layouts
    assert again.outcomes == evaluation.outcomes


def test_evaluation_can_be_ended_between_two_moves(
    evaluator: Evaluator, learner: LearnerState
) -> None:
    moves = 0

    def stop_at_the_third() -> None:
        nonlocal moves
        moves += 1
        if moves == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        evaluator.evaluate(learner.params, stop_at_the_third)
    assert moves == 3


def test_evaluated_layouts_are_within_the_rules_and_carry_their_verified_rate(
    evaluation: Evaluation, solved: list[Solved]
) -> None:
    assert any(evaluation.layouts)
    for entry, layout, outcome in zip(solved, evaluation.layouts, evaluation.outcomes, strict=True):
        assert len(layout) <= PLACEMENT_LIMIT
        taken = [cell for put in layout for cell in put.cells()]
        taken += [*entry.spec.blocked, *((port.x, port.y) for port in entry.spec.ports)]
        assert len(set(taken)) == len(taken)
        assert all(0 <= x < 7 and 0 <= y < 7 for x, y in taken)
        assert score_layout(entry.spec, layout) == outcome


def test_evaluation_reports_its_own_outcomes(evaluation: Evaluation, solved: list[Solved]) -> None:
    specs = [entry.spec for entry in solved]
    expected = make_report("tiny", specs, evaluation.outcomes, evaluation.layouts, RAW)
    for name in set(expected) - {"raw_policy"}:
        assert evaluation.report[name] == expected[name]
    assert 0 <= evaluation.report["raw_policy"]["score"] <= 1


def test_other_parameters_build_other_layouts(
    evaluator: Evaluator, fresh: LearnerState, evaluation: Evaluation
) -> None:
    assert evaluator.evaluate(fresh.params).layouts != evaluation.layouts


def test_search_has_no_noise(
    config: Config,
    predict: Predict,
    learner: LearnerState,
    references: References,
    evaluation: Evaluation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With another key the same layouts come out."""

    def with_another_key(predict: Predict, params: dict, key: jax.Array, *rest: Any) -> Any:
        return plan(predict, params, jax.random.fold_in(key, 99), *rest)

    monkeypatch.setattr(evaluation_module, "plan", with_another_key)
    play = GreedyPlay(config, predict, use_search=True)
    board = jax.device_get(play(learner.params, references.tasks))
    cells = zip(board.entity, board.rotation, strict=True)
    assert [board_placements(*pair) for pair in cells] == evaluation.layouts


def test_search_has_the_budget_of_evaluation(
    config: Config,
    predict: Predict,
    learner: LearnerState,
    references: References,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    budget = config.eval.model_copy(update={"num_simulations": 7, "max_num_considered_actions": 3})
    seen: list[SearchSettings] = []

    def watched(*arguments: Any) -> Any:
        seen.extend(item for item in arguments if isinstance(item, SearchSettings))
        return plan(*arguments)

    monkeypatch.setattr(evaluation_module, "plan", watched)
    play = GreedyPlay(config.model_copy(update={"eval": budget}), predict, use_search=True)
    play(learner.params, references.tasks)
    assert {(s.num_simulations, s.max_num_considered_actions) for s in seen} == {(7, 3)}


def test_task_of_another_size_is_refused(
    config: Config, predict: Predict, solved: list[Solved]
) -> None:
    wider = Solved(replace(solved[0].spec, width=8), solved[0].placements)
    with pytest.raises(TaskShapeError, match=r"8 x 7.*7 x 7"):
        Evaluator(config, predict, "tiny", [wider], threads=1)
