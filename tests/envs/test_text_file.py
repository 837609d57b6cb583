"""Reading text files of bounded size."""

import os
from pathlib import Path

import pytest

from envs.text_file import UnreadableError, open_regular, read_text


def test_text_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.write_bytes(b"\xef\xbb\xbfgr\xc3\xb6\xc3\x9fer\n")
    assert read_text(path, 99, "give a text") == "größer\n"


def test_the_longest_file_is_read_and_no_longer_one(tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.write_text("x" * 10)
    assert read_text(path, 10, "give a text") == "x" * 10
    path.write_text("x" * 11)
    with pytest.raises(UnreadableError, match="has more than 10 bytes; give a text"):
        read_text(path, 10, "give a text")


def test_of_a_huge_file_no_more_is_read_than_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.touch()
    os.truncate(path, 1 << 40)
    with pytest.raises(UnreadableError, match="has more than 10 bytes"):
        read_text(path, 10, "give a text")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("missing", r"cannot be read \(No such file or directory\); give a text"),
        ("folder", "Is a directory"),
        ("pipe", "no regular file"),
        ("device", "no regular file"),
        ("latin", r"is not UTF-8 text \(invalid continuation byte\)"),
    ],
)
def test_what_is_no_text_file_is_refused_at_once(kind: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / kind
    if kind == "folder":
        path.mkdir()
    if kind == "pipe":
        os.mkfifo(path)
    if kind == "device":
        path = Path("/dev/zero")
    if kind == "latin":
        path.write_bytes(b"caf\xe9 ole")
    with pytest.raises(UnreadableError, match=said):
        read_text(path, 1_000, "give a text")


def test_refused_files_are_closed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = len(os.listdir("/proc/self/fd"))
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(OSError, match=r"no regular file|Is a directory"):
            open_regular(path)
    assert len(os.listdir("/proc/self/fd")) == before
