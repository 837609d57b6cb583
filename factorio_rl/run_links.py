"""Links that lead out of a run directory, which may come from somebody else. No jax.

In: a run directory. Out: nothing, or UserError. What a run writes goes to names that it chooses
below its directory; through a link it would land elsewhere, on any file of this user.
"""

import os
from pathlib import Path

from envs.errors import UserError
from envs.one_line import one_line

WANDB_FOLDER = "wandb"
"""Where wandb puts a folder for each start of a run."""

MAX_SHOWN = 200
"""Longest name in a message, characters."""


def refuse_links(directory: Path) -> None:
    """Raises UserError if a file or folder of a directory is a link to something outside of it.

    But for what is in the folders of wandb's runs: wandb links logs there to the user's cache, and
    nothing is written into a folder of an earlier start.
    """
    root = directory.resolve()
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            if path.is_symlink() and not _target(path).is_relative_to(root):
                shown = one_line(str(path), MAX_SHOWN)
                raise UserError(
                    f"{shown} is a link out of the run directory; put a file or folder there, or "
                    "make a link of the whole directory"
                )
        if folder == str(root / WANDB_FOLDER):
            folders.clear()


def _target(link: Path) -> Path:
    try:
        return link.resolve()
    except (OSError, RuntimeError):  # a link to itself leads nowhere
        return Path(os.sep)
