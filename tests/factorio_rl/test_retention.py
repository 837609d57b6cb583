"""Which checkpoints stay."""

import pytest

from factorio_rl.retention import Entry, best, kept_steps

ENTRIES = [
    Entry(step=10 * chunk, chunk=chunk, score=score)
    for chunk, score in enumerate([0.2, None, 0.9, None, 0.9, 0.1, None])
]


@pytest.mark.parametrize(
    ("newest", "every_chunks", "kept"),
    [
        (1, None, {40, 60}),
        (3, None, {40, 50, 60}),
        (1, 3, {30, 40, 60}),
        (1, 1, {10, 20, 30, 40, 50, 60}),
        (99, None, {0, 10, 20, 30, 40, 50, 60}),
    ],
)
def test_newest_best_and_multiples_stay(
    newest: int, every_chunks: int | None, kept: set[int]
) -> None:
    assert kept_steps(ENTRIES, newest, every_chunks) == kept
    assert kept_steps(ENTRIES[::-1], newest, every_chunks) == kept


def test_of_equal_scores_the_newer_is_the_best() -> None:
    champion = best(ENTRIES)
    assert champion is not None
    assert champion.step == 40


def test_nothing_is_best_where_nothing_was_scored() -> None:
    assert best([Entry(1, 1, None)]) is None
    assert kept_steps([Entry(1, 1, None), Entry(2, 2, None)], 1, None) == {2}
    assert kept_steps([], 3, 2) == set()
