"""The order of what is due after a chunk, without its parts."""

from types import SimpleNamespace
from typing import cast

import pytest

from factorio_rl.training_run import TrainingRun


@pytest.mark.parametrize("is_written", [True, False])
def test_state_is_saved_before_it_is_evaluated(is_written: bool) -> None:
    """A kill in an evaluation, which can take minutes, must not cost the chunks before it."""
    done: list[str] = []

    def save(state: object) -> bool:
        done.append("save")
        return is_written

    def evaluate() -> float:
        done.append("evaluate")
        return 0.5

    saver = SimpleNamespace(save=save, note_score=lambda state, score: done.append("score"))
    run = SimpleNamespace(
        _config=SimpleNamespace(train=SimpleNamespace(checkpoint_every_chunks=1)),
        _evaluation_is_due=True,
        _saver=saver,
        _state=None,
        _evaluate=evaluate,
    )
    TrainingRun._save_and_evaluate(cast(TrainingRun, run))
    assert done == ["save", "evaluate", *(["score"] if is_written else [])]
