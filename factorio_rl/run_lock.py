"""The lock of a run directory: one process trains in it at a time.

The lock is of the file, not of its name: it goes with the process that holds it, however that
ends. A file that was removed under a run is therefore taken again, if no other run was faster.
"""

import fcntl
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Self, TextIO

from envs.errors import UserError
from envs.one_line import one_line

LOCK_FILE = "lock"

MAX_SHOWN = 200
"""Of what the lock file says that a message repeats, characters."""


class LockedError(UserError):
    """A run directory that another process trains in."""


class RunLock:
    """Holds a run directory while it is open as a context manager."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._held: TextIO | None = None

    def __enter__(self) -> Self:
        """Takes the lock.

        Raises:
            LockedError: another process has it.
            OSError: the file cannot be made.
        """
        self._held = _taken(self.folder)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._held is not None
        self._held.close()

    def require_held(self) -> None:
        """Makes sure that the lock file is still ours; takes a new one where it was removed.

        Raises:
            LockedError: somebody removed it, and another process trains in the directory now.
        """
        assert self._held is not None
        with suppress(OSError):
            if os.path.samestat(os.fstat(self._held.fileno()), os.stat(self.folder / LOCK_FILE)):
                return
        with suppress(OSError):  # where no file can be made no other run can begin either
            taken = _taken(self.folder)
            self._held.close()
            self._held = taken


def _taken(folder: Path) -> TextIO:
    """The lock file, open and locked."""
    file = open(folder / LOCK_FILE, "a+", encoding="utf-8", opener=_no_link)  # noqa: SIM115
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        with file:
            file.seek(0)
            owner = one_line(file.read(MAX_SHOWN), MAX_SHOWN)
        raise LockedError(
            f"another process ({owner or 'unknown'}) trains in {folder}; "
            "wait for it, stop it, or give another directory with --run-dir"
        ) from None
    # Only words for others, which need no room; a file with another name too may be no lock.
    if os.fstat(file.fileno()).st_nlink == 1:
        with suppress(OSError):
            file.truncate(0)
            file.write(f"pid {os.getpid()} on {socket.gethostname()}\n")
            file.flush()
    return file


def _no_link(path: str, flags: int) -> int:
    """Opens a file; what another name leads to is not ours to write into."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)
