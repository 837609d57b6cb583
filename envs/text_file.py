"""Reads a text file of bounded size, which may be hostile. Jax-free.

In: a path. Out: its text. Anything but a regular file is refused, since a pipe can make a reader
wait for ever and a device need not end.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


class UnreadableError(ValueError):
    """A file that is not read; the message is a reason that follows the file's name."""


def read_text(path: Path, max_bytes: int, remedy: str = "") -> str:
    """The text of a UTF-8 file, without a byte order mark.

    Args:
        max_bytes: of the longest file that is read.
        remedy: what to do about a file that is not read, where the caller does not say it.

    Raises:
        UnreadableError: there is no such regular file, it is longer, or it is no UTF-8 text.
    """
    ending = f"; {remedy}" if remedy else ""
    try:
        with open_regular(path) as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise UnreadableError(f"cannot be read ({error.strerror}){ending}") from None
    if len(data) > max_bytes:
        raise UnreadableError(f"has more than {max_bytes:,} bytes{ending}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"is not UTF-8 text ({error.reason}); save it as such") from None


def open_regular(path: Path) -> BinaryIO:
    """Opens a regular file for reading. Raises OSError, also where it is another kind of file."""
    file = open(path, "rb", opener=_at_once)  # noqa: SIM115
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise OSError(errno.EINVAL, "no regular file")


def _at_once(path: str, flags: int) -> int:
    """Opens a pipe without waiting for a writer."""
    return os.open(path, flags | os.O_NONBLOCK)
