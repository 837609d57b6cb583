"""The run of a sweep of Weights & Biases that this process is to be.

In: the environment that `wandb agent` starts a program with. Out: which sweep and which run, from
which the run directory and the id follow. No jax.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from envs.errors import UserError
from envs.one_line import one_line

MAX_ID_CHARACTERS = 64

MAX_SHOWN = 100

_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_ID_CHARACTERS}}}")


class SweepRun(NamedTuple):
    """Ids that the agent has chosen."""

    sweep: str
    run: str

    @property
    def folder(self) -> Path:
        """Where the run goes below the folder of runs: to itself, whatever the config is called."""
        return Path(f"sweep-{self.sweep}", self.run)


def sweep_run(environment: Mapping[str, str]) -> SweepRun | None:
    """The run that an agent wants; None where no agent has started us.

    Raises:
        UserError: an agent did, and says so in ids that no folder can be called.
    """
    names = ("WANDB_SWEEP_ID", "WANDB_RUN_ID")
    ids = [environment.get(name, "") for name in names]
    if not ids[0]:
        return None
    for name, value in zip(names, ids, strict=True):
        if not is_run_id(value):
            shown = one_line(value, MAX_SHOWN)
            raise UserError(
                f"{name}: got {shown!r}; must be 1 to {MAX_ID_CHARACTERS} letters, digits, - and _ "
                "in a sweep; start the run with wandb agent, or unset WANDB_SWEEP_ID"
            )
    return SweepRun(*ids)


def is_run_id(text: str) -> bool:
    """Whether wandb takes this as an id, and a folder may be called so."""
    return _ID.fullmatch(text) is not None
