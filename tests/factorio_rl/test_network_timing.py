"""The time of an evaluation of the network: that so many are really made."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import io_callback

from envs.types import State
from factorio_rl.demonstrations import References
from factorio_rl.learner import LearnerState
from factorio_rl.model import Predict, Prediction, gather_tasks
from factorio_rl.network import Params
from factorio_rl.network_timing import TURNS, evaluation_s
from factorio_rl.selfplay import ActorState


@pytest.mark.parametrize(("backend", "count"), [("cpu", 1), ("gpu", 16)])
def test_every_evaluation_is_made(
    backend: str,
    count: int,
    predict: Predict,
    fresh: LearnerState,
    references: References,
    start: Callable[[int], ActorState],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    actor, made = start(0), []

    def counted(params: Params, states: State) -> Prediction:
        prediction = predict(params, states)
        value = io_callback(
            lambda value: (made.append(True), value)[1],
            jax.ShapeDtypeStruct(prediction.value.shape, jnp.float32),
            prediction.value,
        )
        return prediction._replace(value=value)

    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    states = State(gather_tasks(references.tasks, actor.task_index), actor.board)
    assert evaluation_s(counted, fresh.params, states) > 0
    assert len(made) == count * (TURNS + 1)
