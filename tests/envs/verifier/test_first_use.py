"""Telling whether the verifier must still be compiled: the marker in numba's cache folder."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from envs.verifier import first_use
from envs.verifier.first_use import compile_verifier, must_compile
from envs.verifier.recurrence import run

ROOT = Path(__file__).parents[3]


def keeping_code_in(folder: str | None) -> SimpleNamespace:
    """An entry point that numba caches in a folder, or nowhere."""
    return SimpleNamespace(stats=SimpleNamespace(cache_path=folder))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in the place of numba's."""
    monkeypatch.setattr(first_use, "run", keeping_code_in(str(tmp_path)))
    return tmp_path


def test_the_first_use_compiles_and_the_next_does_not(folder: Path) -> None:
    assert must_compile()
    assert list(folder.iterdir()) == []
    compile_verifier()
    assert not must_compile()
    assert len(list(folder.iterdir())) == 1


def test_all_that_a_command_may_use_is_compiled() -> None:
    code = """
from envs.verifier.first_use import compile_verifier
from envs.verifier.observe import observe
from envs.verifier.recurrence import run, run_sink
compile_verifier()
print([len(entry.signatures) for entry in (run, run_sink, observe)])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "[1, 1, 1]\n", done.stderr


def test_another_source_or_compiler_makes_it_stale(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_verifier()
    monkeypatch.setattr(first_use, "source_stamp", lambda: "another" * 10)
    assert must_compile()
    compile_verifier()
    assert not must_compile()
    monkeypatch.setattr(first_use.numba, "__version__", "0.0.1")
    assert must_compile()


def test_older_markers_go_and_other_files_stay(folder: Path) -> None:
    (folder / "old.verifier").touch()
    (folder / "code.nbc").touch()
    compile_verifier()
    names = {path.name for path in folder.iterdir()}
    assert "old.verifier" not in names
    assert "code.nbc" in names
    assert len(names) == 2


def test_without_a_folder_every_use_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_use, "run", keeping_code_in(None))
    compile_verifier()
    assert must_compile()


def test_a_folder_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_use, "run", keeping_code_in(str(tmp_path / "file" / "below")))
    (tmp_path / "file").touch()
    compile_verifier()
    assert must_compile()


def test_the_folder_is_the_one_that_numba_uses() -> None:
    compile_verifier()
    assert list(Path(run.stats.cache_path).glob("*.verifier"))
    assert not must_compile()
