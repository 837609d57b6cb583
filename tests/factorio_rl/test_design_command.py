"""The command `design` from end to end with a tiny agent file: files, messages, exit codes."""

import json
import os
import signal
from fractions import Fraction
from pathlib import Path

import pytest
from tiny_setup import SOLVED

from envs.blueprint.text import decode_text
from envs.layout_json import layout_from_json, layout_to_json
from envs.task_file import read_task_file
from envs.task_problems import problems
from envs.task_spec import layout_of
from envs.verifier import verify
from factorio_rl import cli
from factorio_rl.agent_file import Agent, write_agent_file
from factorio_rl.config import Config
from factorio_rl.design_bar import DesignBar
from factorio_rl.learner import LearnerState

FILES = {
    "layout.json",
    "layout.png",
    "blueprint-2.0.txt",
    "blueprint-1.1.txt",
    "report.html",
    "result.json",
}
REFERENCE = SOLVED[1]
TASK = """
name: pipes
product: pipe
grid: 7x7
inputs: [{x: 6, y: 3, direction: S, item: iron-plate}]
output: {x: 1, y: 0, direction: N}
limit: 10
"""


@pytest.fixture(scope="module")
def agent(config: Config, learner: LearnerState, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("agent") / "tiny.safetensors"
    write_agent_file(path, Agent(config, learner.params, "tiny", {"env_steps": 0}))
    return path


@pytest.fixture
def task(tmp_path: Path) -> Path:
    path = tmp_path / "task.yaml"
    path.write_text(TASK + "rate: 15/16\n")
    return path


def design(task: Path, agent: Path, *more: str) -> int:
    return cli.main(
        [
            "design",
            *("--task", str(task), "--agent", str(agent), "--out", str(task.parent / "out")),
            *("--attempts", "4", "--num-simulations", "2", "--time-budget-s", "0.2", *more),
        ]
    )


def start_file(folder: Path, count: int) -> str:
    path = folder / "start.json"
    layout = layout_of(REFERENCE.spec, REFERENCE.placements[:count])
    path.write_text(json.dumps(layout_to_json(layout)))
    return str(path)


def test_a_met_target_gives_all_files_and_code_0(
    task: Path, agent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = start_file(task.parent, len(REFERENCE.placements))
    assert design(task, agent, "--start", whole) == 0
    printed = capsys.readouterr().out
    assert "target reached: 0.9375 items/s (15/16) of pipe, asked for" in printed
    out = task.parent / "out"
    assert {path.name for path in out.iterdir()} == FILES
    layout = layout_from_json(json.loads((out / "layout.json").read_text()))
    assert verify(layout).rates[0].rate == Fraction(15, 16)
    result = json.loads((out / "result.json").read_text())
    assert (result["rate"], result["target"], result["reached"]) == ("15/16", "15/16", True)
    assert set(result["files"]) == FILES
    for game in ("2.0", "1.1"):
        blueprint = decode_text((out / f"blueprint-{game}.txt").read_text())["blueprint"]
        assert blueprint["label"] == "pipes"
    assert "<html" in (out / "report.html").read_text()
    assert (out / "layout.png").read_bytes().startswith(b"\x89PNG")


def test_a_missed_target_says_what_limits_it_and_has_code_1(
    task: Path, agent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task.write_text(TASK + "rate: 1.9\n")
    code = design(task, agent, "--json")
    result = json.loads(capsys.readouterr().out)
    assert code == 1
    assert not result["reached"]
    assert Fraction(result["rate"]) < Fraction(19, 10)
    assert result["attempts"] >= 4
    assert result["limited_by"].startswith("pipe at (1, 0)")
    assert result["limited_by"] == result["report"]["bottleneck"]


def test_without_a_rate_the_target_is_a_bound(
    task: Path, agent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task.write_text(TASK)
    assert design(task, agent, "--start", start_file(task.parent, 6)) == 0
    printed = capsys.readouterr().out
    assert "ports and room allow" in printed
    result = json.loads((task.parent / "out" / "result.json").read_text())
    assert result["target_is_bound"]
    assert Fraction(result["rate"]) >= Fraction(15, 16)


def test_a_start_named_by_the_task_file_stays(task: Path, agent: Path) -> None:
    start_file(task.parent, 3)
    task.write_text(TASK + "rate: 1.9\nstart: start.json\n")
    design(task, agent)
    built = layout_from_json(json.loads((task.parent / "out" / "layout.json").read_text()))
    start = layout_of(REFERENCE.spec, REFERENCE.placements[:3])
    assert set(start.entities) <= set(built.entities)


def test_ctrl_c_writes_the_best_so_far(
    task: Path,
    agent: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = DesignBar.update

    def interrupted(self: DesignBar, *figures) -> None:
        told(self, *figures)
        if not (task.parent / "sent").exists():
            (task.parent / "sent").touch()
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(DesignBar, "update", interrupted)
    task.write_text(TASK + "rate: 1.9\n")
    assert design(task, agent, "--time-budget-s", "500") == 130
    assert "target missed" in capsys.readouterr().out
    assert {path.name for path in (task.parent / "out").iterdir()} == FILES


def test_an_impossible_task_is_refused_with_every_reason(
    task: Path, agent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task.write_text(TASK.replace("y: 3", "y: 9") + "rate: 99\n")
    assert design(task, agent) == 2
    error = capsys.readouterr().err
    assert "source at (6, 9) is outside the grid" in error
    assert "the rate is 99 items/s; a belt carries at most 15" in error
    assert not (task.parent / "out").exists()


def test_a_task_too_large_for_the_agent_is_refused(
    task: Path, agent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "product: electronic-circuit\ngrid: 9x9\noutput: {edge: east, position: 5}\ninputs:\n"
    text += "  - {edge: west, position: 1, left: iron-plate, right: copper-plate}\n"
    task.write_text(text)
    assert design(task, agent) == 2
    error = capsys.readouterr().err
    assert "agent tiny.safetensors" in error
    assert "the task has 4 items, and it sees 2 at most" in error
    assert "the task has 2 recipes, and it sees 1 at most" in error


def test_a_grid_and_a_recipe_of_another_kind_are_warned_of_and_played(
    task: Path, agent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task.write_text(TASK.replace("pipe", "iron-stick").replace("7x7", "8x7") + "rate: 0.5\n")
    assert design(task, agent) in (0, 1)
    error = capsys.readouterr().err
    assert "trained on 7 x 7 cells, and the task has 8 x 7" in error
    assert "not trained on iron-stick" in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "x"], "--task is missing"),
        (["--task", "x"], "--out is missing"),
        (["--attempts", "0"], "'0' is no whole number from 1 to"),
        (["--time-budget-s", "-3"], "'-3' is no time"),
        (["--start-at", "3"], "'3' is no cell"),
    ],
)
def test_wrong_arguments_are_named(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["design", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_refused_early(
    task: Path, agent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (task.parent / "out").write_text("a file")
    assert design(task, agent) == 2
    assert "cannot write into" in capsys.readouterr().err


def test_the_example_is_a_possible_task_and_never_overwrites(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "my.yaml"
    assert cli.main(["design", "--example", str(path)]) == 0
    (spec,) = read_task_file(path)
    assert problems(spec) == []
    capsys.readouterr()
    assert cli.main(["design", "--example"]) == 0
    assert capsys.readouterr().out == path.read_text()
    path.write_text("mine")
    assert cli.main(["design", "--example", str(path)]) == 2
    assert path.read_text() == "mine"
