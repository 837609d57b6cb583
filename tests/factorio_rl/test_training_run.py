"""The order of what is due after a chunk, without its parts."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from factorio_rl.training_run import TrainingRun


def after_chunk(chunk: int, every: int, **parts: Any) -> None:
    """What a run does that has made so many chunks, and saves at multiples of `every`."""
    settings = SimpleNamespace(checkpoint_every_chunks=every, num_chunks=9)
    config = SimpleNamespace(train=settings)
    directory = SimpleNamespace(require_lock=lambda: None)
    run = SimpleNamespace(_chunk=chunk, _config=config, _directory=directory, _state=None, **parts)
    TrainingRun._save_and_evaluate(cast(TrainingRun, run))


@pytest.mark.parametrize("is_written", [True, False])
def test_state_is_saved_before_it_is_evaluated(is_written: bool) -> None:
    """A kill in an evaluation, which can take minutes, must not cost the chunks before it."""
    done: list[str] = []

    def save(state: object, *, is_last: bool) -> bool:
        done.append("save")
        return is_written

    def evaluate() -> float:
        done.append("evaluate")
        return 0.5

    saver = SimpleNamespace(save=save, note_score=lambda state, score: done.append("score"))
    after_chunk(2, 1, _evaluation_is_due=True, _saver=saver, _evaluate=evaluate)
    assert done == ["save", "evaluate", *(["score"] if is_written else [])]


@pytest.mark.parametrize(("is_owed", "chunks"), [(False, [2, 4]), (True, [1, 2, 3, 4])])
def test_state_that_was_not_fit_to_be_saved_is_made_up_for_by_the_next(
    is_owed: bool, chunks: list[int]
) -> None:
    saved: list[int] = []
    for chunk in (1, 2, 3, 4):
        saver = SimpleNamespace(
            is_owed=is_owed,
            save=lambda state, *, is_last, chunk=chunk: saved.append(chunk),
            tidy=lambda: None,
        )
        after_chunk(chunk, 2, _evaluation_is_due=False, _is_evaluated=False, _saver=saver)
    assert saved == chunks
