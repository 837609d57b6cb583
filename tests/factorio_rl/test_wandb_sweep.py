"""A run of a sweep has a directory of its own, and the sweep file fits the command line."""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from envs.errors import UserError
from factorio_rl.train_args import TrainArgs, parse_train_args
from factorio_rl.wandb_sweep import sweep_run

ROOT = Path(__file__).parents[2]
SWEEP = yaml.safe_load((ROOT / "sweeps" / "quickstart.yaml").read_text())
AGENT = {"WANDB_SWEEP_ID": "abcd1234", "WANDB_RUN_ID": "wxyz5678"}


def command_line(values: dict[str, Any]) -> list[str]:
    """What an agent of wandb 0.31 starts for these values of the parameters."""
    filled = {
        "${env}": ["/usr/bin/env"],
        "${interpreter}": ["python"],
        "${program}": [SWEEP["program"]],
        "${args}": [f"--{name}={value}" for name, value in values.items()],
    }
    return list(itertools.chain(*(filled.get(part, [part]) for part in SWEEP["command"])))


def parsed(values: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> TrainArgs:
    env, python, program, *arguments = command_line(values)
    assert (env, python, program) == ("/usr/bin/env", "python", "train.py")
    monkeypatch.chdir(ROOT)
    return parse_train_args(arguments, AGENT)


def ends(parameter: dict[str, Any]) -> list[Any]:
    """The values of a parameter, or the least and the largest one, and one between."""
    if "values" in parameter:
        return parameter["values"]
    low, high = parameter["min"], parameter["max"]
    return [low, low + 0.123456789 * (high - low), high]


def test_every_run_of_a_sweep_has_a_directory_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text("network: {blocks: 2}\n")
    argv = ["--config", str(path)]
    found = [parse_train_args(argv, {**AGENT, "WANDB_RUN_ID": name}).run_dir for name in "ab"]
    assert found == [Path("runs/sweep-abcd1234/a"), Path("runs/sweep-abcd1234/b")]
    assert parse_train_args([*argv, "--run-dir=here"], AGENT).run_dir == Path("here")
    assert parse_train_args(argv, {"WANDB_RUN_ID": "a"}).run_dir == Path("runs/small")


@pytest.mark.parametrize("name", ["WANDB_SWEEP_ID", "WANDB_RUN_ID"])
@pytest.mark.parametrize("value", ["../x", "a/b", ".", "x" * 65, "a\nb", "ä"])
def test_ids_that_are_no_names_of_folders_are_refused(name: str, value: str) -> None:
    with pytest.raises(UserError, match=f"{name}: got ") as caught:
        sweep_run({**AGENT, name: value})
    assert "\n" not in str(caught.value)


def test_sweep_without_a_run_is_refused() -> None:
    with pytest.raises(UserError, match="WANDB_RUN_ID: got ''"):
        sweep_run({"WANDB_SWEEP_ID": "abcd1234"})


@pytest.mark.parametrize("name", list(SWEEP["parameters"]))
def test_command_line_of_the_sweep_sets_each_parameter(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    section, setting = name.split(".")
    others = {other: ends(parameter)[0] for other, parameter in SWEEP["parameters"].items()}
    for value in ends(SWEEP["parameters"][name]):
        args = parsed({**others, name: value}, monkeypatch)
        assert getattr(getattr(args.config, section), setting) == value
        assert args.run_dir == Path("runs/sweep-abcd1234/wxyz5678")
        assert args.config.eval.every_chunks == 60


def test_every_corner_of_the_sweep_is_a_config(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = SWEEP["parameters"]
    for corner in itertools.product((0, -1), repeat=len(parameters)):
        values = {
            name: ends(parameter)[at]
            for at, (name, parameter) in zip(corner, parameters.items(), strict=True)
        }
        parsed(values, monkeypatch)


def test_small_numbers_are_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(5e-05) == "5e-05"
    assert parsed({"learner.weight_decay": 5e-05}, monkeypatch).config.learner.weight_decay == 5e-05


def test_sweep_ends_runs_at_scores_that_they_have(monkeypatch: pytest.MonkeyPatch) -> None:
    config = parsed({}, monkeypatch).config
    scores = 1 + config.train.num_chunks // config.eval.every_chunks
    assert SWEEP["metric"] == {"name": "eval/score", "goal": "maximize"}
    assert SWEEP["early_terminate"]["min_iter"] * SWEEP["early_terminate"]["eta"] < scores
    # The file says how many there are.
    assert re.search(rf"{scores} times", (ROOT / "sweeps" / "quickstart.yaml").read_text())
