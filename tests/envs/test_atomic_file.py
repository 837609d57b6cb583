"""Files appear whole or not at all; what a killed writer left is found and removed."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from envs.atomic_file import remove_leftovers, write_atomically, write_text_atomically

KILLED_WRITER = """
import os, sys
from pathlib import Path
from envs.atomic_file import write_atomically

def parts():
    yield b"half"
    os.kill(os.getpid(), 9)

write_atomically(Path(sys.argv[1]), parts())
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_parts_become_one_file_in_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text("old and longer")
    write_atomically(path, [b"ne", memoryview(b"w")])
    assert path.read_bytes() == b"new"
    write_text_atomically(path, "später")
    assert path.read_text(encoding="utf-8") == "später"
    assert names(tmp_path) == ["some.json"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_full_disk_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "some.json"
    path.write_text("old")
    monkeypatch.setattr(os, failing, refuse)
    with pytest.raises(OSError, match="No space left"):
        write_text_atomically(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["some.json"]


def test_interruption_leaves_nothing(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "some.json", parts())
    assert names(tmp_path) == []


def test_file_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "some.json"
    at_sync: list[tuple[int, bool]] = []

    def record(descriptor: int) -> None:
        at_sync.append((os.fstat(descriptor).st_size, path.exists()))

    monkeypatch.setattr(os, "fsync", record)
    write_text_atomically(path, "new")
    assert at_sync == [(3, False)]


def test_killed_writer_leaves_the_old_file_and_a_leftover_that_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", KILLED_WRITER, str(path)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.returncode == -9
    assert path.read_text() == "old"
    [leftover, _] = names(tmp_path)
    assert leftover.startswith(".some.json.")
    remove_leftovers(tmp_path)
    assert names(tmp_path) == ["some.json"]


def test_only_leftovers_of_ended_writers_are_removed(tmp_path: Path) -> None:
    kept = [".notes.tmp", "a.json.1.tmp", ".a.json", f".a.json.{os.getppid()}.tmp"]
    removed = [f".a.json.{os.getpid()}.tmp", f".a.json.{10**30}.tmp"]
    for name in kept + removed:
        (tmp_path / name).touch()
    remove_leftovers(tmp_path)
    assert names(tmp_path) == sorted(kept)


def test_missing_folder_has_no_leftovers(tmp_path: Path) -> None:
    remove_leftovers(tmp_path / "none")


@pytest.mark.parametrize("path", [".", "", "/"])
def test_a_folder_without_a_name_is_no_file(path: str) -> None:
    with pytest.raises(IsADirectoryError):
        write_atomically(Path(path), [b"content"])
