"""Text of a user on one line."""

import pytest

from envs.one_line import one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("short", "short"),
        ("exactly 12!!", "exactly 12!!"),
        ("exactly 13!!!", "exactly 13!!..."),
        ("a\nb\t c", "a b c"),
        ("\x1b[31m\0", "?[31m?"),
        ("größer", "größer"),
        ("x" * 9_999_999, "x" * 12 + "..."),
    ],
)
def test_text_is_cut_and_made_printable(text: str, shown: str) -> None:
    assert one_line(text, 12) == shown
