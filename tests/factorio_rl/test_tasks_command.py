"""The command `tasks` as a user meets it: build a pool, show tasks, check a task file."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from PIL import Image

from envs.heldout import HELDOUT_SETS, heldout_path
from envs.pool_file import open_pool
from envs.split import is_heldout
from envs.task_spec import layout_of
from envs.verifier import score_rate
from factorio_rl.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "task.yaml"
BUILD = ("tasks", "build", "--width", "8", "--height", "8", "--max-blocked", "2", "--workers", "1")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """(exit code, standard output, standard error) of a command without a traceback."""
    code = main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return code, printed.out, printed.err


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The message of a command that is refused with exit code 2."""
    code, _, errors = run(capsys, *arguments)
    assert code == 2
    return errors


@pytest.fixture(scope="module")
def pool_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pool of two families that the command built."""
    path = tmp_path_factory.mktemp("pool") / "tiny.pool"
    options = ("--out", str(path), "--num-tasks", "5", "--families", "pipe", "gear")
    assert main([*BUILD, *options]) == 0
    return path


def test_build_writes_verified_training_tasks_of_every_family(pool_path: Path) -> None:
    pool = open_pool(pool_path)
    assert pool.manifest["families"] == {"pipe": 3, "gear": 2}
    assert pool.manifest["generator"]["max_blocked"] == 2
    for solved in pool:
        assert not is_heldout(solved.spec)
        assert score_rate(layout_of(solved.spec, solved.placements)) == solved.spec.target_rate


def test_build_says_what_it_made_and_replaces_a_pool(
    pool_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "again.pool"
    path.write_bytes(pool_path.read_bytes())
    options = ("--out", path, "--num-tasks", 2, "--families", "pipe")
    code, printed, errors = run(capsys, *BUILD, *options)
    assert code == 0
    assert "2 tasks in" in printed
    assert "by 1 process:" in printed
    assert open_pool(path).manifest["sha256"] in printed
    assert errors.startswith("tasks: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--families", "geer"), "'geer' is no family of tasks; did you mean gear?"),
        (("--num-tasks", "0"), "'0' is no whole number from 1 to"),
        (("--width", "3"), "'3' is no whole number from 4 to 32"),
        (("--seed", "-1"), "'-1' is no whole number from 0 to"),
        (("--families", "inserter-from-plates", "--placement-limit", "3"), "no task of inserter"),
    ],
)
def test_settings_that_make_no_tasks_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str
) -> None:
    assert message in refused(capsys, *BUILD, "--out", tmp_path / "x.pool", *options)
    assert list(tmp_path.iterdir()) == []


def test_build_spares_files_that_are_no_pools(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("years of work")
    assert "is no pool file; give another path" in refused(capsys, *BUILD, "--out", thesis)
    assert thesis.read_text() == "years of work"
    missing = tmp_path / "no" / "x.pool"
    assert "is no folder; make it first" in refused(capsys, *BUILD, "--out", missing)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_signal_ends_a_build_without_a_file(tmp_path: Path, workers: str) -> None:
    command = [sys.executable, "-m", "factorio_rl", "tasks", "build", "--num-tasks", "100000"]
    command += ["--out", str(tmp_path / "x.pool"), "--workers", workers]
    running = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert running.stderr is not None
    assert any("tasks: " in line for line in running.stderr)
    # To all processes, as a terminal does.
    os.killpg(running.pid, signal.SIGINT)
    printed, errors = running.communicate(timeout=120)
    assert running.returncode == 130
    assert "nothing was written" in printed
    assert "Traceback" not in printed + errors
    assert list(tmp_path.iterdir()) == []


def test_show_lists_a_pool_and_draws_a_sheet(
    pool_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    png = tmp_path / "sheet.png"
    code, printed, _ = run(capsys, "tasks", "show", pool_path, "--png", png, "--first", 1)
    assert code == 0
    assert open_pool(pool_path).manifest["sha256"] in printed
    rows = [line for line in printed.splitlines() if line.startswith("│")]
    assert [row.split("│")[1].strip() for row in rows] == ["1", "2", "3", "4"]
    with Image.open(png) as sheet:
        assert sheet.width > 3 * sheet.height


def test_show_lists_a_family_only(pool_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, printed, _ = run(capsys, "tasks", "show", pool_path, "--family", "gear", "--num-tasks", 9)
    rows = [line for line in printed.splitlines() if line.startswith("│")]
    assert [row.split("│")[1].strip() for row in rows] == ["1", "3"]
    message = refused(capsys, "tasks", "show", pool_path, "--family", "geer")
    assert "has no task of family 'geer'; did you mean gear?" in message


@pytest.mark.parametrize("name", sorted(HELDOUT_SETS))
def test_show_knows_the_held_out_sets(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, printed, _ = run(capsys, "tasks", "show", name, "--num-tasks", 2)
    assert code == 0
    assert HELDOUT_SETS[name].sha256 in printed


def test_show_draws_a_task_without_a_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    png = tmp_path / "task.png"
    code, printed, _ = run(capsys, "tasks", "show", EXAMPLE, "--png", png)
    assert code == 0
    assert "gears" in printed
    assert png.exists()


def test_show_refuses_what_it_cannot_show(
    pool_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no held-out set (quickstart" in refused(capsys, "tasks", "show", "quickstrat")
    message = refused(capsys, "tasks", "show", pool_path, "--first", 5)
    assert "--first is 5, and there are 5 tasks" in message
    bad = tmp_path / "bad.yaml"
    bad.write_text(EXAMPLE.read_text().replace("E, role: sink", "E, role: source"))
    assert "see python -m factorio_rl tasks validate" in refused(capsys, "tasks", "show", bad)
    message = refused(capsys, "tasks", "show", EXAMPLE, "--png", tmp_path / "a.xyz")
    assert "cannot write the picture" in message


def test_validate_passes_sound_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    code, printed, _ = run(capsys, "tasks", "validate", EXAMPLE)
    assert code == 0
    assert printed.splitlines()[-1].endswith("1 task, nothing is wrong")
    code, printed, _ = run(capsys, "tasks", "validate", heldout_path("quickstart"))
    assert code == 0
    assert printed.splitlines()[-1].endswith("128 tasks, nothing is wrong")


def test_validate_tells_everything_and_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = yaml.safe_load(EXAMPLE.read_text())
    wrong = {**task, "name": "wrong", "hight": 3, "recipes": ["iron-gear-weel"], "target_rate": 99}
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([task, wrong, {"name": "broken"}]))
    code, printed, _ = run(capsys, "tasks", "validate", path)
    assert code == 2
    assert "  hight is no key; did you mean height?" in printed
    assert "  recipe 'iron-gear-weel' is not known" in printed
    assert "  the rate is 99 items/s; a belt carries at most 15" in printed
    assert "task broken: cannot be read" in printed
    assert printed.splitlines()[-1].endswith("2 of 3 tasks cannot be used")


def test_without_a_rate_the_bound_is_shown_as_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(
        "product: pipe\n"
        "inputs: [{edge: west, position: 1, left: iron-plate}]\n"
        "output: {edge: east, position: 1}\n"
    )
    code, printed, _ = run(capsys, "tasks", "validate", path)
    assert code == 0
    assert "as many as possible, 7.5 items/s (15/2) at the very most, of pipe" in printed
    code, printed, _ = run(capsys, "tasks", "show", path)
    assert code == 0
    assert "at most 7.5 (15/2)" in printed
    path.write_text(path.read_text() + "limit: 3\n")
    code, printed, _ = run(capsys, "tasks", "validate", path)
    assert code == 2
    assert "as many as possible of pipe, at most 3 placements" in printed


def test_warnings_do_not_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(
        EXAMPLE.read_text().replace("direction: E, role: source", "direction: W, role: source")
    )
    code, printed, _ = run(capsys, "tasks", "validate", path)
    assert code == 0
    assert "  warning: the source at (0, 5) flows against the border" in printed


def test_validate_refuses_a_file_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "task.yaml"
    path.write_text("ports: [")
    assert "is no YAML" in refused(capsys, "tasks", "validate", path)
    assert "cannot be read" in refused(capsys, "tasks", "validate", tmp_path / "none.yaml")


def test_validate_tells_a_start_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = tmp_path / "task.yaml"
    text = (Path(__file__).parents[2] / "examples" / "gears.yaml").read_text()
    task.write_text(f"{text}start: half.json\n")
    code, printed, _ = run(capsys, "tasks", "validate", task)
    assert code == 2
    assert f"start: there is no file {tmp_path / 'half.json'}; mend its path" in printed
    (tmp_path / "half.json").write_text("{}")
    assert run(capsys, "tasks", "validate", task)[0] == 0
