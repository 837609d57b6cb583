"""Every broken config gives one clear message before jax starts, and no sound one does.

The configs are those of `broken_configs`, made from the schema of the settings; all are loaded in
one process with little memory.
"""

import ast
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from broken_configs import CONTRADICTIONS, SMALL_GRID, all_broken

from factorio_rl import config as rules
from factorio_rl.config import Config
from factorio_rl.config_fields import SETTINGS
from factorio_rl.config_file import load_config

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

MAX_MESSAGE = 4_096
"""Longest message, characters, however long its cause is."""

BROKEN = {broken.name: broken for broken in all_broken()}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What loading each config in a process of its own comes to."""
    folder = tmp_path_factory.mktemp("configs")
    command = [sys.executable, HERE / "load_configs.py", folder]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_many_configs_are_tried_and_each_setting_is_among_them(outcomes: Any) -> None:
    assert len(outcomes["broken"]) == len(BROKEN) > 600
    assert len({(broken.file, broken.options) for broken in BROKEN.values()}) > 600
    for path in SETTINGS:
        assert sum(name.startswith(f"{path} ") for name in BROKEN) >= 8


def test_every_broken_config_is_one_config_error(outcomes: Any) -> None:
    others = {
        name: outcome or "accepted"
        for name, outcome in outcomes["broken"].items()
        if not isinstance(outcome, dict)
    }
    assert others == {}
    assert {outcome["code"] for outcome in outcomes["broken"].values()} == {2}


def test_every_message_names_the_field_or_line_and_what_is_wrong(outcomes: Any) -> None:
    unsaid = {
        name: (broken.said, outcomes["broken"][name]["message"])
        for name, broken in BROKEN.items()
        if not all(words in outcomes["broken"][name]["message"] for words in broken.said)
    }
    assert unsaid == {}


def test_every_mistake_is_one_problem(outcomes: Any) -> None:
    found = {
        name: outcomes["broken"][name]["problems"]
        for name, broken in BROKEN.items()
        if broken.num_problems not in (None, len(outcomes["broken"][name]["problems"]))
    }
    assert found == {}


def test_every_message_is_short_and_printable(outcomes: Any) -> None:
    messages = {name: outcome["message"] for name, outcome in outcomes["broken"].items()}
    assert [name for name, message in messages.items() if len(message) > MAX_MESSAGE] == []
    unprintable = [
        name
        for name, message in messages.items()
        if not message.replace("\n", "").isprintable() or "Traceback" in message
    ]
    assert unprintable == []


def test_sound_values_are_accepted_unless_they_contradict_others(outcomes: Any) -> None:
    sound = outcomes["sound"]
    blamed = {
        name: outcome
        for name, outcome in sound.items()
        if outcome is not None
        and not (isinstance(outcome, dict) and "got " not in outcome["message"])
    }
    assert blamed == {}
    assert sum(outcome is None for outcome in sound.values()) > 0.8 * len(sound) > 100


def test_no_config_loads_jax(outcomes: Any) -> None:
    assert outcomes["jax"] is False


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("*.yaml")), ids=lambda at: at.stem)
def test_configs_of_the_project_are_accepted(path: Path) -> None:
    assert isinstance(load_config(path), Config)


def test_every_rule_between_settings_is_broken_by_some_config(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Which calls of `BrokenRule` are reached, by line."""
    reached: set[int] = set()

    class Recorded(rules.BrokenRule):
        def __new__(cls, *fields: Any) -> Any:
            frame = inspect.currentframe()
            assert frame is not None
            assert frame.f_back is not None
            reached.add(frame.f_back.f_lineno)
            return super().__new__(cls, *fields)

    monkeypatch.setattr(rules, "BrokenRule", Recorded)
    for settings in (*CONTRADICTIONS.values(), SMALL_GRID[1]):
        values: dict[str, Any] = {}
        for path, value in settings.items():
            section, _, name = path.partition(".")
            parsed = value[1:-1].split(", ") if value.startswith("[") else value
            values.setdefault(section, {})[name] = parsed
        with pytest.raises(ValueError, match=": "):
            Config.model_validate(values)
    calls = {
        node.lineno
        for node in ast.walk(ast.parse(inspect.getsource(rules)))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "BrokenRule"
    }
    assert len(calls) > 10
    assert reached == calls


def _train(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The real command in a folder, with a list of the modules that it loads in its errors."""
    command = [sys.executable, "-X", "importtime", ROOT / "train.py", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


COMMANDS = {
    "alias bomb": (BROKEN["list bomb at search"].file, (), "search[6]: its aliases"),
    "holds itself": (BROKEN["search holds itself"].file, (), "search[1]: holds itself"),
    "contradiction": (b"", ("--search.max_num_considered_actions=17",), "command line:"),
    "unknown held-out set": (b"tasks: {heldout: ../../x}", (), "tasks.heldout: got"),
    "no such home": (b"run: {compilation_cache: ~no-such-user/x}", (), "run.compilation_cache: "),
    "escapes": (b'"\\e[31m": 3', (), "?[31m: unknown key"),
    "no config": (None, (), "required: --config"),
    "config without a value": (None, ("--config",), "--config: expected one argument"),
    "folder": (None, ("--config", "."), "Is a directory"),
    "pipe": (None, ("--config", "pipe"), "no regular file"),
    "endless device": (None, ("--config=/dev/zero",), "no regular file"),
    "no such file": (None, ("--config=none.yaml",), "No such file"),
    "name too long": (None, (f"--config={'x' * 9_000}",), "File name too long"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_prints_one_error_and_writes_nothing(name: str, tmp_path: Path) -> None:
    file, arguments, said = COMMANDS[name]
    os.mkfifo(tmp_path / "pipe")
    if file is not None:
        (tmp_path / "x.yaml").write_bytes(file)
        arguments = ("--config=x.yaml", *arguments)
    before = sorted(tmp_path.rglob("*"))
    done = _train(tmp_path, *arguments)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("import time:")]
    printed = "\n".join(lines)
    modules = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
    assert done.returncode == 2, printed
    assert done.stdout == ""
    assert lines[0].startswith("error: ")
    assert printed.count("error: ") == 1
    assert said in printed
    assert len(printed) < MAX_MESSAGE
    assert "factorio_rl.train_args" in modules
    assert not {"jax", "jaxlib", "numba"} & set(modules)
    assert sorted(tmp_path.rglob("*")) == before
