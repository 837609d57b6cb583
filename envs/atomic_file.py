"""Files that appear whole or not at all, whatever ends the process that writes them.

In: a path and its bytes. Out: the file under its name, by way of a neighbour
`.{name}.{pid}.tmp` that is renamed once it is on the disk. What a killed writer left of such
neighbours a later start can find and remove.
"""

import errno
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_LEFTOVER = re.compile(r"\..+\.(\d+)\.tmp")


def make_writable_folder(folder: Path) -> None:
    """Makes a folder if there is none. Raises OSError where it cannot be made or written into."""
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def write_atomically(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Writes the parts one after another as one file, in the place of the one there may be.

    Raises OSError where it cannot be written; the old file is untouched then, and no part of the
    new one is left.
    """
    if not path.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        fresh.unlink(missing_ok=True)
        # Made anew: a link that somebody put there is not followed.
        with fresh.open("xb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise


def write_text_atomically(path: Path, text: str) -> None:
    """`write_atomically` of one text, as UTF-8. Raises OSError."""
    write_atomically(path, [text.encode()])


def is_leftover(name: str) -> bool:
    """Whether a file of this name is what a killed writer left."""
    return _LEFTOVER.fullmatch(name) is not None


def remove_leftovers(folder: Path) -> None:
    """Removes what writers that were killed left in a folder; for a start that writes there alone.

    The neighbours of another living process stay. Those of this process's own number are of an
    earlier one: containers give the same number again. What cannot be removed stays.
    """
    with suppress(OSError):
        for path in folder.iterdir():
            found = _LEFTOVER.fullmatch(path.name)
            if found and not _is_another_living_process(int(found[1])):
                with suppress(OSError):
                    path.unlink()


def _is_another_living_process(pid: int) -> bool:
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
