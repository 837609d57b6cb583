"""The search benchmark: rows as its result file promises them, and tables of them."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks import search
from benchmarks.search_cell import (
    NETWORK,
    NETWORK_AND_ENVIRONMENT,
    Cell,
    deepest,
    measure,
    split_of,
)
from benchmarks.search_linear import linear_cell
from benchmarks.search_rows import DIGITS, growth_of, make_row, table_of
from benchmarks.search_trees import Found
from benchmarks.taking_turns import Pace

ONCE = Pace(repeats=1, budget_s=0.0)


def test_all_trees_of_a_cell_decide_alike_and_the_lean_one_is_smaller():
    rows = measure(linear_cell(3, 4, ["stock", "fix", "lean", "kernel"]), ONCE, [False])
    assert [(row["tree"], row["policy"]) for row in rows] == [
        (tree, policy)
        for tree in ("stock", "fix", "lean", "kernel")
        for policy in ("untrained", "peaked")
    ]
    assert all(list(row) == list(DIGITS) for row in rows)
    assert {row["same_actions"] for row in rows} == {1.0}
    by_tree = {row["tree"]: row for row in rows}
    full_size = 3 * 5 * 1729 * 4
    assert by_tree["stock"]["tree_bytes"] == by_tree["fix"]["tree_bytes"] >= 6 * full_size
    assert full_size <= by_tree["lean"]["tree_bytes"] < 2 * full_size
    assert by_tree["stock"]["speedup_over_stock"] == 1
    assert by_tree["stock"]["tree_share"] is None
    assert [row["interpreted"] for row in rows] == [False] * 6 + [True] * 2
    assert by_tree["lean"]["loops_with_unknown_trip_count"] == 2  # down and up


@pytest.fixture
def fake_cell():
    """Two trees that do nothing but find, and the loops of a whole move."""

    def search(tree):
        def find(key, inputs):
            action = inputs["action"] + (tree == "lean") * jnp.array([0, 1])
            return Found(action, jnp.ones((2, 3)), jnp.array([[-1, 0, 1], [-1, 0, 0]]))

        return find

    def loop(key, inputs):
        return inputs["action"] + 1

    return Cell(
        network="4x1",
        batch=2,
        simulations=2,
        searches={tree: search(tree) for tree in ("stock", "lean")},
        inputs={
            "untrained": {"action": jnp.array([1, 2])},
            "peaked": {"action": jnp.array([0, 0])},
        },
        embedding_bytes=0,
        loops={NETWORK: loop, NETWORK_AND_ENVIRONMENT: loop},
    )


def test_what_neither_network_nor_environment_takes_is_the_tree():
    assert split_of(move_ms=10.0, both_ms=7.0, network_ms=6.0) == {
        "tree_ms": 3.0,
        "environment_ms": 1.0,
        "network_ms": 6.0,
        "tree_share": 3 / 9,
    }


def test_a_whole_move_is_split_into_tree_environment_and_network(fake_cell):
    rows = measure(fake_cell, ONCE, [False])
    assert len(rows) == 4
    for row in rows:
        parts = row["tree_ms"] + row["environment_ms"] + row["network_ms"]
        assert parts == pytest.approx(row["ms_per_move"], abs=0.01)
        assert row["deepest"] == 2
    assert [row["same_actions"] for row in rows] == [1.0, 1.0, 0.5, 0.5]
    assert "share" in table_of(rows)


def test_programs_are_measured_once_more_with_command_buffers(fake_cell):
    rows = measure(fake_cell, ONCE, [False, True])
    assert [row["command_buffers"] for row in rows] == [False] * 4 + [True] * 4
    assert "(command buffers)" in table_of(rows)


def test_a_program_that_fails_is_left_out_with_the_reason(fake_cell, capsys):
    def fail(key, inputs):
        def raise_it(action):
            raise MemoryError("no room")

        action = jax.pure_callback(raise_it, inputs["action"], inputs["action"])
        return Found(action, jnp.ones((2, 3)), jnp.zeros((2, 3), jnp.int32))

    fake_cell.searches["stock"] = fail
    rows = measure(fake_cell, ONCE, [False])
    assert {row["tree"] for row in rows} == {"lean"}
    assert "stock, network 4x1, B=2, N=2: left out" in capsys.readouterr().out


def test_depth_is_that_of_the_deepest_node():
    assert deepest(np.array([[-1, 0, 0, -1], [-1, 0, 1, 2]])) == 3
    assert deepest(np.array([[-1, 0, 0, 0]])) == 1


def test_growth_compares_the_cost_of_a_simulation_with_the_least_budget():
    def row(tree, simulations, cost):
        return make_row(
            tree=tree,
            network="none",
            policy="peaked",
            batch=8,
            simulations=simulations,
            us_per_simulation=cost,
            interpreted=False,
            command_buffers=False,
        )

    lines = growth_of([row("lean", 16, 10.0), row("lean", 64, 25.0), row("fix", 64, 1.0)])
    assert lines == (
        "lean, network none, peaked, B=8: a simulation at N=64 costs 2.50 times that at N=16"
    )


ONE_SMALL_CELL = ["--only", "tree", "--trees", "lean", "--sizes", "2x3"]


def test_quick_run_prints_and_leaves_the_result_file_alone(results_in, capsys):
    search.main(["--quick", *ONE_SMALL_CELL])
    assert "ms/move" in capsys.readouterr().out
    assert not list(results_in.iterdir())


def test_part_of_a_grid_writes_only_a_file_that_is_named(results_in, tmp_path):
    search.main([*ONE_SMALL_CELL, "--repeats", "1", "--out", str(tmp_path / "own.json")])
    assert [path.name for path in results_in.iterdir()] == ["own.json"]
    content = json.loads((tmp_path / "own.json").read_text())
    assert content["command"].startswith("python -m benchmarks.search --only tree")
    assert [row["policy"] for row in content["rows"]] == ["untrained", "peaked"]


@pytest.mark.parametrize(
    ("arguments", "whole"),
    [
        ([], True),
        (["--full", "--repeats", "5"], True),
        (["--quick"], False),
        (["--only", "tree"], False),
        (["--sizes", "128x16"], False),
        (["--networks", "64x6"], False),
        (["--trees", "lean", "kernel"], False),
    ],
)
def test_only_a_whole_grid_replaces_the_projects_rows(arguments, whole, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert search._is_whole(search._parse(arguments)) is whole


@pytest.mark.parametrize(
    "arguments", [["--sizes", "128"], ["--sizes", "0x4"], ["--sizes", "axb"], ["--full"], []]
)
def test_wrong_sizes_and_those_of_a_gpu_are_usage_errors(arguments, capsys, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    with pytest.raises(SystemExit) as error:
        search.main(arguments)
    assert error.value.code == 2
    assert "--sizes" in capsys.readouterr().err
