"""Notes of files that another process is to read, and that may be replaced before it does.

In: a path. Out: a note that travels as JSON; whoever takes it can tell the file that was meant
from one that has come into its place. No jax.
"""

import os
from pathlib import Path
from typing import NamedTuple


class FileNote(NamedTuple):
    """A file as it was when it was noted; files that are replaced whole differ in one of these."""

    path: str
    inode: int
    changed_ns: int
    num_bytes: int


def note_file(path: Path) -> FileNote | None:
    """A note of a file; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return FileNote(str(path.absolute()), found.st_ino, found.st_mtime_ns, found.st_size)


def is_there(note: FileNote) -> bool:
    """Whether the file that was noted is still the one at its path."""
    return note_file(Path(note.path)) == note
