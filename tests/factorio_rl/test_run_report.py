"""The page of a run shows what the run recorded, whatever state the run is in."""

import json
from pathlib import Path

import numpy as np
import pytest
from page_reader import Page, read_page
from PIL import Image
from run_folders import add_pictures, line, report, write_run

from factorio_rl.cli import main
from factorio_rl.run_record import read_run
from factorio_rl.run_report import run_report

FAMILIES = {"gear": 0.4567, "cable": 0.8765}
TIMES = {
    "search_s": 0.5,
    "network_s": 0.25,
    "learner_s": 0.125,
    "verification_s": 0.1,
    "host_s": 0.025,
}


def shown(path: Path) -> Page:
    return read_page(run_report(read_run(path)))


def full_run(path: Path) -> Path:
    lines = [line("imitation", 0, 1, loss=3.0, policy_loss=2.0, value_loss=1.0)]
    for chunk in range(1, 5):
        figures = {"target_entropy": 1.5, "root_value": 0.25, "episodes": 10 * chunk}
        solved = {"empty_solved_gear": 0.1 * chunk, "frontier_gear": 3.0}
        lines.append(line("train", chunk, 10 * chunk, **figures, **solved, **TIMES))
    reports = {
        "untrained": report(0.0, 0, dict.fromkeys(FAMILIES, 0.0)),
        "chunk-000004": report(0.6321, 2048, FAMILIES),
    }
    add_pictures(write_run(path, lines, reports))
    return path


def test_every_figure_of_the_last_evaluation_is_there(tmp_path: Path) -> None:
    page = shown(full_run(tmp_path / "run"))
    last = report(0.6321, 2048, FAMILIES)
    parts = [last, last["raw_policy"], *last["by_family"].values(), *last["by_split"].values()]
    for part in parts:
        for name in ("score", "solved", "functional"):
            assert f"{part[name]:.3f}" in page.cells
    for text in ("0.620 to 0.655", "17 simulations", "0.667", "exact rate: 3", "quickstart"):
        assert text in page.text
    assert {"7/16", "15/32", "0.9333"} <= set(page.cells)


def test_failures_are_counted_by_kind_and_family(tmp_path: Path) -> None:
    cells = shown(full_run(tmp_path / "run")).cells
    assert cells.index("unfed") < cells.index("jam")
    first, second = FAMILIES
    at = cells.index("jam")
    assert cells[at + 1 : at + 3] == ["3", f"{second} 2, {first} 1"]


def test_the_worst_family_comes_first(tmp_path: Path) -> None:
    page = shown(full_run(tmp_path / "run"))
    assert page.cells.index("family: gear") < page.cells.index("family: cable")


def test_curves_time_and_pictures_are_there(tmp_path: Path) -> None:
    page = shown(full_run(tmp_path / "run"))
    charts = {
        attributes["aria-label"]
        for tag, attributes in page.tags
        if tag == "svg" and "aria-label" in attributes
    }
    assert {
        "Evaluations by step over environment steps",
        "Evaluations by hour over hours of training",
        "Entropy of the search's policy over environment steps",
        "Seconds of a chunk over chunk",
        "Solved from empty, by family",
        "Score by family",
    } <= charts
    assert {"search", "0.5", "50 %", "host", "0.025"} <= set(page.cells)
    assert sum(tag == "img" for tag, _ in page.tags) == 3


def test_what_a_run_has_not_recorded_is_left_out_and_said(tmp_path: Path) -> None:
    page = shown(full_run(tmp_path / "run"))
    charts = {attributes.get("aria-label") for _, attributes in page.tags}
    assert "Range of Q at the root over environment steps" not in charts
    left_out = (
        "KL of the search's policy to the network's, Range of Q at the root, Depth of the tree"
    )
    assert f"Not recorded so far by this run: {left_out}." in page.text


def test_a_run_that_has_only_begun_has_a_page(tmp_path: Path) -> None:
    page = shown(write_run(tmp_path / "run"))
    assert "no evaluation yet" in page.text
    assert "No line of metrics yet." in page.text
    assert "metrics.jsonl cannot be read" in page.text
    assert "search.num_simulations" not in page.text
    assert "num_simulations" in page.cells


def test_settings_keep_their_kind(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run")
    (path / "config.yaml").write_text(
        "env:\n  one: 1\n  two: false\n  three: null\n  four: [a, 2]\n"
    )
    cells = shown(path).cells
    pairs = {name: cells[cells.index(name) + 1] for name in ("one", "two", "three", "four")}
    assert pairs == {"one": "1", "two": "false", "three": "none", "four": "a, 2"}


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    bad = "<script>alert(1)</script>\"'\ud800"
    lines = [line("train", 1, 1, **{f"empty_solved_{bad}": 0.5, "actor_precision": bad})]
    lines.append(line("switch", 1, 1, actor_precision=bad, reason=bad))
    content = report(0.5, 512, {bad: 0.5}) | {"task_set": bad}
    path = write_run(tmp_path / "run", lines, {"chunk-000001": content, "other-1-n2": content})
    (path / "identity.json").write_text(json.dumps({bad: bad}))
    (path / "config.yaml").write_text("'<b>x</b>':\n  '<i>': '<script>alert(2)</script>'\n")
    page = shown(path)
    assert all("alert" not in script for script in page.scripts)
    assert sum(tag in ("b", "i") for tag, _ in page.tags) == sum(
        tag == "div" and attributes.get("class") == "tile" for tag, attributes in page.tags
    )


def test_counts_of_trouble_are_warnings(tmp_path: Path) -> None:
    lines = [line("train", 1, 1, skipped_updates=2, failed=1, inexact=0, non_finite=["solved"])]
    text = shown(write_run(tmp_path / "run", lines)).text
    assert "2 updates were skipped" in text
    assert "1 layouts could not be verified" in text
    assert "had no exact rate" not in text
    assert "is not finite." not in text


def test_a_loss_that_is_not_finite_is_a_warning(tmp_path: Path) -> None:
    lines = [line("train", 1, 1, loss=None, non_finite=["loss"])]
    assert "In 1 lines of the metrics a loss" in shown(write_run(tmp_path / "run", lines)).text


def test_large_and_damaged_pictures_leave_the_page_small(tmp_path: Path) -> None:
    path = full_run(tmp_path / "run")
    noise = np.random.default_rng(0).integers(0, 256, (2_000, 2_000, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path / "layouts" / "heldout_sheet.png")
    (path / "layouts" / "best.png").write_bytes(b"no picture")
    html = run_report(read_run(path))
    assert len(html) < 10_000_000
    assert "best.png cannot be shown" in read_page(html).text


def test_the_command_writes_the_page_into_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = full_run(tmp_path / "run")
    assert main(["report", "--run-dir", str(path)]) == 0
    assert "report.html" in capsys.readouterr().out
    assert "0.632" in read_page((path / "report.html").read_text(encoding="utf-8")).text


@pytest.mark.parametrize("out", ["none/page.html", "."])
def test_the_command_refuses_in_one_line(
    tmp_path: Path, out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "--run-dir", str(tmp_path)]) == 2
    path = write_run(tmp_path / "run")
    assert main(["report", "--run-dir", str(path), "--out", str(tmp_path / out)]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "is no run directory" in first
    assert "--out" in second
