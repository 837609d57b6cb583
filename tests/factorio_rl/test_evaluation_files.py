"""What an evaluation leaves behind: whole files or none, and tasks of all families on the sheet."""

import errno
import json
import os
from fractions import Fraction
from pathlib import Path

import pytest
from PIL import Image

from envs.heldout import load_heldout
from factorio_rl.evaluation import Evaluation, make_report
from factorio_rl.evaluation_files import (
    SHEET_TASKS,
    evaluation_fields,
    failures_on_sheet,
    read_report,
    shown_pictures,
    tasks_on_sheet,
    write_layouts,
    write_picture,
    write_report,
)
from factorio_rl.scoring import Outcome


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)


def test_report_comes_back_with_the_steps_it_was_made_at(tmp_path: Path) -> None:
    write_report(tmp_path / "eval", "chunk-000004", {"score": 0.5}, 64)
    assert read_report(tmp_path / "eval", "chunk-000004") == {"score": 0.5, "env_steps": 64}


def test_layouts_are_pictures_a_text_and_a_layout_file(tmp_path: Path) -> None:
    solved = load_heldout("quickstart").tasks[:2]
    specs, layouts = [entry.spec for entry in solved], [list(entry.placements) for entry in solved]
    outcomes = [Outcome(Fraction(1), Fraction(1)), Outcome(Fraction(0), Fraction(1))]
    report = make_report("quickstart", specs, outcomes, layouts, outcomes)
    write_layouts(tmp_path, specs, Evaluation(report, outcomes, layouts))
    files = ["best.json", "best.png", "best.txt", "failures.png", "heldout_sheet.png"]
    assert names(tmp_path) == files
    json.loads((tmp_path / "best.json").read_text())
    Image.open(tmp_path / "best.png").verify()
    for path in (shown_pictures(tmp_path)[name] for name in ("layouts", "failures")):
        Image.open(path).verify()
    solved_too = [outcomes[0]] * 2
    report = make_report("quickstart", specs, solved_too, layouts, solved_too)
    write_layouts(tmp_path, specs, Evaluation(report, solved_too, layouts))
    assert "failures.png" not in names(tmp_path)


def test_sheet_of_failures_shows_each_kind_in_turn() -> None:
    kinds = [None, "slow", "slow", None, "jam", "slow", *["slow"] * 20, "unfed", "jam"]
    shown = failures_on_sheet({"tasks": [{"failure": kind} for kind in kinds]})
    assert [kinds[index] for index in shown] == [
        *("slow", "jam", "unfed", "slow", "jam"),
        *["slow"] * 7,
    ]
    assert len(set(shown)) == len(shown) == 12


def test_metrics_have_score_and_solved_of_each_family() -> None:
    specs = [solved.spec for solved in load_heldout("quickstart").tasks[:2]]
    outcomes = [Outcome(Fraction(1), Fraction(1)), Outcome(Fraction(1, 2), Fraction(1))]
    report = make_report("quickstart", specs, outcomes, [[], []], outcomes)
    fields = evaluation_fields(report)
    first, second = (spec.family for spec in specs)
    assert (fields[f"score_{first}"], fields[f"solved_{first}"]) == (1.0, 1.0)
    assert (fields[f"score_{second}"], fields[f"solved_{second}"]) == (0.5, 0.0)


@pytest.mark.usefixtures("full_disk")
def test_full_disk_leaves_the_old_files_and_no_part_of_new_ones(tmp_path: Path) -> None:
    picture = Image.new("RGB", (8, 8))
    picture.save(tmp_path / "best.png")
    (tmp_path / "chunk.json").write_text('{"score": 1}')
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(OSError, match="No space left"):
        write_report(tmp_path, "chunk", {"score": 0.5}, 64)
    with pytest.raises(OSError, match="No space left"):
        write_picture(tmp_path / "best.png", Image.new("RGB", (9, 9)))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["quickstart", "heldout-v1", "heldout-hard-v1"])
def test_the_sheet_shows_as_many_families_as_it_can(name: str) -> None:
    specs = [solved.spec for solved in load_heldout(name).tasks]
    shown = tasks_on_sheet(specs)
    assert len(set(shown)) == SHEET_TASKS
    families = {spec.family for spec in specs}
    assert len({specs[index].family for index in shown}) == min(SHEET_TASKS, len(families))


@pytest.mark.parametrize("count", [1, 4, 5, 12, 13])
def test_small_sets_are_shown_as_far_as_there_is_room(count: int) -> None:
    specs = [solved.spec for solved in load_heldout("quickstart").tasks[:count]]
    shown = tasks_on_sheet(specs)
    assert len(shown) == min(count, SHEET_TASKS)
    assert set(shown) <= set(range(count))
