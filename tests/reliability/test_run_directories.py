"""Run directories that are in use, cannot be written, go away, or belong to another run."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from reporting import small_disk
from training import Finished, Stepwise, Training, assert_same_run, contents, trained

pytestmark = pytest.mark.drill

FIRST_PROGRAM_COMPILED = "imitation: 0 of"

SHORT = ("--train.imitation_updates=0", "--train.checkpoint_every_chunks=1")


@pytest.fixture
def run_dir(straight: Path, tmp_path: Path) -> Path:
    """A finished run."""
    return Path(shutil.copytree(straight, tmp_path / "run"))


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A file system that cannot be written."""
    with small_disk(tmp_path / "disk", "1m") as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        yield disk


def assert_refused(ended: Finished, *words: str) -> None:
    """Ended with exit code 2 and one message."""
    assert ended.code == 2, ended.output
    assert ended.output.count("error: ") == 1
    assert "Traceback" not in ended.output
    assert all(text in ended.output for text in words), ended.output


def test_second_process_is_refused_and_the_first_goes_on(straight: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    with Stepwise(run_dir) as first:
        first.allow(1, 2)
        first.wait_before_chunk(3)
        before = contents(run_dir)
        who = f"another process (pid {first.process.pid} on {socket.gethostname()}) trains in"
        assert_refused(trained(run_dir), who)
        assert contents(run_dir) == before
        first.allow(3, 4, 5, 6)
        ended = first.end()
    assert ended.code == 0, ended.output
    assert_same_run(straight, run_dir)


def test_place_that_cannot_be_written_is_told_in_one_line(read_only: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    runs = [
        Training(tmp_path / name, f"--run-dir={place}")
        for name, place in {
            "a": read_only,
            "b": read_only / "missing" / "run",
            "c": tmp_path / "file" / "run",
            "d": "/proc/run",
        }.items()
    ]
    for run in runs:
        with run:
            assert_refused(run.end(), "cannot write the run directory")


def test_run_whose_directory_is_removed_ends_in_words(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    with Stepwise(run_dir, *SHORT, "--eval.every_chunks=2") as training:
        training.allow(1)
        training.wait_before_chunk(2)
        shutil.rmtree(run_dir)
        training.allow(2, 3, 4, 5, 6)
        ended = training.end()
    assert_refused(ended, "3 checkpoints in a row failed at chunk 4", "No such file or directory")
    assert "cannot write the report of chunk 2" in ended.output
    assert "there is no checkpoint to go on from" in ended.output
    assert not run_dir.exists()


def test_run_with_another_architecture_is_refused_and_nothing_is_changed(run_dir: Path) -> None:
    before = contents(run_dir)
    ended = trained(run_dir, "--network.blocks=2", "--env.growth_rule=false")
    assert_refused(ended, "network.blocks: ", "env.growth_rule: ", "set them back")
    assert contents(run_dir) == before


def test_checkpoints_of_another_run_are_refused_and_nothing_is_changed(run_dir: Path) -> None:
    """The directory says that it fits; the checkpoints in it say that they do not."""
    config = run_dir / "config.yaml"
    text = config.read_text()
    assert "growth_rule: true" in text
    config.write_text(text.replace("growth_rule: true", "growth_rule: false"))
    before = contents(run_dir)
    ended = trained(run_dir, "--env.growth_rule=false")
    assert_refused(
        ended,
        "belongs to a run with other settings",
        "env.growth_rule: True in the checkpoint, False now",
    )
    assert contents(run_dir) == before


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compilation cache with the first program of a run."""
    folder = tmp_path_factory.mktemp("cache")
    cache = folder / "cache"
    with Training(folder / "run", f"--run.compilation_cache={cache}") as training:
        training.wait_for_output(FIRST_PROGRAM_COMPILED)
    return cache


def test_damaged_compilation_cache_stops_neither_of_two_runs(
    compiled: Path, tmp_path: Path
) -> None:
    programs = [path for path in compiled.iterdir() if path.name.endswith("-cache")]
    assert programs
    for path in programs:
        os.truncate(path, path.stat().st_size // 2)
    shared = f"--run.compilation_cache={compiled}"
    runs = [Training(tmp_path / name, shared) for name in ("one", "other")]
    for run in runs:
        with run:
            run.wait_for_output(FIRST_PROGRAM_COMPILED)
            assert "Error reading persistent compilation cache entry" in run.output
            assert "Traceback" not in run.output
