"""The lock of a run directory: one process at a time, also after the file was removed."""

import os
from pathlib import Path

import pytest

from factorio_rl.run_lock import LOCK_FILE, LockedError, RunLock


def test_a_directory_is_held_by_one_process_at_a_time(tmp_path: Path) -> None:
    with RunLock(tmp_path):
        words = f"pid {os.getpid()} on .* trains in {tmp_path}"
        with pytest.raises(LockedError, match=words), RunLock(tmp_path):
            pass
    with RunLock(tmp_path):
        pass


def test_a_lock_whose_file_was_removed_is_taken_again(tmp_path: Path) -> None:
    with RunLock(tmp_path) as lock:
        lock.require_held()
        (tmp_path / LOCK_FILE).unlink()
        lock.require_held()
        with pytest.raises(LockedError), RunLock(tmp_path):
            pass
        lock.require_held()


def test_a_lock_that_another_run_has_taken_meanwhile_is_lost(tmp_path: Path) -> None:
    with RunLock(tmp_path) as lock:
        (tmp_path / LOCK_FILE).unlink()
        with RunLock(tmp_path), pytest.raises(LockedError, match="trains in"):
            lock.require_held()


def test_a_directory_that_is_gone_is_no_other_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with RunLock(folder) as lock:
        (folder / LOCK_FILE).unlink()
        folder.rmdir()
        lock.require_held()


def test_a_lock_with_another_name_is_not_written_into(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("run: {}\n")
    (tmp_path / LOCK_FILE).hardlink_to(config)
    with RunLock(tmp_path):
        pass
    assert config.read_text() == "run: {}\n"
    (tmp_path / LOCK_FILE).unlink()
    (tmp_path / LOCK_FILE).symlink_to(config)
    with pytest.raises(OSError, match="symbolic"), RunLock(tmp_path):
        pass
    assert config.read_text() == "run: {}\n"
