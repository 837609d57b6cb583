"""Every planner keeps to its budget, hands in legal layouts and can be repeated."""

from fractions import Fraction
from itertools import count

import pytest

from benchmarks.planners import judge as judging
from benchmarks.planners.judge import FREE_LOOKS, LOOKS_PER_CALL, Budget, Judge
from benchmarks.planners.running import PLANNERS, run_planner
from benchmarks.planners.site import Site, is_legal
from envs.heldout import load_heldout
from envs.task_spec import layout_of
from envs.verifier import score_rate

TASKS = load_heldout("quickstart").tasks
EASY = min(TASKS, key=lambda task: len(task.placements))


@pytest.mark.parametrize("method", PLANNERS)
@pytest.mark.parametrize("calls", [1, 12])
def test_calls_stay_within_the_budget_and_the_layout_is_legal(method: str, calls: int) -> None:
    for index, task in enumerate(TASKS[:2]):
        found = run_planner(method, task.spec, Budget(calls), 0, index)
        assert found.calls <= calls
        assert found.looks <= FREE_LOOKS + LOOKS_PER_CALL * calls
        assert is_legal(Site(task.spec), found.placements)
        assert found.rate == score_rate(layout_of(task.spec, found.placements))


@pytest.mark.parametrize("method", PLANNERS)
def test_a_search_can_be_repeated_and_another_seed_gives_another(method: str) -> None:
    spec = TASKS[0].spec
    one, again, other = (run_planner(method, spec, Budget(6), seed, 0) for seed in (0, 0, 1))
    assert one[:4] == again[:4]
    assert one.placements != other.placements


@pytest.mark.parametrize("method", PLANNERS)
def test_time_ends_a_search_and_what_comes_late_does_not_count(method: str, monkeypatch) -> None:
    ticks = count()
    monkeypatch.setattr(judging.time, "perf_counter", lambda: next(ticks) / 1000)
    found = run_planner(method, TASKS[0].spec, Budget(seconds=0.05), 0, 0)
    assert 0 < found.calls + found.looks <= 50
    late = Judge(Site(EASY.spec), Budget(seconds=0.0001))
    assert late.judge(EASY.placements).score == 1
    assert late.found()[:2] == ((), Fraction(0))


def test_a_layout_costs_a_call_only_where_its_rate_is_open() -> None:
    judge = Judge(Site(EASY.spec), Budget(10))
    assert judge.judge(()).score == 0
    assert (judge.calls, judge.looks) == (0, 1)
    assert judge.judge(EASY.placements) == judge.judge(EASY.placements) == (1, 0)
    assert (judge.calls, judge.looks) == (1, 2)
    judge.verify(())
    assert judge.calls == 2
    assert judge.done
    assert judge.found().placements == EASY.placements


@pytest.mark.parametrize("method", ["annealing", "genetic"])
def test_an_easy_task_is_solved_in_a_hundred_calls(method: str) -> None:
    for seed in range(3):
        found = run_planner(method, EASY.spec, Budget(100), seed, 0)
        assert found.rate is not None
        assert found.rate >= EASY.spec.target_rate


def test_greedy_building_gets_something_to_arrive() -> None:
    rates = [run_planner("greedy", EASY.spec, Budget(100), seed, 0).rate for seed in range(3)]
    assert any(rates)
