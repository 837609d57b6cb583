"""Consoles of long answers, and numbers with what they count."""

import pytest

from factorio_rl.printing import WIDTH, counted, printing


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [(1, "task", "1 task"), (0, "task", "0 tasks"), (1200, "process", "1,200 processes")],
)
def test_numbers_are_written_with_what_they_count(number: int, noun: str, text: str) -> None:
    assert counted(number, noun) == text


def test_text_comes_out_at_the_end_in_wide_lines(capsys: pytest.CaptureFixture[str]) -> None:
    line = "x" * (WIDTH - 1)
    with printing() as console:
        console.print(line)
        assert capsys.readouterr().out == ""
    assert capsys.readouterr().out == f"{line}\n"
