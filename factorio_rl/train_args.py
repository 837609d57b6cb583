"""The command line of train.py.

In: arguments. Out: the config with its overrides, the run directory and the run to start from.
`--help` lists every setting, grouped by section. No jax.
"""

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Annotated, NoReturn

import tyro

from envs.errors import UserError
from envs.heldout import HELDOUT_SETS
from envs.one_line import one_line
from envs.suggestion import nearest
from factorio_rl.config import Config
from factorio_rl.config_file import load_config
from factorio_rl.wandb_sweep import sweep_run

MAX_MESSAGE = 300
"""Longest message about an option, characters; it may repeat an argument."""


@dataclass(frozen=True)
class TrainArgs:
    """What train.py was asked to do.

    Attributes:
        config: resolved settings.
        run_dir: the run directory, new or to go on from.
        init_from: run directory or agent file whose parameters a new run starts from, or None.
    """

    config: Config
    run_dir: Path
    init_from: Path | None


@dataclass(frozen=True)
class _Command:
    """Train an agent. Settings come from the config file; any of them can be overridden, for
    example --search.num_simulations=32. A run directory with checkpoints is gone on from."""

    config: Path
    """YAML file of settings."""

    run_dir: Path | None = None
    """Run directory; runs/<name of the config file> by default, in a sweep of Weights & Biases
    runs/sweep-<id>/<run>."""

    init_from: Path | None = None
    """Run directory, or agent file, whose parameters a new run starts from."""


@dataclass(frozen=True)
class _CommandWithSettings(_Command):
    __doc__ = _Command.__doc__

    settings: Annotated[Config, tyro.conf.arg(name=""), tyro.conf.FlagConversionOff] = field(
        default_factory=Config
    )


class _Parser(argparse.ArgumentParser):
    """Reports a misused option as every other error is reported: in one line."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{one_line(message, MAX_MESSAGE)}; see train.py --help")


def parse_train_args(argv: Sequence[str], environment: Mapping[str, str] = os.environ) -> TrainArgs:
    """Parses the arguments after the program's name.

    Args:
        environment: says whether an agent of a sweep has started the program, and which run it is.

    Raises UserError for a missing or misused option, ConfigError for bad settings; prints and
    raises SystemExit(0) for --help.
    """
    if {"-h", "--help"} & set(argv):
        tyro.cli(_CommandWithSettings, prog="train.py", args=["--help"])
    parser = _Parser(allow_abbrev=False, add_help=False)
    for option in fields(_Command):
        names = dict.fromkeys(f"--{option.name.replace('_', sign)}" for sign in "-_")
        parser.add_argument(*names, type=Path, required=option.default is MISSING)
    command, overrides = parser.parse_known_args(argv)
    config = load_config(command.config, overrides)
    heldout = config.tasks.heldout
    if heldout not in HELDOUT_SETS:
        raise UserError(
            f"tasks.heldout: got {json.dumps(heldout)}, which is no held-out set; "
            f"{nearest(heldout, HELDOUT_SETS)}"
        )
    sweep = sweep_run(environment)
    name = Path(command.config.stem) if sweep is None else sweep.folder
    run_dir = command.run_dir or Path("runs") / name
    return TrainArgs(config, run_dir, command.init_from)
