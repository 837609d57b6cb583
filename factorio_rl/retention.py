"""Which checkpoints stay: the newest, the best by score, and every so many chunks one. No jax."""

from collections.abc import Sequence
from typing import NamedTuple


class Entry(NamedTuple):
    """What retention has to know of a checkpoint."""

    step: int
    chunk: int
    score: float | None


def best(entries: Sequence[Entry]) -> Entry | None:
    """The one with the highest score, of equal ones the newer; None if none was scored."""
    scored = [entry for entry in entries if entry.score is not None]
    return max(scored, key=lambda entry: (entry.score, entry.step), default=None)


def kept_steps(entries: Sequence[Entry], newest: int, every_chunks: int | None) -> set[int]:
    """Steps that stay.

    Args:
        newest: how many of the newest stay.
        every_chunks: those at multiples of so many chunks stay for good; None for none.
    """
    by_age = sorted(entries, key=lambda entry: entry.step, reverse=True)
    kept = {entry.step for entry in by_age[:newest]}
    champion = best(entries)
    if champion is not None:
        kept.add(champion.step)
    if every_chunks is not None:
        kept |= {entry.step for entry in entries if entry.chunk and not entry.chunk % every_chunks}
    return kept
