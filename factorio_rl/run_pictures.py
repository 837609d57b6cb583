"""Pictures of a run directory inside a page, small enough that the page stays small. Jax-free.

In: picture files. Out: HTML. What is no picture, or a damaged one, is named instead.
"""

import io
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from factorio_rl.html_page import embed_picture, paragraph

MAX_PICTURE_BYTES = 2 << 20
"""Most bytes of one picture; larger ones become smaller or lose some of their quality."""

MAX_SIDE_PX = 2_400

_JPEG_QUALITY = 85


def shown_picture(path: Path, words: str, *, is_large: bool = False) -> str:
    """A picture with a caption; nothing where there is no file, a note where it is damaged."""
    if not path.is_file():
        return ""
    try:
        data, kind = _shrunk(path)
    except (
        OSError,
        ValueError,
        SyntaxError,
        UnidentifiedImageError,
        Image.DecompressionBombError,
    ) as error:
        return paragraph(f"{path.name} cannot be shown: {error}", "note")
    return embed_picture(data, kind, words, is_large=is_large)


def _shrunk(path: Path) -> tuple[bytes, str]:
    """The bytes of a picture and their format."""
    with Image.open(path) as opened:
        opened.load()
        picture = opened.convert("RGB")
    picture.thumbnail((MAX_SIDE_PX, MAX_SIDE_PX))
    data = _encoded(picture, "png", optimize=True)
    kind = "png"
    while len(data) > MAX_PICTURE_BYTES:
        kind, data = "jpeg", _encoded(picture, "jpeg", quality=_JPEG_QUALITY)
        picture = picture.reduce(2)
    return data, kind


def _encoded(picture: Image.Image, kind: str, **options: int | bool) -> bytes:
    encoded = io.BytesIO()
    picture.save(encoded, kind, **options)
    return encoded.getvalue()
