"""Types of command-line arguments: functions that argparse calls with a text. Jax-free.

In: a text. Out: a number within bounds; argparse shows the message of what is raised.
"""

import argparse
import re
from collections.abc import Callable
from pathlib import Path

MAX_SIMULATIONS = 4096
"""Of one search: trees take memory for all of them."""

_CELL = re.compile(r"([0-9]{1,4}),([0-9]{1,4})", re.ASCII)
_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?", re.ASCII)

_SHOWN = 40
"""Most characters of an argument that a message repeats."""


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """A whole number from `low` to `high`."""

    def convert(text: str) -> int:
        if text.isascii() and text.isdigit() and len(text) <= 12 and low <= int(text) <= high:
            return int(text)
        raise argparse.ArgumentTypeError(
            f"{text[:_SHOWN]!r} is no whole number from {low} to {high}"
        )

    return convert


def seconds(most: float) -> Callable[[str], float]:
    """A time above 0 s and up to `most`."""

    def convert(text: str) -> float:
        if _DECIMAL.fullmatch(text) and 0 < float(text) <= most:
            return float(text)
        raise argparse.ArgumentTypeError(
            f"{text[:_SHOWN]!r} is no time; give seconds above 0, at most {most:,.0f}"
        )

    return convert


def cell(text: str) -> tuple[int, int]:
    """A cell as X,Y."""
    found = _CELL.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text[:_SHOWN]!r} is no cell; give X,Y such as 3,0")
    return int(found[1]), int(found[2])


def place(text: str) -> Path:
    """A path; an empty text, as of a variable that is not set, would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty; give a path")
    return Path(text)
