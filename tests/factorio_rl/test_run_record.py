"""A run is read from outside as far as it can be, and what cannot be read is named."""

import json
from pathlib import Path

import pytest
from run_folders import START_S, line, report, write_run

from envs.errors import UserError
from factorio_rl.run_record import number, read_run
from factorio_rl.run_scores import best_of, scored


def test_hours_go_on_over_the_starts_of_a_run(tmp_path: Path) -> None:
    lines = [line("train", 1, 600), line("train", 2, 1200), line("train", 3, 60, START_S + 90_000)]
    run = read_run(write_run(tmp_path / "run", lines))
    assert [round(record["hours"] * 3600) for record in run.records] == [600, 1200, 1260]
    assert run.starts == (0, 2)


def test_damaged_lines_are_counted_and_left_out(tmp_path: Path) -> None:
    lines = [line("train", 1, 1), '{"event": "tra', "[1]", line("train", 2, 2)]
    run = read_run(write_run(tmp_path / "run", lines))
    assert [record["chunk"] for record in run.of_event("train")] == [1, 2]
    assert run.problems == ("2 of 4 lines of metrics.jsonl are damaged",)


def test_a_line_that_is_being_written_is_no_damage(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", [line("train", 1, 1)])
    with (path / "metrics.jsonl").open("a") as file:
        file.write('{"event": "tra')
    run = read_run(path)
    assert len(run.records) == 1
    assert run.problems == ()


def test_damaged_files_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", [line("eval", 0, 1, score=0.5)], {})
    (path / "eval" / "chunk-000000.json").write_text("{")
    (path / "identity.json").write_text("[]")
    (path / "config.yaml").write_text("train: [")
    run = read_run(path)
    named = {one.split()[0] for one in run.problems}
    assert named == {"chunk-000000.json", "config.yaml", "identity.json"}
    assert [one.score for one in scored(run)] == [0.5]


def test_what_is_no_run_directory_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for path in (tmp_path, tmp_path / "none", file):
        with pytest.raises(UserError, match="is no run directory"):
            read_run(path)


def test_a_config_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").mkdir()
    with pytest.raises(UserError):
        read_run(tmp_path)


def test_a_link_out_of_the_run_is_not_followed(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run")
    (tmp_path / "secret").write_text('{"password": 1}')
    (path / "eval" / "chunk-000001.json").symlink_to(tmp_path / "secret")
    with pytest.raises(UserError, match="link"):
        read_run(path)


def test_reports_come_first_and_lines_stand_in_for_lost_ones(tmp_path: Path) -> None:
    lines = [
        line("eval_untrained", 0, 1, score=0.125, score_gear=0.25),
        line("eval", 0, 3600, score=0.3),
        line("eval", 4, 7200, score=0.9, raw_score=0.7, score_gear=0.8),
    ]
    run = read_run(
        write_run(tmp_path / "run", lines, {"chunk-000000": report(0.5, 0, {"gear": 0.5})})
    )
    found = scored(run)
    assert [one.name for one in found] == ["untrained", "chunk-000000", "chunk-000004"]
    assert [one.score for one in found] == [0.125, 0.5, 0.9]
    assert [one.hours for one in found] == [0.0, 1.0, 2.0]
    assert found[2].raw == {"score": 0.7}
    assert found[2].families == {"gear": {"score": 0.8}}
    best = best_of(found)
    assert best is not None
    assert best.name == "chunk-000004"


def test_reports_that_were_asked_for_stand_apart(tmp_path: Path) -> None:
    reports = {
        name: report(0.5, 0, {}) for name in ("chunk-000360", "quickstart-5220-n32", "untrained")
    }
    run = read_run(write_run(tmp_path / "run", [], reports))
    assert list(run.evaluations) == ["untrained", "chunk-000360"]
    assert list(run.others) == ["quickstart-5220-n32"]


@pytest.mark.parametrize("value", [None, "1", True, [], {}, 10**400, 1e31, float("nan")])
def test_what_is_no_figure_is_none(value: object) -> None:
    assert number({"a": value}, "a") is None


def test_versions_come_from_the_newest_checkpoint(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run")
    for step in (9, 100):
        (path / "checkpoints" / str(step)).mkdir(parents=True)
        text = json.dumps({"made_with": {"device": f"step {step}"}})
        (path / "checkpoints" / str(step) / "manifest.json").write_text(text)
    assert read_run(path).made_with == {"device": "step 100"}
