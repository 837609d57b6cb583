"""Checkpoints: bit for bit, typed, kept by age and score, and safe against damage."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_setup import Played

from envs.actions import num_actions
from factorio_rl.checkpoint import CheckpointError, CheckpointStore
from factorio_rl.config import Config
from factorio_rl.curriculum import start_curriculum, tally
from factorio_rl.demonstrations import References, family_longest
from factorio_rl.learner import LearnerState
from factorio_rl.loop_state import Counters, LoopState
from factorio_rl.precision_switch import PrecisionState
from factorio_rl.replay import add_rows, empty_replay
from factorio_rl.scoring import ChunkScores

# What Orbax leaves behind when a load fails half-way.
pytestmark = pytest.mark.filterwarnings(
    "ignore::RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

KEEP = 2


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CheckpointStore]:
    opened = CheckpointStore(tmp_path / "checkpoints", KEEP)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def state(
    config: Config, references: References, learner: LearnerState, played: Played
) -> LoopState:
    """A state in which no array is all zero, so far as its meaning allows."""
    chunk = played.chunks[0]
    actions = num_actions(7, 7)
    replay = jax.jit(add_rows)(empty_replay(config.replay.capacity, 7, 7, actions), chunk.rows)
    random = jax.random.uniform(jax.random.key(0), replay.value.shape)
    scores = np.full(chunk.ended.ended.shape, 1 / 3, np.float32)
    solved = np.ones(scores.shape, bool)
    return LoopState(
        learner=replace(learner, updates=jnp.int32(7)),
        actor=jax.device_put(played.actors[-1]),
        replay=replace(replay, value=random, scored=random > 0.5),
        curriculum=tally(
            start_curriculum(references.families, family_longest(references)),
            chunk.ended,
            ChunkScores(scores, solved, solved, inexact=0),
            np.asarray(references.family),
        ),
        pending=tuple(chunk.ended for chunk in played.chunks[:2]),
        counters=Counters(*map(np.asarray, np.array([3, 2**40 + 1, 17, 1], np.int64))),
        precision=PrecisionState(
            jnp.float32([0.25, 8.0]), np.asarray(True), np.asarray(2, np.int64)
        ),
    )


def parts_of(state: LoopState) -> dict[str, Any]:
    return {name: getattr(state, name) for name in LoopState.__dataclass_fields__}


def blank(tree: Any) -> Any:
    """A tree of the same kinds with other numbers."""

    def zeros(leaf: Any) -> Any:
        return np.zeros_like(leaf) if isinstance(leaf, np.ndarray) else jnp.zeros_like(leaf)

    return jax.tree.map(zeros, tree)


def assert_same_bits(first: Any, second: Any) -> None:
    assert jax.tree.structure(first) == jax.tree.structure(second)
    for one, other in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        assert isinstance(one, jax.Array) == isinstance(other, jax.Array)
        assert isinstance(one, np.ndarray) == isinstance(other, np.ndarray)
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def test_loop_state_comes_back_bit_for_bit_with_its_types(
    store: CheckpointStore, state: LoopState
) -> None:
    store.save(3, parts_of(state), None)
    loaded = LoopState(**store.load(3, parts_of(blank(state))))
    assert_same_bits(loaded, state)
    assert int(loaded.counters.env_steps) == 2**40 + 1
    assert loaded.curriculum.episodes.dtype == np.float64
    assert type(loaded.learner.optimizer) is type(state.learner.optimizer)


def test_tallies_of_a_version_without_families_are_refused(
    store: CheckpointStore, state: LoopState
) -> None:
    names = ("episodes", "solved", "empty_episodes", "empty_score", "empty_length")
    old = {name: getattr(state.curriculum, name).sum(axis=0) for name in names}
    store.save(3, {"curriculum": old}, None)
    with pytest.raises(CheckpointError, match="cannot load checkpoint"):
        store.load(3, {"curriculum": state.curriculum})


def test_every_type_of_array_comes_back(store: CheckpointStore) -> None:
    tree = {
        "bfloat16": jnp.arange(9, dtype=jnp.bfloat16) / 7,
        "float16": jnp.arange(9, dtype=jnp.float16) / 7,
        "not_finite": jnp.array([jnp.nan, jnp.inf, -0.0]),
        "device_scalar": jnp.int32(-5),
        "flags": jnp.array([True, False]),
        "int64": np.array(2**40 + 1),
        "float64": np.arange(9) / 7,
        "float64_scalar": np.asarray(0.1),
        "host_flags": np.array([[True], [False]]),
        "uint8": np.arange(200, 210, dtype=np.uint8),
        "nested": ({"a": (jnp.ones(2), np.ones(2))}, [jnp.zeros(1)]),
    }
    store.save(0, {"tree": tree}, None)
    assert_same_bits(store.load(0, {"tree": blank(tree)})["tree"], tree)


def test_parts_that_are_not_asked_for_are_not_read(
    store: CheckpointStore, state: LoopState
) -> None:
    store.save(1, parts_of(state), None)
    loaded = store.load(1, {"counters": blank(state.counters)})
    assert list(loaded) == ["counters"]
    assert_same_bits(loaded["counters"], state.counters)


def small(number: float) -> dict[str, Any]:
    return {"numbers": {"a": np.full(400, number), "b": jnp.full(3, number)}}


LIKE = small(0.0)


def value_of(parts: dict[str, Any]) -> float:
    values = {float(leaf[0]) for leaf in jax.tree.leaves(parts)}
    assert len(values) == 1
    return values.pop()


def test_newest_and_best_checkpoints_are_kept(store: CheckpointStore) -> None:
    for step, score in enumerate([0.1, 0.9, 0.3, None, 0.2, None]):
        store.save(step, small(step), score)
    assert store.steps() == [5, 4, 1]
    assert store.newest_step() == 5
    assert store.best_step() == 1
    assert value_of(store.load(1, LIKE)) == 1


def test_scores_survive_in_the_folder(store: CheckpointStore) -> None:
    for step, score in enumerate([0.5, 0.75, 0.5, None]):
        store.save(step, small(step), score)
    again = CheckpointStore(store.directory, KEEP)
    assert again.best_step() == 1
    again.save(4, small(4), 0.8)
    assert again.best_step() == 4
    assert again.steps() == [4, 3]
    again.close()


def test_of_equal_scores_the_newer_is_the_best(store: CheckpointStore) -> None:
    for step in range(2):
        store.save(step, small(step), 0.5)
    assert store.best_step() == 1


def test_newest_is_the_best_where_nothing_was_scored(store: CheckpointStore) -> None:
    store.save(3, small(3), None)
    assert store.best_step() == 3


def test_step_that_exists_is_saved_again_only_for_its_score(store: CheckpointStore) -> None:
    store.save(1, small(1), 0.5)
    store.save(2, small(2), None)
    store.save(2, small(9), None)
    assert value_of(store.load(2, LIKE)) == 2
    assert store.best_step() == 1
    store.save(2, small(2), 0.9)
    assert store.best_step() == 2
    assert value_of(store.load(2, LIKE)) == 2


def test_reading_alone_creates_and_removes_nothing(store: CheckpointStore, tmp_path: Path) -> None:
    store.save(1, small(1), 0.5)
    unfinished = store.directory / "2.orbax-checkpoint-tmp"
    unfinished.mkdir()
    reader = CheckpointStore(store.directory)
    assert value_of(reader.load(reader.best_step(), LIKE)) == 1
    reader.close()
    assert unfinished.is_dir()
    with pytest.raises(CheckpointError, match="train there first"):
        CheckpointStore(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_empty_folder_has_no_checkpoint(store: CheckpointStore) -> None:
    assert store.steps() == []
    assert store.load_newest(LIKE) is None
    for missing in (store.best_step, store.newest_step):
        with pytest.raises(CheckpointError, match=r"no checkpoint in .*train there first"):
            missing()


def damage(folder: Path, how: str) -> None:
    """Spoils a checkpoint as a full disk or a lost file would."""
    assert folder.is_dir()
    if how == "lost part":
        for path in sorted((folder / "numbers").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        (folder / "numbers").rmdir()
    elif how == "lost data":
        for path in folder.rglob("d/*"):
            path.unlink()
    else:
        name = {"cut description": "_METADATA", "cut index": "manifest.ocdbt"}[how]
        for path in folder.rglob(name):
            path.write_bytes(path.read_bytes()[:20])


@pytest.mark.parametrize("how", ["lost part", "lost data", "cut description", "cut index"])
def test_damaged_newest_checkpoint_falls_back_to_the_one_before(
    store: CheckpointStore, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    for step in (4, 5):
        store.save(step, small(step), None)
    damage(store.directory / "5", how)
    with caplog.at_level(logging.WARNING, "factorio_rl.checkpoint"):
        found = store.load_newest(LIKE)
    assert found is not None
    assert found[0] == 4
    assert value_of(found[1]) == 4
    assert "cannot load checkpoint" in caplog.text
    assert str(store.directory / "5") in caplog.text


def test_run_that_fell_back_can_save_the_damaged_step_again(store: CheckpointStore) -> None:
    for step in (3, 4, 5):
        store.save(step, small(step), None)
    damage(store.directory / "5", "cut description")
    assert store.load_newest(LIKE) is not None
    assert store.steps() == [4]
    store.save(5, small(50), 0.5)
    for opened in (store, CheckpointStore(store.directory, KEEP)):
        found = opened.load_newest(LIKE)
        assert found is not None
        assert (found[0], value_of(found[1])) == (5, 50)
        assert opened.steps() == [5, 4]


def test_folder_of_damaged_checkpoints_is_an_error_that_names_them(store: CheckpointStore) -> None:
    for step in (4, 5):
        store.save(step, small(step), None)
        damage(store.directory / str(step), "cut description")
    with pytest.raises(CheckpointError) as caught:
        store.load_newest(LIKE)
    for step in (4, 5):
        assert str(store.directory / str(step)) in str(caught.value)
    assert "restore one from a copy" in str(caught.value)
    assert caught.value.exit_code == 4
    # Nothing was moved: the user may mend them.
    assert store.steps() == [5, 4]


@pytest.mark.parametrize(
    ("like", "reason"),
    [
        ({"numbers": {**LIKE["numbers"], "b": jnp.zeros(4)}}, r"\(4,\).*\(3,\)"),
        ({"numbers": {**LIKE["numbers"], "c": jnp.zeros(3)}}, "c: - Source"),
        ({"letters": jnp.zeros(3)}, "letters"),
    ],
)
def test_other_shape_is_an_error_with_the_reason(
    store: CheckpointStore, like: dict[str, Any], reason: str
) -> None:
    store.save(1, small(1), None)
    with pytest.raises(CheckpointError, match=reason):
        store.load(1, like)


def test_step_that_does_not_exist_is_an_error(store: CheckpointStore) -> None:
    store.save(1, small(1), None)
    with pytest.raises(CheckpointError, match=r"2.*No checkpoint found at step 2"):
        store.load(2, LIKE)


def test_checkpoint_that_was_never_completed_is_not_seen(store: CheckpointStore) -> None:
    store.save(1, small(1), None)
    (store.directory / "2.orbax-checkpoint-tmp").mkdir()
    again = CheckpointStore(store.directory, KEEP)
    assert again.steps() == [1]
    again.save(2, small(2), None)
    assert again.steps() == [2, 1]
    again.close()
