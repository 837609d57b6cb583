"""A note tells the file that was meant from another one at its place."""

import json
import os
from pathlib import Path

from envs.atomic_file import write_text_atomically
from factorio_rl.file_note import FileNote, is_there, note_file


def test_file_that_is_replaced_or_gone_is_not_the_one_that_was_noted(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_text_atomically(path, "one")
    note = note_file(path)
    assert note is not None
    assert is_there(FileNote(*json.loads(json.dumps(note))))
    write_text_atomically(path, "two")
    os.utime(path, ns=(note.changed_ns, note.changed_ns))
    assert not is_there(note)
    path.unlink()
    assert not is_there(note)
    assert note_file(path) is None
