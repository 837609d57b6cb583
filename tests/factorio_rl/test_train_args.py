"""The command line of train.py."""

import subprocess
import sys
from pathlib import Path

import pytest

from envs.errors import UserError
from factorio_rl.config_fields import SETTINGS
from factorio_rl.config_sections import SwitchConfig
from factorio_rl.overrides import ConfigError
from factorio_rl.train_args import parse_train_args


@pytest.fixture
def config_path(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text("network: {blocks: 2}\n")
    return path


def test_run_directory_is_named_after_the_config(config_path: Path) -> None:
    args = parse_train_args(["--config", str(config_path)])
    assert args.run_dir == Path("runs/small")
    assert args.init_from is None
    assert args.config.network.blocks == 2


@pytest.mark.parametrize(
    "style", ["--run-dir {0} --init-from {1}", "--run_dir={0} --init_from={1}"]
)
def test_options_and_overrides_mix_in_any_order(config_path: Path, style: str) -> None:
    argv = ["--search.max-depth", "7", *style.format("here", "there").split()]
    argv += [
        "--tasks.families",
        "pipe",
        "inserter",
        f"--config={config_path}",
        "--network.blocks=4",
    ]
    args = parse_train_args(argv)
    assert (args.run_dir, args.init_from) == (Path("here"), Path("there"))
    assert args.config.search.max_depth == 7
    assert args.config.tasks.families == ("pipe", "inserter")
    assert args.config.network.blocks == 4


def test_unknown_option_is_a_config_error(config_path: Path) -> None:
    with pytest.raises(ConfigError, match="rundir: unknown option"):
        parse_train_args(["--config", str(config_path), "--rundir=x"])


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "the following arguments are required: --config"),
        (["--config"], "--config: expected one argument"),
        (["--config=a.yaml", "--run-dir"], "--run_dir: expected one argument"),
        (["--conf", "a.yaml"], "the following arguments are required: --config"),
    ],
)
def test_missing_or_misused_option_is_one_line(argv: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        parse_train_args(argv)
    assert "\n" not in str(caught.value)


def test_unknown_held_out_set_is_told_the_nearest(config_path: Path) -> None:
    with pytest.raises(UserError, match=r"tasks\.heldout: got .*; did you mean quickstart\?"):
        parse_train_args(["--config", str(config_path), "--tasks.heldout=quickstrat"])


def test_settings_of_a_nested_section_are_options(config_path: Path) -> None:
    argv = ["--actor.switch.gate=false", "--config", str(config_path)]
    args = parse_train_args([*argv, "--actor.switch.after-env-steps", "1000"])
    assert args.config.actor.switch == SwitchConfig(gate=False, after_env_steps=1000)


def test_misspelt_setting_of_a_nested_section_is_told_the_nearest(config_path: Path) -> None:
    message = r"actor\.switch\.gat: unknown option; did you mean actor\.switch\.gate\?"
    with pytest.raises(ConfigError, match=message):
        parse_train_args(["--config", str(config_path), "--actor.switch.gat=1"])


def test_help_lists_every_setting_and_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse_train_args(["--help"])
    assert caught.value.code == 0
    shown = capsys.readouterr().out
    options = {word for word in shown.split() if word.startswith("--")}
    assert "--actor.switch.max-value-error" in options
    assert options >= {"--run-dir", *(f"--{path.replace('_', '-')}" for path in SETTINGS)}


def test_parsing_loads_no_jax(config_path: Path) -> None:
    code = (
        "import sys; from factorio_rl.train_args import parse_train_args; "
        f"parse_train_args(['--config', {str(config_path)!r}]); sys.exit('jax' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
