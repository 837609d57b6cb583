"""Checkpoints: bit for bit, typed, whole or not there, kept by age and score."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_setup import Played

from envs.actions import num_actions
from factorio_rl.checkpoint import CheckpointStore, OtherRunError, SaveError
from factorio_rl.checkpoint_check import CheckpointError
from factorio_rl.checkpoint_manifest import Manifest
from factorio_rl.config import Config
from factorio_rl.curriculum import start_curriculum, tally
from factorio_rl.demonstrations import References, family_longest
from factorio_rl.learner import LearnerState
from factorio_rl.loop_state import Counters, LoopState
from factorio_rl.precision_switch import PrecisionState
from factorio_rl.replay import add_rows, empty_replay
from factorio_rl.scoring import ChunkScores

FINGERPRINT = {"network.channels": 8, "pool_sha256": "abc"}


@pytest.fixture
def store(tmp_path: Path) -> CheckpointStore:
    return CheckpointStore(tmp_path / "checkpoints", FINGERPRINT)


def save(
    store: CheckpointStore, step: int, parts: Mapping[str, Any], score: float | None = None
) -> None:
    """Saves a step, made at the chunk of the same number."""
    store.save(Manifest(step, step, None, {}, FINGERPRINT, {"jax": "1"}), parts)
    if score is not None:
        store.set_score(step, score)


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
        counters=Counters(*map(np.asarray, np.array([3, 2**40 + 1, 17, 1, 2, 5, 4], np.int64))),
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
    save(store, 3, parts_of(state))
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
    save(store, 3, {"curriculum": old})
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
    save(store, 0, {"tree": tree})
    assert_same_bits(store.load(0, {"tree": blank(tree)})["tree"], tree)


def test_parts_that_are_not_asked_for_are_not_read(
    store: CheckpointStore, state: LoopState
) -> None:
    save(store, 1, parts_of(state))
    loaded = store.load(1, {"counters": blank(state.counters)})
    assert list(loaded) == ["counters"]
    assert_same_bits(loaded["counters"], state.counters)


def small(number: float) -> dict[str, Any]:
    return {"numbers": {"a": np.full(400, float(number)), "b": jnp.full(3, float(number))}}


LIKE = small(0.0)


def value_of(parts: dict[str, Any]) -> float:
    values = {float(leaf[0]) for leaf in jax.tree.leaves(parts)}
    assert len(values) == 1
    return values.pop()


def test_newest_best_and_every_so_many_are_kept(store: CheckpointStore) -> None:
    for step, score in enumerate([0.1, 0.9, 0.3, None, 0.2, None, 0.4]):
        save(store, step, small(step), score)
        store.keep_only(newest=2, every_chunks=3)
    assert store.steps() == [6, 5, 3, 1]
    assert store.newest_step() == 6
    assert store.best_step(print) == 1
    assert value_of(store.load(1, LIKE)) == 1


def test_scores_survive_in_the_folder(store: CheckpointStore) -> None:
    for step, score in enumerate([0.5, 0.75, 0.5, None]):
        save(store, step, small(step), score)
    again = CheckpointStore(store.directory, FINGERPRINT)
    assert again.best_step(print) == 1
    save(again, 4, small(4), 0.8)
    assert again.best_step(print) == 4
    assert sorted(again.keep_only(newest=2, every_chunks=None)) == [0, 1, 2]


def test_newest_is_the_best_where_nothing_was_scored(store: CheckpointStore) -> None:
    save(store, 3, small(3))
    save(store, 4, small(4))
    assert store.best_step(print) == 4


def test_step_that_exists_is_not_written_again(store: CheckpointStore) -> None:
    save(store, 2, small(2), 0.9)
    save(store, 2, small(9))
    assert value_of(store.load(2, LIKE)) == 2
    assert store.manifest(2).score == 0.9


def test_reading_alone_creates_and_removes_nothing(store: CheckpointStore, tmp_path: Path) -> None:
    save(store, 1, small(1), 0.5)
    unfinished = store.directory / "2.writing.orbax-checkpoint-tmp"
    unfinished.mkdir()
    reader = CheckpointStore(store.directory, FINGERPRINT)
    assert value_of(reader.load(reader.best_step(print), LIKE)) == 1
    assert unfinished.is_dir()
    nowhere = CheckpointStore(tmp_path / "other" / "nowhere", FINGERPRINT)
    assert nowhere.load_newest(LIKE, print) is None
    assert not (tmp_path / "other").exists()


def test_checkpoints_that_are_gone_are_an_error_and_no_new_beginning(
    store: CheckpointStore,
) -> None:
    save(store, 1, small(1), 0.5)
    shutil.rmtree(store.directory)
    for text in (None, "", "[", '{"step": "x"}'):
        if text is not None:
            store.directory.with_name("last_save.json").write_text(text)
        with pytest.raises(CheckpointError, match=r"gone; last_save.json says that there was one"):
            store.load_newest(LIKE, print)


def test_newest_checkpoint_that_is_gone_is_told(store: CheckpointStore) -> None:
    told: list[str] = []
    for step in (1, 2):
        save(store, step, small(step), 0.5)
    assert store.load_newest(LIKE, told.append) is not None
    assert told == []
    shutil.rmtree(store.directory / "2")
    found = store.load_newest(LIKE, told.append)
    assert found is not None
    assert found[0].step == 1
    assert told == ["warning: checkpoint 2, the last that was saved, is gone"]


def test_step_that_a_run_removes_meanwhile_is_chosen_anew(store: CheckpointStore) -> None:
    save(store, 2, small(2), 0.5)
    steps = iter([1, 2])
    step, loaded = store.load_chosen(lambda: next(steps), LIKE)
    assert (step, value_of(loaded)) == (2, 2)
    with pytest.raises(CheckpointError, match="faster than they can be read"):
        store.load_chosen(lambda: 1, LIKE)
    (store.directory / "2" / "manifest.json").write_text("{}")
    with pytest.raises(CheckpointError, match="changed or cut off"):
        store.load_chosen(lambda: 2, LIKE)


def test_checkpoint_whose_score_cannot_be_read_is_told_when_the_best_is_asked_for(
    store: CheckpointStore,
) -> None:
    told: list[str] = []
    for step, score in ((1, 0.5), (2, 0.9)):
        save(store, step, small(step), score)
    (store.directory / "2" / "manifest.json").write_text("{}")
    assert store.best_step(told.append) == 1
    [line] = told
    assert line.startswith("warning: cannot load checkpoint")


def test_empty_folder_has_no_checkpoint(store: CheckpointStore) -> None:
    assert store.steps() == []
    assert store.load_newest(LIKE, print) is None
    for missing in (lambda: store.best_step(print), store.newest_step):
        with pytest.raises(CheckpointError, match=r"no checkpoint in .*train there first"):
            missing()


def test_step_that_does_not_exist_is_an_error(store: CheckpointStore) -> None:
    save(store, 1, small(1))
    with pytest.raises(CheckpointError, match=r"there is no checkpoint .*/2"):
        store.load(2, LIKE)


def test_what_was_never_finished_is_not_seen_and_can_be_removed(store: CheckpointStore) -> None:
    save(store, 1, small(1))
    for name in ("2.writing", "2.writing.orbax-checkpoint-tmp-7", "3.deleting"):
        (store.directory / name / "learner").mkdir(parents=True)
    (store.directory / "thesis").mkdir()
    again = CheckpointStore(store.directory, FINGERPRINT)
    assert again.steps() == [1]
    again.remove_leftovers()
    assert {path.name for path in store.directory.iterdir()} == {"1", "thesis"}
    save(again, 2, small(2))
    assert again.steps() == [2, 1]


def test_checkpoint_that_was_half_removed_is_not_seen(
    store: CheckpointStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in (1, 2):
        save(store, step, small(step))

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("factorio_rl.checkpoint._remove", killed)
    with pytest.raises(KeyboardInterrupt):
        store.keep_only(newest=1, every_chunks=None)
    assert store.steps() == [2]


def test_all_of_a_checkpoint_is_on_the_disk_before_it_has_its_name(
    store: CheckpointStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []

    def record(descriptor: int) -> None:
        if not (store.directory / "1").exists():
            synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")))

    monkeypatch.setattr(os, "fsync", record)
    save(store, 1, small(1))
    saved = [path for path in (store.directory / "1").rglob("*") if path.is_file()]
    names = {path.relative_to(store.directory / "1") for path in saved}
    unfinished = store.directory / "1.writing"
    assert names <= {
        path.relative_to(unfinished) for path in synced if path.is_relative_to(unfinished)
    }


def test_failed_save_leaves_the_others_and_nothing_else(
    store: CheckpointStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(store, 1, small(1))

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("factorio_rl.checkpoint.write_manifest", full)
    with pytest.raises(SaveError, match="No space left on device") as caught:
        save(store, 2, small(2))
    assert caught.value.is_disk_full
    assert [path.name for path in store.directory.iterdir()] == ["1"]
    assert value_of(store.load(1, LIKE)) == 1


def test_run_directory_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    with pytest.raises(SaveError, match="No such file or directory"):
        save(CheckpointStore(tmp_path / "gone" / "checkpoints", FINGERPRINT), 1, small(1))
    assert not (tmp_path / "gone").exists()


def test_checkpoint_of_other_settings_is_refused_with_what_differs(store: CheckpointStore) -> None:
    save(store, 1, small(1))
    other = CheckpointStore(store.directory, {**FINGERPRINT, "network.channels": 16})
    with pytest.raises(OtherRunError, match=r"network.channels: 8 in the checkpoint, 16 now") as it:
        other.load_newest(LIKE, print)
    assert it.value.exit_code == 2
    assert store.steps() == [1]
