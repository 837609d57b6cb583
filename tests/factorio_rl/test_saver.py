"""Checkpoints that cannot be written: room is made, the run goes on, and ends after some."""

import errno
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from factorio_rl.checkpoint import CheckpointStore, SaveError
from factorio_rl.checkpoint_manifest import Manifest
from factorio_rl.config import Config
from factorio_rl.loop_state import LoopState
from factorio_rl.non_finite import NonFiniteError
from factorio_rl.saver import Saver, SavesFailedError

FULL = OSError(errno.ENOSPC, "No space left on device")
READ_ONLY = OSError(errno.EROFS, "Read-only file system")


class Disk:
    """A store that takes checkpoints while it has errors left to raise for none."""

    directory = Path("/run/checkpoints")

    def __init__(self, kept: Iterable[int], errors: list[OSError | None]) -> None:
        self.kept, self._errors = list(kept), errors
        self.scores: dict[int, float] = {}

    def save(self, manifest: Manifest, parts: object) -> None:
        error = self._errors.pop(0) if self._errors else None
        if error is not None:
            raise SaveError("cannot write checkpoint", error)
        self.kept.insert(0, manifest.step)

    def set_score(self, step: int, score: float) -> None:
        self.scores[step] = score

    def steps(self) -> list[int]:
        return self.kept

    def keep_only(self, newest: int, every_chunks: int | None) -> list[int]:
        assert every_chunks is None
        gone, self.kept = self.kept[newest:], self.kept[:newest]
        return gone


def at(chunk: int) -> LoopState:
    """A state of which only its place is looked at."""
    parts: dict[str, Any] = dict.fromkeys(LoopState.__dataclass_fields__)
    parts["learner"] = SimpleNamespace(updates=10 * chunk)
    parts["counters"] = SimpleNamespace(chunk=chunk)
    return LoopState(**parts)


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def saver_on(
    config: Config, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[Disk], Saver]:
    """A saver whose states are all fit to be saved, and that ends at three failures."""
    monkeypatch.setattr("factorio_rl.saver.why_not_to_save", lambda state, *, is_last: None)
    settings = config.train.model_copy(update={"max_failed_saves": 3})
    return lambda disk: Saver(settings, cast(CheckpointStore, disk), {}, {}, told.append)


def test_full_disk_gets_room_from_old_checkpoints_once(
    saver_on: Callable[[Disk], Saver], told: list[str]
) -> None:
    disk = Disk([30, 20, 10], [FULL])
    assert saver_on(disk).save(at(4))
    assert disk.kept == [40, 30]
    assert len(told) == 1
    assert "removed the checkpoints 20, 10 to make room" in told[0]


def test_what_is_no_full_disk_costs_no_old_checkpoint(
    saver_on: Callable[[Disk], Saver], told: list[str]
) -> None:
    disk = Disk([30, 20, 10], [READ_ONLY])
    assert not saver_on(disk).save(at(4))
    assert disk.kept == [30, 20, 10]
    assert "NOT SAVED at chunk 4" in told[0]
    assert "training goes on" in told[0]
    assert "/run/checkpoints/30" in told[0]


def test_run_ends_after_so_many_failures_in_a_row(saver_on: Callable[[Disk], Saver]) -> None:
    saver = saver_on(Disk([10], [READ_ONLY] * 3))
    assert not saver.save(at(2))
    assert not saver.save(at(3))
    with pytest.raises(SavesFailedError, match=r"3 checkpoints in a row .*/run/checkpoints/10"):
        saver.save(at(4))


def test_a_checkpoint_that_is_written_begins_the_count_anew(
    saver_on: Callable[[Disk], Saver], told: list[str]
) -> None:
    saver = saver_on(Disk([10], [READ_ONLY, READ_ONLY, None, READ_ONLY, READ_ONLY]))
    assert [saver.save(at(chunk)) for chunk in range(2, 7)] == [False, False, True, False, False]
    assert "can be written again; that of chunk 4 is saved" in told[2]


def test_run_whose_last_checkpoint_failed_does_not_end_as_if_saved(
    saver_on: Callable[[Disk], Saver],
) -> None:
    saver = saver_on(Disk([10], [READ_ONLY, None]))
    saver.save(at(2))
    with pytest.raises(SavesFailedError, match="at the end of the run"):
        saver.require_saved()
    saver.save(at(3))
    saver.require_saved()


def test_state_that_is_not_fit_is_not_saved(
    saver_on: Callable[[Disk], Saver], told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "factorio_rl.saver.why_not_to_save", lambda state, *, is_last: "it is not finite"
    )
    disk = Disk([10], [])
    saver = saver_on(disk)
    assert not saver.save(at(2))
    assert saver.is_owed
    with pytest.raises(NonFiniteError, match="the last state is not finite"):
        saver.require_saved()
    assert disk.kept == [10]
    assert told == ["warning: not saved at chunk 2: it is not finite"]
