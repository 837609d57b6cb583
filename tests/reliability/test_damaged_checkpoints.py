"""Damaged checkpoints of a real run: an older one is used, or the run ends and changes nothing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from saved_runs import steps
from training import ROOT, assert_same_run, contents, trained

pytestmark = pytest.mark.drill


@pytest.fixture
def run_dir(straight: Path, tmp_path: Path) -> Path:
    """A finished run."""
    return Path(shutil.copytree(straight, tmp_path / "run"))


def flip_a_bit(folder: Path) -> None:
    """Of the largest file of a checkpoint, which holds numbers."""
    file = max(folder.rglob("*"), key=lambda path: path.stat().st_size)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def test_run_goes_on_from_an_older_checkpoint_bit_for_bit(straight: Path, run_dir: Path) -> None:
    newest = run_dir / "checkpoints" / str(steps(run_dir)[-1])
    flip_a_bit(newest)
    ended = trained(run_dir)
    assert ended.code == 0, ended.output
    assert f"warning: cannot load checkpoint {newest}: " in ended.output
    assert f"it is kept as {newest.with_name(f'corrupt-{newest.name}')}" in ended.output
    assert "going on from the checkpoint of chunk 4" in ended.output
    assert_same_run(straight, run_dir)


def test_run_without_a_good_checkpoint_ends_and_changes_nothing(run_dir: Path) -> None:
    folders = [run_dir / "checkpoints" / str(step) for step in steps(run_dir)]
    for folder in folders:
        flip_a_bit(folder)
    before = contents(run_dir)
    for _ in range(2):
        ended = trained(run_dir)
        assert ended.code == 4, ended.output
        assert ended.output.count("error:") == 1
        assert all(f"cannot load checkpoint {folder}: " in ended.output for folder in folders)
        assert "Traceback" not in ended.output
        assert contents(run_dir) == before


def test_evaluation_of_a_damaged_checkpoint_ends_in_words(run_dir: Path) -> None:
    for step in steps(run_dir):
        flip_a_bit(run_dir / "checkpoints" / str(step))
    before = contents(run_dir)
    done = subprocess.run(
        [sys.executable, "-m", "factorio_rl", "evaluate", "--run-dir", run_dir],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 4, done.stderr
    assert done.stderr.startswith("error: cannot load checkpoint ")
    assert done.stderr.count("\n") == 1
    assert contents(run_dir) == before
