"""The metrics file: valid lines always, resume drops later lines, a full disk never raises."""

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
    resumed.truncate_after(3)
    resumed.write("train", {"learner_updates": 4})
    resumed.write("train", {"learner_updates": 5})
    assert path.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_starting_over_drops_every_line(path: Path) -> None:
    log = _log(path)
    log.truncate_after(3)
    log.write("imitation", {"learner_updates": 0})
    log.truncate_after(-1)
    assert path.read_bytes() == b""


def test_line_cut_short_spoils_only_itself(path: Path) -> None:
    path.write_text('{"event": "train", "learner_updates": 1}\n{"event": "tr')
    _log(path).write("train", {"learner_updates": 2})
    assert [record["learner_updates"] for record in read_metrics(path)] == [1, 2]


def test_write_failure_warns_once_and_recovers(path: Path) -> None:
    warnings: list[str] = []
    log = _log(path, warnings)
    path.mkdir()
    for chunk in range(3):
        log.write("train", {"learner_updates": chunk})
    log.truncate_after(1)
    assert len(warnings) == 1
    assert str(path) in warnings[0]
    path.rmdir()
    log.write("train", {"learner_updates": 3})
    assert [record["learner_updates"] for record in read_metrics(path)] == [3]


def test_full_disk_does_not_raise() -> None:
    warnings: list[str] = []
    log = _log(Path("/dev/full"), warnings)
    log.write("train", {"learner_updates": 1})
    log.write("train", {"learner_updates": 2})
    assert len(warnings) == 1
    assert "No space left" in warnings[0]


def test_time_fields_are_told_by_name() -> None:
    assert all(map(is_time_field, ["time", "chunk_s", "env_steps_per_s"]))
    assert not any(map(is_time_field, ["loss", "timeouts", "env_steps", "score"]))
