"""The command line of train.py.

In: arguments. Out: the config with its overrides, the run directory and the run to start from.
`--help` lists every setting, grouped by section. No jax.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from factorio_rl.config import Config
from factorio_rl.config_file import load_config


@dataclass(frozen=True)
class TrainArgs:
    """What train.py was asked to do.

    Attributes:
        config: resolved settings.
        run_dir: the run directory, new or to go on from.
        init_from: run directory whose parameters a new run starts from, or None.
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
    """Run directory; runs/<name of the config file> by default."""

    init_from: Path | None = None
    """Run directory whose parameters a new run starts from."""


@dataclass(frozen=True)
class _CommandWithSettings(_Command):
    __doc__ = _Command.__doc__

    settings: Annotated[Config, tyro.conf.arg(name=""), tyro.conf.FlagConversionOff] = field(
        default_factory=Config
    )


def parse_train_args(argv: Sequence[str]) -> TrainArgs:
    """Parses the arguments after the program's name.

    Raises ConfigError for bad settings; prints and raises SystemExit for --help (0) and for a
    missing or misused option (2).
    """
    if {"-h", "--help"} & set(argv):
        tyro.cli(_CommandWithSettings, prog="train.py", args=["--help"])
    command, overrides = tyro.cli(_Command, prog="train.py", args=argv, return_unknown_args=True)
    config = load_config(command.config, overrides)
    run_dir = command.run_dir or Path("runs") / command.config.stem
    return TrainArgs(config, run_dir, command.init_from)
