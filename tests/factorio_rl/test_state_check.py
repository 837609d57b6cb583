"""A restored state with right digests that training cannot have made."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from factorio_rl.checkpoint_manifest import Manifest
from factorio_rl.chunk import ChunkRunner
from factorio_rl.config import Config
from factorio_rl.demonstrations import References
from factorio_rl.loop_state import LoopState, parts_of
from factorio_rl.network import make_network
from factorio_rl.scoring import Scorer
from factorio_rl.state_check import problem_of

NUM_TASKS = 4


@pytest.fixture(scope="module")
def state(config: Config, references: References) -> LoopState:
    """The state before any update."""
    scorer = Scorer([], threads=1)
    made = ChunkRunner(config, make_network(config.network), references, scorer).start()
    scorer.close()
    return jax.block_until_ready(made)


def problem(state: LoopState, step: int = 0, chunk: int = 0) -> str | None:
    manifest = Manifest(step, chunk, None, {}, {}, {})
    return problem_of(manifest, parts_of(state), num_tasks=NUM_TASKS)


def with_nan(state: LoopState) -> LoopState:
    params = jax.tree.map(lambda leaf: jnp.full_like(leaf, jnp.nan), state.learner.params)
    return replace(state, learner=replace(state.learner, params=params))


def with_task(number: int) -> Callable[[LoopState], LoopState]:
    def change(state: LoopState) -> LoopState:
        tasks = state.actor.task_index.at[0].set(number)
        return replace(state, actor=replace(state.actor, task_index=tasks))

    return change


def with_pending_task(state: LoopState) -> LoopState:
    first, *others = state.pending
    tasks = np.full_like(first.task_index, 10**9)
    return replace(state, pending=(first._replace(task_index=tasks), *others))


def with_entity(state: LoopState) -> LoopState:
    board = state.actor.board
    board = replace(board, entity=board.entity.at[0, 0, 0].set(255))
    return replace(state, actor=replace(state.actor, board=board))


def with_rotation(state: LoopState) -> LoopState:
    rotation = state.replay.rotation.at[0, 0, 0].set(9)
    return replace(state, replay=replace(state.replay, rotation=rotation))


def with_negative_counter(state: LoopState) -> LoopState:
    counters: Any = replace(state.counters, episodes=np.asarray(-1))
    return replace(state, counters=counters)


def test_state_of_a_run_has_no_problem(state: LoopState) -> None:
    assert problem(state) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (with_nan, "a parameter is not finite"),
        (with_task(NUM_TASKS), "a task number is not from 0 to 3"),
        (with_task(-1), "a task number is not from 0 to 3"),
        (with_pending_task, "a task number is not from 0 to 3"),
        (with_entity, "codes of nothing that can be built"),
        (with_rotation, "codes of nothing that can be built"),
        (with_negative_counter, "a counter is out of range"),
    ],
)
def test_state_that_training_cannot_have_made_is_told(
    state: LoopState, change: Callable[[LoopState], LoopState], words: str
) -> None:
    found = problem(change(state))
    assert found is not None
    assert words in found


@pytest.mark.parametrize(("step", "chunk"), [(1, 0), (0, 1), (10**17, 0)])
def test_state_of_another_step_than_its_manifest_is_told(
    state: LoopState, step: int, chunk: int
) -> None:
    assert "its manifest says otherwise" in (problem(state, step, chunk) or "")
