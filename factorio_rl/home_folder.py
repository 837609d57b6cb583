"""Paths of a user that may begin with `~`. No jax."""

from pathlib import Path

from envs.errors import UserError


def expanded(path: str) -> Path:
    """The path with `~` or `~name` replaced. Raises UserError where that home is not known."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise UserError(
            f"the home folder in {path} is not known; set HOME, or give a path without ~"
        ) from None
