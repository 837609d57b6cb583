"""The FP8 benchmark: rows as its result file promises them, errors of FP8, what is left out."""

import json
from fractions import Fraction

import jax
import numpy as np
import pytest
from jax.errors import JaxRuntimeError

from benchmarks import fp8
from benchmarks.fp8_cell import Cell, CellName, Variant, measure, relative_error
from benchmarks.fp8_convolution import exact_convolution
from benchmarks.fp8_learner import learner_cell
from benchmarks.fp8_moves import move_cell
from benchmarks.fp8_rows import DIGITS
from benchmarks.taking_turns import Pace

ONCE = Pace(repeats=1, budget_s=0.0)
OF_DESIGN = {"what", "network", "precision", "qat", "batch", "simulations", "ms"}
OF_DESIGN |= {"relative_error", "compile_s"}


@pytest.fixture
def fake_cells(monkeypatch):
    """Cells that compile in no time, by name; those of a tower fail."""
    made: list[CellName] = []

    def make(name: CellName) -> Cell:
        made.append(name)
        if name.what == "tower":
            raise JaxRuntimeError("no plan\nfor this convolution")
        double = Variant("bf16", lambda key, given: 2 * given, 1.0)
        return Cell([double, double._replace(precision="fp8")])

    monkeypatch.setattr(fp8, "make_cell", make)
    return made


def part(*extra: str) -> list[str]:
    return ["--sizes", "2x3", "--networks", "16x1", "--repeats", "1", *extra]


@pytest.fixture(scope="module")
def tower_rows():
    """Rows of the network, its blocks alone and a convolution, by what and precision."""
    names = [CellName(what, "16x1", 2) for what in ("convolution", "network", "tower")]
    rows = [row for name in names for row in measure(name, fp8.make_cell(name), ONCE)]
    return {(row["what"], row["precision"]): row for row in rows}


def test_rows_have_the_columns_of_the_result_file(tower_rows):
    assert len(tower_rows) == 6
    for row in tower_rows.values():
        assert list(row) == list(DIGITS)
        assert set(row) >= OF_DESIGN
        assert row["compile_s"] > 0


@pytest.mark.parametrize("what", ["network", "tower"])
def test_fp8_is_further_from_float32_than_bf16_but_near(tower_rows, what):
    ours, quantized = tower_rows[what, "bf16"], tower_rows[what, "fp8"]
    assert 0.005 < quantized["relative_error"] < 0.2
    assert ours["relative_error"] < quantized["relative_error"] / 2
    assert ours["ratio_to_bf16"] == 1
    assert quantized["ratio_to_bf16"] == pytest.approx(quantized["ms"] / ours["ms"], rel=0.05)


def test_a_cpu_sums_a_convolution_up_to_float32(tower_rows):
    for precision in ("bf16", "fp8"):
        row = tower_rows["convolution", precision]
        assert row["relative_error"] < 1e-6
        assert row["ms"] is None


def test_exact_convolution_is_a_convolution():
    random = np.random.default_rng(0)
    inputs = random.integers(-9, 9, (1, 4, 3, 2))
    kernel = random.integers(-9, 9, (2, 3, 3, 2))
    found = exact_convolution(inputs, kernel)
    for row, column, out in np.ndindex(4, 3, 2):
        total = sum(
            Fraction(
                int(kernel[out, i, j, channel] * inputs[0, row + i - 1, column + j - 1, channel])
            )
            for i, j, channel in np.ndindex(3, 3, 2)
            if 0 <= row + i - 1 < 4 and 0 <= column + j - 1 < 3
        )
        assert Fraction(found[0, row, column, out]) == total


def test_relative_error_is_over_the_size_of_the_reference():
    assert relative_error(np.array([1.0, 5.0]), np.array([0.0, 4.0])) == pytest.approx(0.125**0.5)


def fp8_convolutions(variant: Variant) -> int:
    text = jax.jit(variant.function).lower(jax.random.key(0), variant.inputs).as_text()
    lines = [line for line in text.splitlines() if "stablehlo.convolution" in line]
    return sum("f8E4M3FN" in line for line in lines)


def test_moves_in_fp8_have_their_root_as_the_row_says():
    cell = move_cell("16x1", 2, 2)
    named = [(variant.precision, variant.root_precision) for variant in cell.variants]
    assert named == [("bf16", "bf16"), ("fp8", "bf16"), ("fp8", "fp8")]
    assert [fp8_convolutions(variant) for variant in cell.variants[1:]] == [2, 2]


def test_the_learner_is_in_fp8_with_qat_alone():
    cell = learner_cell("16x1", 2)
    assert [(variant.precision, variant.qat) for variant in cell.variants] == [
        ("bf16", False),
        ("fp8", True),
    ]
    assert [fp8_convolutions(variant) for variant in cell.variants] == [0, 2]


def test_quick_run_prints_and_leaves_the_result_file_alone(results_in, capsys):
    fp8.main(["--quick", "--only", "convolution"])
    assert "fp8 convs" in capsys.readouterr().out
    assert not list(results_in.iterdir())


def test_cells_that_fail_or_come_too_late_are_named(fake_cells, results_in, capsys):
    out = results_in / "own.json"
    fp8.main(part("--out", str(out)))
    content = json.loads(out.read_text())
    assert content["left_out"] == ["tower, network 16x1, B=2: no plan"]
    assert "left out: tower, network 16x1, B=2: no plan" in capsys.readouterr().out
    fp8.main(part("--out", str(out), "--budget-s", "-1"))
    assert "left out: move, network 16x1, B=2, N=3: the budget" in capsys.readouterr().out
    assert json.loads(out.read_text()) == content


def test_rows_are_written_after_each_cell_with_what_is_still_to_come(
    fake_cells, results_in, monkeypatch
):
    written: list[tuple[int, list[str]]] = []

    def write(name, rows, command, path, left_out):
        written.append((len(rows), left_out))
        return path

    monkeypatch.setattr(fp8, "write_results", write)
    fp8.main(part("--only", "convolution", "network", "--out", "x.json"))
    assert written[0] == (2, ["network, network 16x1, B=2: not begun"])
    assert written[-1] == (4, [])


def test_a_resumed_run_measures_only_what_is_missing(fake_cells, results_in):
    out = results_in / "own.json"
    fp8.main(part("--only", "network", "--out", str(out)))
    fp8.main(part("--only", "network", "move", "--resume", str(out), "--out", str(out)))
    assert [name.what for name in fake_cells] == ["network", "move"]
    content = json.loads(out.read_text())
    assert [row["what"] for row in content["rows"]] == ["network", "network", "move", "move"]
    out.write_text(json.dumps({**content, "device": "another"}))
    with pytest.raises(SystemExit, match="is of device another"):
        fp8.main(part("--resume", str(out)))


@pytest.mark.parametrize(
    ("arguments", "whole"),
    [
        ([], True),
        (["--budget-s", "60"], True),
        (["--quick"], False),
        (["--only", "move"], False),
        (["--sizes", "256x16"], False),
        (["--networks", "64x6"], False),
    ],
)
def test_only_a_whole_grid_replaces_the_projects_rows(arguments, whole, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert fp8._is_whole(fp8._parse(arguments)) is whole


def test_the_grid_holds_every_size_once_and_small_batches_last():
    names = list(fp8.DEFAULT)
    assert len(set(names)) == len(names)
    for what in ("network", "tower"):
        batches = {name.batch for name in names if name.what == what}
        assert batches == {256, 1024, 4096}
    moves = {(name.batch, name.simulations) for name in names if name.what == "move"}
    assert moves == {(512, 16), (512, 32), (1024, 16), (1024, 32)}
    assert names[2] == CellName("network", "64x6", 1024)


def test_a_cpu_refuses_the_grid_of_a_gpu(monkeypatch, capsys):
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    with pytest.raises(SystemExit):
        fp8.main([])
    assert "--quick" in capsys.readouterr().err
