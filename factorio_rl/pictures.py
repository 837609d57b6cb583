"""Saves pictures where the user asked for them. Jax-free."""

from pathlib import Path
from typing import TYPE_CHECKING

from envs.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image


def save_picture(picture: "Image", path: Path) -> None:
    """Writes a picture. Raises UserError where the path cannot be written or names no format."""
    try:
        picture.save(path)
    except (OSError, ValueError) as error:
        raise UserError(
            f"cannot write the picture {path}: {error}; give a path that ends in .png"
        ) from None
