"""The benchmark of the baselines: which tasks, which budgets, which rows."""

import io
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from rich.console import Console

from benchmarks import baselines, results
from benchmarks.agent_results import ReportError, read_report, reported_results
from benchmarks.baseline_rows import Method, TaskResult, make_rows, print_table
from benchmarks.planners.judge import Budget
from envs.heldout import load_heldout

TASKS = load_heldout("quickstart").tasks
COLUMNS = (
    *("method", "task_set", "family", "n", "budget_calls", "budget_seconds"),
    *("score", "score_low", "score_high", "solved", "functional"),
    *("simulations", "attempts", "verifier_calls", "looks", "seconds"),
)


@pytest.fixture
def report(tmp_path):
    """A report on the first eight tasks: all but one miss the target by half."""
    targets = [task.spec.target_rate for task in TASKS[:8]]
    rates = [None, *(str(target / 2) for target in targets[1:7]), str(targets[7])]
    content = {
        "task_set": "quickstart",
        "n": 8,
        "num_simulations": 16,
        "raw_policy": {"score": 0.25, "solved": 0.0, "functional": 0.5},
        "tasks": [
            {"id": f"quickstart/{index}", "rate": rate, "target": str(target)}
            for index, (rate, target) in enumerate(zip(rates, targets, strict=True))
        ],
    }
    path = tmp_path / "report.json"
    path.write_text(json.dumps(content))
    return path


def test_a_part_of_a_set_holds_as_many_tasks_of_every_family() -> None:
    chosen = baselines.choose_tasks(TASKS, 10)
    assert chosen == sorted(set(chosen))
    families = Counter(TASKS[index].spec.family for index in chosen)
    assert sorted(families.values()) == [2, 2, 3, 3]
    assert baselines.choose_tasks(TASKS, None) == list(range(len(TASKS)))


def test_rows_hold_means_of_all_tasks_and_of_each_family() -> None:
    tasks = TASKS[:8]
    results = [
        TaskResult(task.spec.target_rate / (1 + number % 2), number, 2, 0.5)
        for number, task in enumerate(tasks)
    ]
    rows = make_rows(Method("greedy", Budget(9)), "quickstart", tasks, results)
    assert [row["family"] for row in rows] == ["all", "cable", "gear", "pipe", "stick"]
    assert {tuple(row) for row in rows} == {COLUMNS}
    every = rows[0]
    assert (every["n"], every["score"], every["solved"], every["functional"]) == (8, 0.75, 0.5, 1)
    assert (every["verifier_calls"], every["looks"], every["seconds"]) == (3.5, 2, 0.5)
    assert every["score_low"] < 0.75 < every["score_high"]
    assert sum(row["n"] for row in rows[1:]) == 8


def test_a_report_gives_results_of_the_chosen_tasks(report) -> None:
    content = read_report(report, "quickstart")
    found = reported_results(content, {0: TASKS[0], 7: TASKS[7]}, 4, 0.1)
    assert found == [
        TaskResult(None, 4, None, 0.1),
        TaskResult(TASKS[7].spec.target_rate, 4, None, 0.1),
    ]
    with pytest.raises(ReportError, match="lacks quickstart/8"):
        reported_results(content, {8: TASKS[8]}, 4, 0.1)
    with pytest.raises(ReportError, match="another target for quickstart/0"):
        reported_results(content, {0: TASKS[1]}, 4, 0.1)
    with pytest.raises(ReportError, match="on quickstart, not on heldout-v1"):
        read_report(report, "heldout-v1")


def test_budgets_follow_the_agent_and_then_the_options(report) -> None:
    options = baselines.parse(
        [
            *("--agent-report", str(report), "--attempts", "4", "--agent-seconds", "0.25"),
            *("--calls", "100", "4", "--seconds", "10", "--task-set", "quickstart"),
        ]
    )
    rows = baselines.agent_rows(options, TASKS[:8], range(8))
    assert baselines.budgets(options, rows) == [
        *(Budget(calls=4), Budget(calls=100)),
        *(Budget(seconds=0.25), Budget(seconds=10)),
    ]


def test_a_run_without_any_budget_is_refused(capsys) -> None:
    assert baselines.main(["--task-set", "quickstart"]) == 2
    assert "pass --calls" in capsys.readouterr().err


def test_everything_is_written_and_printed(report, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    monkeypatch.setattr(baselines, "make_workers", ThreadPoolExecutor)
    options = baselines.parse(
        [
            *("--task-set", "quickstart", "--num-tasks", "4", "--agent-report", str(report)),
            *("--methods", "random", "annealing", "--calls", "3", "--workers", "2"),
        ]
    )
    console = Console(file=io.StringIO(), width=200)
    rows = baselines.measure(options, "command", console)
    print_table(console, rows)
    written = json.loads((tmp_path / "baselines.json").read_text())
    assert written["rows"] == rows
    assert {tuple(row) for row in rows} == {COLUMNS}
    everything = [row for row in rows if row["family"] == "all"]
    assert [(row["method"], row["budget_calls"]) for row in everything] == [
        *(("reference", None), ("agent", None), ("raw_policy", None)),
        *(("random", 1), ("annealing", 1), ("random", 3), ("annealing", 3)),
    ]
    scores = {row["method"]: row["score"] for row in everything}
    assert (scores["reference"], scores["agent"], scores["raw_policy"]) == (1, 0.375, 0.25)
    assert all(row["verifier_calls"] <= row["budget_calls"] for row in everything[3:])
    assert "annealing" in console.file.getvalue()
    assert Fraction(written["rows"][0]["score"]) == 1
