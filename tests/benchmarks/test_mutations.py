"""Mutations: each fits the program and names a test; the runner tells what became of one."""

import ast
import json
import subprocess
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks import mutation as mutation_module
from benchmarks import mutations
from benchmarks.mutation import (
    BROKEN,
    KILLED,
    SURVIVED,
    Mutation,
    MutationError,
    mutated,
    removed,
    verdict,
)
from benchmarks.mutation_list import MUTATIONS

PROGRAM = "def twice(number: int) -> int:\n    return 2 * number\n"

TESTS = """
import time
import pytest
from program import twice

@pytest.fixture
def four():
    assert twice(2) == 4
    return 4

def test_even():
    assert twice(3) % 2 == 0

def test_six():
    assert twice(3) == 6

@pytest.mark.drill
def test_drill():
    assert twice(3) == 6

def test_with_fixture(four):
    assert four == 4

def test_waits():
    while twice(3) != 6:
        time.sleep(0.01)
"""

SETTINGS = "[pytest]\naddopts = -m 'not drill'\nmarkers = drill\npythonpath = .\n"


def mutation(
    test: str, new: str = "4 * number", protection: str = "Numbers are doubled"
) -> Mutation:
    return Mutation(protection, "program.py", "2 * number", new, f"test_program.py::{test}")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project of one function, known to git but for one file."""
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "test_program.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    (tmp_path / ".gitignore").write_text("ignored*\n")
    (tmp_path / "ignored.txt").write_text("not copied")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "program.py"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize("listed", MUTATIONS, ids=lambda listed: listed.protection)
def test_every_mutation_fits_the_program(listed: Mutation) -> None:
    text = (mutations.ROOT / listed.file).read_text(encoding="utf-8")
    changed = removed(listed, text)
    ast.parse(changed)
    assert changed != text


def test_documented_table_is_of_this_list() -> None:
    text = (mutations.ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines()]
    assert [listed.protection for listed in MUTATIONS if listed.protection not in rows] == []


def test_every_named_test_exists() -> None:
    known: dict[str, set[str]] = {}
    for listed in MUTATIONS:
        path, _, name = listed.test.partition("::")
        if path not in known:
            tree = ast.parse((mutations.ROOT / path).read_text(encoding="utf-8"))
            known[path] = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name.partition("[")[0] in known[path], listed.test


def test_every_mutation_stands_once_and_no_machine_code_is_mutated() -> None:
    names = Counter(listed.protection for listed in MUTATIONS)
    assert [name for name, count in names.items() if count > 1] == []
    # An edit of these costs a minute of compilation in every copy.
    compiled = ("envs/verifier/", "envs/catalogue.py", "envs/layout.py")
    assert [listed for listed in MUTATIONS if listed.file.startswith(compiled)] == []
    assert 3 <= sum(listed.quick for listed in MUTATIONS) <= 10


def test_text_that_is_not_there_once_is_an_error_that_names_the_mutation() -> None:
    for text in ("return 3", "2 * number + 2 * number"):
        with pytest.raises(MutationError, match=r"program\.py .* 'Numbers are doubled'"):
            removed(mutation("test_six"), text)


def test_tree_is_as_before_after_a_mutation_also_after_an_error(tree: Path) -> None:
    with suppress(KeyError), mutated(mutation("test_six"), tree):
        assert "4 * number" in (tree / "program.py").read_text()
        raise KeyError
    assert (tree / "program.py").read_text() == PROGRAM


@pytest.mark.parametrize(
    ("of_tree", "result", "why"),
    [
        (mutation("test_six"), KILLED, ""),
        (mutation("test_drill"), KILLED, ""),
        (mutation("test_even"), SURVIVED, ""),
        (mutation("test_of_nothing"), BROKEN, "pytest ended with 4"),
        (mutation("test_six", new="2 * * number"), BROKEN, "pytest ended with"),
        (mutation("test_with_fixture"), BROKEN, "failed before the test itself"),
        (mutation("test_waits"), BROKEN, "no end within 4 s"),
    ],
    ids=lambda value: value.test + value.new if isinstance(value, Mutation) else None,
)
def test_what_becomes_of_a_mutation(tree: Path, of_tree: Mutation, result: str, why: str) -> None:
    found = verdict(of_tree, tree, patience_s=4.0)
    assert found.result == result
    assert why in found.why
    assert (tree / "program.py").read_text() == PROGRAM


@pytest.fixture
def project(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tool works on the tree; results go to its folder."""
    listed = (
        mutation("test_six", protection="held"),
        mutation("test_drill", protection="held by a drill"),
        mutation("test_even", protection="not held"),
    )
    monkeypatch.setattr(mutations, "ROOT", tree)
    monkeypatch.setattr(mutations, "MUTATIONS", listed)
    return tree


def rows_of(path: Path) -> dict[str, str]:
    return {row["protection"]: row["result"] for row in json.loads(path.read_text())["rows"]}


def test_survivor_is_told_by_the_exit_code_and_the_rows(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "ignored.json"
    assert mutations.main(["--out", str(out), "--jobs", "2"]) == 1
    assert rows_of(out) == {"held": KILLED, "held by a drill": KILLED, "not held": SURVIVED}
    assert "2 of 3 protections are held" in capsys.readouterr().out
    assert mutations.main(["--out", str(out), "--markdown"]) == 0
    table = capsys.readouterr().out
    assert "| held | `program.py` | `test_program.py::test_six` |" in table
    assert "`test_program.py::test_even` (survived) |" in table


def test_parts_of_a_run_make_up_a_whole(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "ignored.json"
    assert mutations.main(["--out", str(out), "--only", "held by", "--no-baseline"]) == 0
    assert rows_of(out) == {"held by a drill": KILLED}
    made: list[str] = []

    def remember(listed: Mutation, tree: Path) -> mutation_module.Verdict:
        made.append(listed.protection)
        return mutation_module.Verdict(KILLED, "", 0.1)

    monkeypatch.setattr(mutations, "verdict", remember)
    resume = ["--out", str(out), "--resume", str(out), "--no-baseline"]
    assert mutations.main([*resume, "--budget-s", "-1"]) == 0
    assert made == []
    assert len(json.loads(out.read_text())["left_out"]) == 2
    assert mutations.main(resume) == 0
    assert sorted(made) == ["held", "not held"]
    assert list(rows_of(out)) == ["held", "held by a drill", "not held"]
    command = json.loads(out.read_text())["command"]
    assert command == "python -m benchmarks.mutations --resume ignored.json --no-baseline"


def test_test_that_is_red_as_it_is_ends_the_tool(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "program.py").write_text("# 2 * number\ndef twice(number):\n    return 0\n")
    assert mutations.main([]) == 2
    assert "red without any mutation: test_program.py::test_six" in capsys.readouterr().err


def test_copy_has_what_git_does_not_ignore(tree: Path, tmp_path: Path) -> None:
    copy = tmp_path / "ignored_copy"
    mutations.copy_tree(tree, copy)
    names = {path.name for path in copy.iterdir()}
    assert names == {"program.py", "test_program.py", "pytest.ini", ".gitignore"}
    assert (copy / "program.py").stat().st_mtime == (tree / "program.py").stat().st_mtime
