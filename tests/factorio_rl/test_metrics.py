"""The metrics file: valid lines always, and resume drops later lines."""

import json
from pathlib import Path

import numpy as np
import pytest

from factorio_rl.metrics import MetricsLog, is_time_field, read_metrics


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "metrics.jsonl"


def _log(path: Path, warnings: list[str] | None = None) -> MetricsLog:
    return MetricsLog(path, [].append if warnings is None else warnings.append, clock=lambda: 7.5)


def test_every_record_is_on_disk_when_write_returns(path: Path) -> None:
    log = _log(path)
    log.write("train", {"learner_updates": 1, "loss": np.float32(0.5)})
    assert read_metrics(path) == [
        {"event": "train", "learner_updates": 1, "loss": 0.5, "time": 7.5}
    ]
    log.write("eval", {"learner_updates": 1, "score": 1.0, "best": True})
    assert [record["event"] for record in read_metrics(path)] == ["train", "eval"]


def test_non_finite_floats_become_null_and_are_named(path: Path) -> None:
    figures = {"a": float("nan"), "b": np.float32("inf"), "c": -float("inf"), "d": 1.0}
    _log(path).write("train", figures)

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    record = json.loads(path.read_text(), parse_constant=refuse)
    assert (record["a"], record["b"], record["c"], record["d"]) == (None, None, None, 1.0)
    assert record["non_finite"] == ["a", "b", "c"]


def test_resumed_file_equals_that_of_an_uninterrupted_run(path: Path, tmp_path: Path) -> None:
    whole = _log(tmp_path / "whole.jsonl")
    log = _log(path)
    whole.write("imitation", {"learner_updates": 1})
    log.write("imitation", {"learner_updates": 1})
    for updates in range(2, 6):
        whole.write("train", {"learner_updates": updates})
        log.write("train", {"learner_updates": updates})
    with path.open("a") as file:
        file.write('{"event": "train", "chu')
    resumed = _log(path)
    resumed.truncate_after(3, scored=True)
    resumed.write("train", {"learner_updates": 4})
    resumed.write("train", {"learner_updates": 5})
    assert path.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_starting_over_drops_every_line(path: Path) -> None:
    log = _log(path)
    log.truncate_after(3, scored=True)
    log.write("imitation", {"learner_updates": 0})
    log.truncate_after(-1, scored=True)
    assert path.read_bytes() == b""


def test_evaluation_that_is_made_again_is_dropped_from_the_file(path: Path) -> None:
    log = _log(path)
    for updates in (1, 2):
        log.write("train", {"learner_updates": updates})
        log.write("eval", {"learner_updates": updates})
    log.truncate_after(2, scored=True)
    assert len(read_metrics(path)) == 4
    log.truncate_after(2, scored=False)
    kept = [(record["event"], record["learner_updates"]) for record in read_metrics(path)]
    assert kept == [("train", 1), ("eval", 1), ("train", 2)]


def test_events_of_earlier_starts_are_known(path: Path) -> None:
    assert not _log(path).has("eval")
    _log(path).write("eval", {"learner_updates": 1})
    log = _log(path)
    assert log.has("eval")
    assert not log.has("train")
    log.truncate_after(0, scored=True)
    assert not log.has("eval")


def test_clock_that_goes_backwards_changes_only_the_time_field(path: Path) -> None:
    times = iter([1000.0, 5.0, -3.0])
    log = MetricsLog(path, clock=lambda: next(times))
    for updates in (1, 2, 3):
        log.write("train", {"learner_updates": updates})
    log.truncate_after(2, scored=True)
    records = read_metrics(path)
    assert [record["time"] for record in records] == [1000.0, 5.0]
    assert [record["learner_updates"] for record in records] == [1, 2]


def test_line_cut_short_spoils_only_itself(path: Path) -> None:
    path.write_text('{"event": "train", "learner_updates": 1}\n{"event": "tr')
    _log(path).write("train", {"learner_updates": 2})
    assert [record["learner_updates"] for record in read_metrics(path)] == [1, 2]


def test_time_fields_are_told_by_name() -> None:
    assert all(map(is_time_field, ["time", "chunk_s", "env_steps_per_s"]))
    assert not any(map(is_time_field, ["loss", "timeouts", "env_steps", "score"]))


@pytest.mark.parametrize(
    "line",
    ['{"event": "train", "learner_updates": "x"}', "[" * 200_000, '{"a": ' + "1" * 5_000 + "}"],
    ids=["text for a number", "endless depth", "a huge number"],
)
def test_lines_of_another_hand_do_not_keep_a_run_from_going_on(path: Path, line: str) -> None:
    log = _log(path)
    log.write("train", {"learner_updates": 4, "chunk": 1})
    with path.open("a") as file:
        file.write(line + "\n")
    log.write("train", {"learner_updates": 8, "chunk": 2})
    log.truncate_after(4, scored=True)
    assert [record["chunk"] for record in read_metrics(path) if "chunk" in record] == [1]


@pytest.mark.parametrize(
    ("event", "chunk", "expected"), [("eval", 4, True), ("eval", 0, False), ("imitation", 0, False)]
)
def test_records_of_chunks_bear_witness_of_progress(
    path: Path, event: str, chunk: int, expected: bool
) -> None:
    log = _log(path)
    assert not log.has_progress()
    log.write(event, {"learner_updates": 4, "chunk": chunk})
    assert log.has_progress() is expected


def _changed(lines: list[str], what: str) -> list[str]:
    return {
        "nothing": lines,
        "a cut last line": [*lines, lines[-1][:9]],
        "all lines twice": [line for line in lines for _ in range(2)],
        "another order": lines[::-1],
        "noise": [lines[0], "\x00 noise", *lines[1:]],
        "a NaN": [lines[0].replace("7.5", "NaN"), *lines[1:]],
        "no line": [],
    }[what]


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("nothing", None),
        ("a cut last line", None),
        ("all lines twice", "has lines twice"),
        ("another order", "not in the order of a run"),
        ("noise", "1 lines of it are no records"),
        ("a NaN", "1 lines of it are no records"),
        ("no line", "no line of before the checkpoint"),
    ],
)
def test_lines_that_were_changed_before_a_resume_are_told(
    path: Path, what: str, reason: str | None
) -> None:
    warnings: list[str] = []
    log = _log(path, warnings)
    for updates in (1, 2):
        log.write("imitation", {"chunk": 0, "learner_updates": updates})
    log.write("eval_untrained", {"chunk": 0, "learner_updates": 0})
    for chunk in (1, 2, 3):
        log.write("train", {"chunk": chunk, "learner_updates": 2 * chunk})
    lines = path.read_text().splitlines()
    path.write_text("\n".join(_changed(lines, what)))
    log.truncate_after(4, scored=True)
    assert len(warnings) == (reason is not None)
    assert reason is None or reason in warnings[0]


def test_metrics_that_are_gone_before_a_resume_are_told(path: Path) -> None:
    warnings: list[str] = []
    _log(path, warnings).truncate_after(-1, scored=True)
    assert warnings == []
    _log(path, warnings).truncate_after(4, scored=True)
    assert warnings == [f"{path} is gone, and with it the lines before the checkpoint"]
