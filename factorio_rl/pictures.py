"""Saves pictures where the user asked for them. Jax-free."""

from pathlib import Path
from typing import TYPE_CHECKING

from envs.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image


def check_picture_path(path: Path) -> None:
    """Raises UserError for a path that `save_picture` could not write, before work begins."""
    from PIL import Image

    if path.suffix.lower() not in Image.registered_extensions():
        raise _refused(path, f"no format has the ending {path.suffix!r}")
    if not path.parent.is_dir():
        raise _refused(path, f"{path.parent} is no folder")


def save_picture(picture: "Image", path: Path) -> None:
    """Writes a picture. Raises UserError where the path cannot be written or names no format."""
    try:
        picture.save(path)
    except (OSError, ValueError) as error:
        raise _refused(path, str(error)) from None


def _refused(path: Path, reason: str) -> UserError:
    return UserError(
        f"cannot write the picture {path}: {reason}; "
        "give a path that ends in .png in a folder that can be written"
    )
