"""A console for answers of many lines and tables. Jax-free."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

WIDTH = 132
"""Columns where standard output is no terminal."""


def counted(number: int, noun: str) -> str:
    """A number and what it counts."""
    ending = "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{'' if number == 1 else ending}"


@contextmanager
def printing() -> Iterator[Console]:
    """A console whose text goes out at the end by `print`, which raises what writing raises."""
    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(width=WIDTH, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        yield console
    print(captured.get(), end="")
