"""The replay ring against a plain list of rows: what is written, scored, overwritten, sampled."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from envs.types import Board
from factorio_rl.replay import (
    Replay,
    Rows,
    Scores,
    add_rows,
    add_scores,
    empty_replay,
    num_scored,
    sample_rows,
)

MOVES, ENVS, SIDE, ACTIONS = 3, 4, 3, 5
CAPACITY = 61
LAG = 2
FIELDS = ("task_index", "entity", "rotation", "finished", "policy", "env", "episode")

add_rows_jit = jax.jit(add_rows)
add_scores_jit = jax.jit(add_scores)


@dataclass
class Oracle:
    """The same buffer as a list of dicts, written row by row."""

    ring: list[dict[str, Any] | None] = field(default_factory=lambda: [None] * CAPACITY)
    cursor: int = 0

    def add(self, rows: Rows) -> None:
        for number in np.flatnonzero(rows.valid):
            row = {name: getattr(rows, name)[number] for name in ("task_index", "env", "episode")}
            row |= {name: getattr(rows.board, name)[number] for name in ("entity", "rotation")}
            row |= {"finished": rows.board.finished[number]}
            row |= {"policy": rows.policy[number].astype(np.float16), "value": 0.0}
            self.ring[self.cursor % CAPACITY] = {**row, "scored": False}
            self.cursor += 1

    def score(self, scores: Scores) -> None:
        for move, env in zip(*np.nonzero(scores.ended), strict=True):
            for row in filter(None, self.ring):
                if (row["env"], row["episode"]) == (env, scores.episode[move, env]):
                    row |= {"value": scores.score[move, env], "scored": True}

    def check(self, replay: Replay) -> None:
        """Every slot of the buffer is the row that the list has there."""
        for slot, row in enumerate(self.ring):
            assert bool(replay.scored[slot]) == (row is not None and row["scored"])
            if row is None:
                assert replay.episode[slot] == -1
                continue
            for name in (*FIELDS, "value"):
                np.testing.assert_array_equal(getattr(replay, name)[slot], row[name], name)
        assert int(replay.cursor) == self.cursor % CAPACITY


def played_chunks(seed: int, end_chance: float) -> Iterator[tuple[Rows, Scores]]:
    """Chunks of random play: their rows as self-play orders them, and the scores that follow."""
    rng = np.random.default_rng(seed)
    episode = np.zeros(ENVS, np.int32)
    while True:
        moves, ended, episodes = [], [], []
        for _ in range(MOVES):
            over = rng.random(ENVS) < end_chance
            size = 2 * ENVS
            board = Board(
                rng.integers(0, 4, (size, SIDE, SIDE), np.uint8),
                rng.integers(0, 4, (size, SIDE, SIDE), np.uint8),
                np.zeros(size, np.int32),
                np.arange(size) >= ENVS,
            )
            rows = Rows(
                rng.integers(0, 9, size, np.int32),
                board,
                rng.random((size, ACTIONS), np.float32),
                np.tile(np.arange(ENVS, dtype=np.int32), 2),
                np.tile(episode, 2),
                np.concatenate([np.ones(ENVS, bool), over]),
            )
            moves.append(rows)
            ended.append(over)
            episodes.append(episode.copy())
            episode = episode + over.astype(np.int32)
        rows = jax.tree.map(lambda *leaves: np.concatenate(leaves), *moves)
        score = np.where(ended, rng.random((MOVES, ENVS)), 0).astype(np.float32)
        yield rows, Scores(np.array(ended), np.array(episodes), score)


def on_device(tree: Any) -> Any:
    return jax.tree.map(jnp.asarray, tree)


def run(seed: int, end_chance: float, chunks: int) -> Iterator[tuple[Replay, Oracle]]:
    """Buffer and oracle after each chunk; scores come with their lag, before the rows."""
    replay, oracle = empty_replay(CAPACITY, SIDE, SIDE, ACTIONS), Oracle()
    pending: list[Scores] = []
    for _, (rows, scores) in zip(range(chunks), played_chunks(seed, end_chance), strict=False):
        if len(pending) == LAG:
            due = pending.pop(0)
            replay = add_scores_jit(replay, on_device(due))
            oracle.score(due)
        replay = add_rows_jit(replay, on_device(rows))
        oracle.add(rows)
        pending.append(scores)
        yield replay, oracle


@pytest.fixture(scope="module")
def mixed() -> Replay:
    """A buffer that was overwritten twice, with scored and waiting rows."""
    *_, (replay, _) = run(3, 0.3, 10)
    assert 0 < int(num_scored(replay)) < CAPACITY
    return jax.device_get(replay)


@pytest.mark.parametrize("end_chance", [0.1, 0.5, 1.0])
def test_buffer_holds_what_a_list_would_hold(end_chance: float) -> None:
    most = 0
    for replay, oracle in run(1, end_chance, 12):
        oracle.check(jax.device_get(replay))
        assert int(num_scored(replay)) == sum(row["scored"] for row in oracle.ring if row)
        most = max(most, int(num_scored(replay)))
    assert most > 0


def test_new_buffer_is_empty() -> None:
    replay = empty_replay(CAPACITY, SIDE, SIDE, ACTIONS)
    assert int(num_scored(replay)) == 0
    Oracle().check(jax.device_get(replay))


def test_row_counts_once_its_episode_is_scored_and_not_before() -> None:
    rows, scores = next(played_chunks(0, 0.5))
    replay = add_rows_jit(empty_replay(CAPACITY, SIDE, SIDE, ACTIONS), on_device(rows))
    assert int(num_scored(replay)) == 0
    scored = add_scores_jit(replay, on_device(scores))
    last_ended = np.where(scores.ended, scores.episode, -1).max(axis=0)
    expected = rows.valid & (rows.episode <= last_ended[rows.env])
    assert int(num_scored(scored)) == expected.sum() > 0


def test_scores_of_no_ended_episode_change_nothing(mixed: Replay) -> None:
    replay = on_device(mixed)
    zeros = np.zeros((MOVES, ENVS))
    nothing = Scores(zeros.astype(bool), zeros.astype(np.int32), zeros.astype(np.float32))
    after = add_scores_jit(replay, on_device(nothing))
    jax.tree.map(np.testing.assert_array_equal, mixed, jax.device_get(after))


def test_known_value_is_never_scored_again(mixed: Replay) -> None:
    at = int(np.flatnonzero(mixed.scored)[0])
    again = np.zeros((MOVES, ENVS), bool)
    again[0, mixed.env[at]] = True
    scores = Scores(
        again,
        np.full((MOVES, ENVS), mixed.episode[at], np.int32),
        np.full((MOVES, ENVS), 9.0, np.float32),
    )
    after = add_scores_jit(on_device(mixed), on_device(scores))
    np.testing.assert_array_equal(after.value, mixed.value)


def test_more_rows_than_the_capacity_leave_the_last_ones() -> None:
    rows, _ = next(played_chunks(2, 1.0))
    small = 7
    replay = empty_replay(small, SIDE, SIDE, ACTIONS)
    for _ in range(2):
        replay = add_rows_jit(replay, on_device(rows))
    total = int(2 * rows.valid.sum())
    newest = rows.episode[rows.valid][-small:]
    ordered = np.roll(replay.episode, -(total % small))
    np.testing.assert_array_equal(ordered, newest)
    ordered = np.roll(replay.policy, -(total % small), axis=0)
    np.testing.assert_array_equal(ordered, rows.policy[rows.valid][-small:].astype(np.float16))


def test_samples_are_uniform_over_scored_rows_and_only_those(mixed: Replay) -> None:
    size = 20_000
    sample = jax.jit(sample_rows, static_argnums=2)(jax.random.key(0), on_device(mixed), size)
    # The policies are random, so each tells its row.
    row = {mixed.policy[slot].tobytes(): slot for slot in range(CAPACITY)}
    policy = np.asarray(sample.policy).astype(np.float16)
    drawn = np.array([row[entry.tobytes()] for entry in policy])
    shares = np.bincount(drawn, minlength=CAPACITY) / size
    scored = int(num_scored(on_device(mixed)))
    assert np.all(shares[~mixed.scored] == 0)
    np.testing.assert_allclose(shares[mixed.scored], 1 / scored, rtol=0.25)
    np.testing.assert_array_equal(sample.value, mixed.value[drawn])
    np.testing.assert_array_equal(sample.task_index, mixed.task_index[drawn])
    np.testing.assert_array_equal(sample.board.entity, mixed.entity[drawn])
    np.testing.assert_array_equal(sample.board.rotation, mixed.rotation[drawn])
    np.testing.assert_array_equal(sample.board.finished, mixed.finished[drawn])
    placed = (mixed.entity[drawn] > 0).sum(axis=(1, 2))
    np.testing.assert_array_equal(sample.board.placed, placed)
    assert sample.policy.dtype == jnp.float32


def test_buffer_without_scored_rows_gives_row_zero() -> None:
    sample = sample_rows(jax.random.key(0), empty_replay(CAPACITY, SIDE, SIDE, ACTIONS), 3)
    assert np.all(np.asarray(sample.value) == 0)
    assert np.all(np.isfinite(sample.policy))


def test_single_scored_row_is_found_wherever_it_lies(mixed: Replay) -> None:
    draw: Callable[..., Any] = jax.jit(sample_rows, static_argnums=2)
    for slot in (0, 17, CAPACITY - 1):
        replay = jax.tree.map(jnp.asarray, mixed)
        only = Replay(**{**vars(replay), "scored": jnp.arange(CAPACITY) == slot})
        sample = draw(jax.random.key(1), only, 8)
        expected = np.broadcast_to(mixed.policy[slot], sample.policy.shape)
        np.testing.assert_array_equal(np.asarray(sample.policy).astype(np.float16), expected)
