"""Metrics on a disk that takes nothing or half a line: no error, no line lost, torn or doubled."""

import errno
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from factorio_rl import metrics
from factorio_rl.metrics import MetricsLog, read_metrics


class Disk:
    """Takes `room` more bytes, of every file; a cut may fail too."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room = 10**9
        self.cut_fails = False
        disk = self

        class LimitedFile(io.FileIO):
            def write(self, data: bytes, /) -> int:  # type: ignore[override]
                if disk.room == 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                taken = super().write(data[: disk.room])
                disk.room -= taken
                return taken

            def truncate(self, size: int | None = None, /) -> int:
                if disk.cut_fails:
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                return super().truncate(size)

        usual = Path.open

        def open_limited(path: Path, mode: str = "r", *args: Any, **options: Any) -> Any:
            if mode == "ab":
                return LimitedFile(path, mode)
            return usual(path, mode, *args, **options)

        monkeypatch.setattr(Path, "open", open_limited)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "metrics.jsonl"


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def log(path: Path, disk: Disk, warnings: list[str]) -> MetricsLog:
    return MetricsLog(path, warnings.append, clock=lambda: 7.5)


def write(log: MetricsLog, *numbers: int) -> None:
    for number in numbers:
        log.write("train", {"learner_updates": number})


def numbers_in(path: Path) -> list[int]:
    """Of every line; all have to be JSON."""
    return [json.loads(line)["learner_updates"] for line in path.read_text().splitlines()]


def test_lines_that_a_full_disk_did_not_take_follow_in_order(
    path: Path, log: MetricsLog, disk: Disk, warnings: list[str]
) -> None:
    write(log, 1)
    disk.room = 0
    write(log, 2, 3, 4)
    assert numbers_in(path) == [1]
    disk.room = 10**9
    write(log, 5)
    assert numbers_in(path) == [1, 2, 3, 4, 5]
    assert warnings[-1] == f"{path} is written again: 3 lines came late, 0 are lost"
    write(log, 6)
    assert numbers_in(path)[-1] == 6
    assert len(warnings) == 3


def test_failures_are_told_at_once_and_at_each_doubling(
    log: MetricsLog, disk: Disk, warnings: list[str]
) -> None:
    disk.room = 0
    write(log, *range(1, 10))
    assert len(warnings) == 4
    assert "No space left on device; the run goes on, 1 lines wait" in warnings[0]
    assert "8 lines wait in memory, 0 are lost" in warnings[-1]


LINE_BYTES = len(b'{"event": "train", "learner_updates": 2, "time": 7.5}\n')


@pytest.mark.parametrize("room", [1, 2, LINE_BYTES - 2, LINE_BYTES - 1, LINE_BYTES])
@pytest.mark.parametrize("cut_fails", [False, True])
def test_line_that_fits_in_part_is_neither_torn_nor_lost_nor_doubled(
    path: Path, log: MetricsLog, disk: Disk, room: int, cut_fails: bool
) -> None:
    write(log, 1)
    disk.room, disk.cut_fails = room, cut_fails
    write(log, 2, 3)
    disk.room, disk.cut_fails = 10**9, False
    write(log, 4)
    assert [record["learner_updates"] for record in read_metrics(path)] == [1, 2, 3, 4]
    if not cut_fails:
        assert numbers_in(path) == [1, 2, 3, 4]


def test_lines_that_fit_in_pieces_arrive_piece_by_piece(
    path: Path, log: MetricsLog, disk: Disk, warnings: list[str]
) -> None:
    disk.room = 0
    write(log, 1, 2, 3, 4)
    disk.room = 2 * LINE_BYTES + 10
    write(log, 5)
    assert numbers_in(path) == [1, 2]
    disk.room = 10**9
    write(log, 6)
    assert numbers_in(path) == [1, 2, 3, 4, 5, 6]
    assert "5 lines came late" in warnings[-1]


def test_oldest_lines_are_given_up_and_counted(
    path: Path,
    log: MetricsLog,
    disk: Disk,
    warnings: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(metrics, "WAITING_LINES", 3)
    disk.room = 0
    write(log, 1, 2, 3, 4, 5)
    disk.room = 10**9
    write(log, 6)
    assert numbers_in(path) == [4, 5, 6]
    assert warnings[-1].endswith("2 lines came late, 3 are lost")


def test_waiting_lines_are_known_and_dropped_by_resume(
    path: Path, log: MetricsLog, disk: Disk
) -> None:
    disk.room = 0
    write(log, 1, 2, 3)
    log.write("eval", {"learner_updates": 2})
    assert log.has("eval")
    log.truncate_after(2, scored=False)
    assert not log.has("eval")
    disk.room = 10**9
    write(log, 3)
    assert numbers_in(path) == [1, 2, 3]


def test_resume_needs_no_room(
    path: Path, log: MetricsLog, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write(log, 1, 2, 3)
    monkeypatch.setattr(metrics, "write_atomically", refuse)
    log.truncate_after(2, scored=True)
    assert numbers_in(path) == [1, 2]
    assert warnings == []


def test_end_of_the_run_writes_what_waits(path: Path, log: MetricsLog, disk: Disk) -> None:
    disk.room = 0
    write(log, 1)
    disk.room = 10**9
    log.close()
    assert numbers_in(path) == [1]


def test_end_of_the_run_tells_what_was_never_written(
    path: Path, log: MetricsLog, disk: Disk, warnings: list[str]
) -> None:
    disk.room = 0
    write(log, 1, 2)
    log.close()
    assert warnings[-1] == f"2 lines of {path} could not be written"


def test_missing_folder_and_folder_in_the_place_of_the_file_raise_nothing(tmp_path: Path) -> None:
    warnings: list[str] = []
    path = tmp_path / "run" / "metrics.jsonl"
    log = MetricsLog(path, warnings.append)
    write(log, 1)
    log.truncate_after(5, scored=True)
    path.mkdir(parents=True)
    write(log, 2)
    log.truncate_after(5, scored=True)
    assert not log.has("eval")
    path.rmdir()
    write(log, 3)
    assert numbers_in(path) == [1, 2, 3]
    assert "No such file or directory" in warnings[0]


def test_device_that_is_always_full_raises_nothing(warnings: list[str]) -> None:
    log = MetricsLog(Path("/dev/full"), warnings.append)
    write(log, 1, 2)
    assert "No space left" in warnings[0]
