"""A disk that fills up under a run: it says so, makes room, goes on, or ends with a good state."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from reporting import fill, small_disk
from saved_runs import metrics_lines, saved, steps
from training import Stepwise, trained

pytestmark = pytest.mark.drill

EVERY_CHUNK = "--train.checkpoint_every_chunks=1"

ROOM_BYTES = 300_000
"""Half a checkpoint: too little for one, enough together with what another one took."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A run directory on a disk of its own, with room for some fifteen checkpoints."""
    with small_disk(tmp_path / "disk", "8m") as folder:
        yield folder


def updates(chunk: int) -> int:
    """The step of the checkpoint of a chunk: eight updates of imitation, then four a chunk."""
    return 8 + 4 * chunk


def assert_same_end(one: Path, other: Path) -> None:
    """The last state and the metrics are the same; a report that found no room is lost."""
    first, second = saved(one), saved(other)
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[path], second[path]) for path in first)
    assert metrics_lines(one) == metrics_lines(other)


def test_run_goes_on_with_a_full_disk_and_saves_again_when_there_is_room(
    straight: Path, disk: Path
) -> None:
    filler = disk / "filler"
    with Stepwise(disk, EVERY_CHUNK) as training:
        training.allow(1, 2)
        training.wait_before_chunk(3)
        assert steps(disk) == [updates(0), updates(1), updates(2)]
        fill(filler)
        os.truncate(filler, filler.stat().st_size - ROOM_BYTES)
        training.allow(3)
        training.wait_before_chunk(4)
        assert f"removed the checkpoints {updates(1)} to make room" in training.output
        assert "NOT SAVED" not in training.output
        assert steps(disk) == [updates(0), updates(2), updates(3)]

        shutil.rmtree(disk / "checkpoints" / str(updates(2)))  # the last that could make room
        fill(disk / "more")
        training.allow(4)
        training.wait_before_chunk(5)
        assert "WARNING: NOT SAVED at chunk 4 (1 in a row, the run ends at 3)" in training.output
        assert "cannot write the report of chunk 4: No space left on device" in training.output
        assert steps(disk) == [updates(0), updates(3)]

        filler.unlink()
        (disk / "more").unlink()
        training.allow(5, 6)
        ended = training.end()
    assert ended.code == 0, ended.output
    assert "checkpoints can be written again; that of chunk 5 is saved" in ended.output
    assert "Traceback" not in ended.output
    assert_same_end(straight, disk)


def test_run_on_a_disk_that_stays_full_ends_and_goes_on_when_there_is_room(
    straight: Path, disk: Path
) -> None:
    filler = disk / "filler"
    with Stepwise(disk, EVERY_CHUNK) as training:
        training.allow(1)
        training.wait_before_chunk(2)
        fill(filler)
        training.allow(2, 3, 4, 5, 6)
        ended = training.end()
    assert ended.code == 2
    assert ended.output.count("\nerror: ") == 1
    assert len(ended.output.splitlines()) < 40
    assert "3 checkpoints in a row failed at chunk 4, so the run ends" in ended.output
    assert "Traceback" not in ended.output
    filler.unlink()

    with Stepwise(disk, EVERY_CHUNK) as training:
        training.allow(2)
        training.wait_before_chunk(3)
        assert "going on from the checkpoint of chunk 1" in training.output
        shutil.rmtree(disk / "checkpoints" / str(updates(1)))  # the last that could make room
        fill(filler)
        training.process.send_signal(signal.SIGTERM)
        training.wait_for_output("stopping after this step")
        training.allow(3)
        ended = training.end()
    assert ended.code == 143, ended.output
    assert "stopped by a signal; NOT SAVED" in ended.output
    assert "Traceback" not in ended.output
    filler.unlink()

    ended = trained(disk)
    assert ended.code == 0, ended.output
    assert "going on from the checkpoint of chunk 2" in ended.output
    assert_same_end(straight, disk)
