"""Self-play, checked move by move on five played chunks: play, rows, endings, fresh starts."""

from collections.abc import Callable

import jax
import numpy as np
import pytest
from tiny_setup import Played, overflowing_on_gears

from envs.actions import num_actions
from envs.dynamics import legal_actions
from envs.types import Board, State
from factorio_rl.config import Config
from factorio_rl.demonstrations import References
from factorio_rl.learner import LearnerState
from factorio_rl.model import Predict, gather_tasks, plan
from factorio_rl.replay import Rows
from factorio_rl.selfplay import (
    ActorState,
    Ended,
    RunChunk,
    actor_settings,
    search_key,
    search_settings,
)

ACTIONS = num_actions(7, 7)


@pytest.fixture(scope="module")
def ended(played: Played) -> Ended:
    """All moves of all chunks, first axis T."""
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *(c.ended for c in played.chunks))


@pytest.fixture(scope="module")
def rows(played: Played, config: Config) -> tuple[Rows, Rows]:
    """Rows of the moves and of the layouts that they finished, axes T, B."""
    envs = config.actor.num_envs

    def split(*leaves: np.ndarray) -> np.ndarray:
        flat = np.concatenate(leaves)
        return flat.reshape(-1, 2, envs, *flat.shape[1:])

    both = jax.tree.map(split, *(chunk.rows for chunk in played.chunks))
    return jax.tree.map(lambda leaf: leaf[:, 0], both), jax.tree.map(lambda leaf: leaf[:, 1], both)


def test_play_ends_some_episodes_and_goes_on_with_others(ended: Ended) -> None:
    """The other tests of this file would prove nothing without these."""
    assert 5 < ended.ended.sum() < ended.ended.size / 2
    assert np.any(ended.board.placed[ended.ended] > ended.start_placed[ended.ended])
    assert len(np.unique(ended.task_index)) == 4


def test_each_move_places_one_entity_or_finishes(
    rows: tuple[Rows, Rows], ended: Ended, references: References
) -> None:
    before, after = rows[0].board, ended.board
    changed = (before.entity != after.entity).sum(axis=(2, 3))
    made = after.placed - before.placed
    assert set(np.unique(made)) == {0, 1}
    np.testing.assert_array_equal(changed, made)
    stays = before.entity > 0
    np.testing.assert_array_equal(after.entity[stays], before.entity[stays])
    np.testing.assert_array_equal(after.rotation[stays], before.rotation[stays])
    limit = np.asarray(references.tasks.placement_limit)[ended.task_index]
    np.testing.assert_array_equal(ended.ended, (made == 0) | (after.placed == limit))


def test_ended_flag_is_that_of_the_board(ended: Ended) -> None:
    np.testing.assert_array_equal(ended.ended, ended.board.finished)


def test_play_goes_on_from_the_board_that_the_move_left(
    rows: tuple[Rows, Rows], ended: Ended
) -> None:
    goes_on = ~ended.ended[:-1]
    for before, after in zip(
        jax.tree.leaves(rows[0].board), jax.tree.leaves(ended.board), strict=True
    ):
        np.testing.assert_array_equal(before[1:][goes_on], after[:-1][goes_on])
    for name in ("task_index", "removed", "start_placed", "episode"):
        field = getattr(ended, name)
        np.testing.assert_array_equal(field[1:][goes_on], field[:-1][goes_on])


def test_episode_number_rises_by_one_exactly_after_an_end(ended: Ended) -> None:
    assert np.all(ended.episode[0] == 0)
    np.testing.assert_array_equal(np.diff(ended.episode, axis=0), ended.ended[:-1])


def test_fresh_start_is_open_and_counts_what_it_has_and_lacks(
    rows: tuple[Rows, Rows], ended: Ended, references: References
) -> None:
    is_start = np.concatenate([np.ones((1, ended.ended.shape[1]), bool), ended.ended[:-1]])
    assert not np.any(rows[0].board.finished)
    placed = rows[0].board.placed
    np.testing.assert_array_equal(placed[is_start], ended.start_placed[is_start])
    length = np.asarray(references.length)[ended.task_index]
    np.testing.assert_array_equal(ended.start_placed + ended.removed, length)


def test_actor_between_chunks_is_the_one_that_the_last_move_left(
    played: Played, config: Config
) -> None:
    for actor, chunk in zip(played.actors[1:], played.chunks, strict=True):
        assert not np.any(actor.board.finished)
        last = jax.tree.map(lambda leaf: leaf[-1], chunk.ended)
        np.testing.assert_array_equal(actor.episode, last.episode + last.ended)
        goes_on = ~last.ended
        np.testing.assert_array_equal(actor.board.entity[goes_on], last.board.entity[goes_on])
        np.testing.assert_array_equal(actor.task_index[goes_on], last.task_index[goes_on])
    for actor, chunk in zip(played.actors, played.chunks, strict=False):
        first = jax.tree.map(lambda leaf: leaf[: config.actor.num_envs], chunk.rows)
        jax.tree.map(np.testing.assert_array_equal, first.board, actor.board)


def test_rows_of_moves_carry_a_policy_over_legal_actions(
    rows: tuple[Rows, Rows], references: References
) -> None:
    moves = rows[0]
    assert np.all(moves.valid)

    @jax.jit
    def legal_of(task_index: jax.Array, board: Board) -> jax.Array:
        return jax.vmap(legal_actions)(State(gather_tasks(references.tasks, task_index), board))

    flat: Rows = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), moves)
    legal = np.asarray(legal_of(flat.task_index, flat.board))
    np.testing.assert_allclose(flat.policy.sum(axis=1), 1.0, atol=1e-5)
    assert np.all(flat.policy[~legal] == 0)


def test_each_finished_layout_gets_a_row_of_its_own(rows: tuple[Rows, Rows], ended: Ended) -> None:
    moves, final = rows
    np.testing.assert_array_equal(final.valid, ended.ended)
    over = ended.ended
    for row, board in zip(jax.tree.leaves(final.board), jax.tree.leaves(ended.board), strict=True):
        np.testing.assert_array_equal(row[over], board[over])
    assert np.all(final.board.finished[over])
    assert not np.any(final.policy)
    for of_rows in (moves, final):
        np.testing.assert_array_equal(of_rows.episode, ended.episode)
        np.testing.assert_array_equal(of_rows.task_index, ended.task_index)
        np.testing.assert_array_equal(of_rows.env, np.indices(ended.ended.shape)[1])


def test_search_figures_are_in_their_ranges(played: Played) -> None:
    for chunk in played.chunks:
        assert 0 < chunk.stats.target_entropy < np.log(ACTIONS)
        assert chunk.stats.target_divergence > 0
        assert 0 < chunk.stats.root_value < 1


def test_search_that_is_not_finite_ends_the_episode_and_leaves_no_row(
    run_chunk: RunChunk,
    config: Config,
    learner: LearnerState,
    references: References,
    alike: jax.Array,
    start: Callable[[int], ActorState],
) -> None:
    params = overflowing_on_gears(learner.params)
    _, chunk = jax.device_get(run_chunk(params, references, alike, start(2), jax.random.key(7)))
    ended, shape = chunk.ended, (-1, 2, config.actor.num_envs)
    is_gear = ended.task_index >= 2
    assert 0 < is_gear.sum() < is_gear.size
    np.testing.assert_array_equal(ended.non_finite, is_gear)
    assert np.all(ended.ended[is_gear])
    assert not np.all(ended.ended[~is_gear])
    np.testing.assert_array_equal(ended.board.placed[is_gear], ended.start_placed[is_gear])
    valid = chunk.rows.valid.reshape(shape)
    np.testing.assert_array_equal(valid[:, 0], ~is_gear)
    np.testing.assert_array_equal(valid[:, 1], ended.ended & ~is_gear)
    policy = chunk.rows.policy.reshape(*shape, ACTIONS)
    np.testing.assert_allclose(policy[:, 0][~is_gear].sum(axis=-1), 1.0, atol=1e-5)
    assert all(np.isfinite(figure) for figure in chunk.stats)


def test_searches_of_a_move_can_be_made_again(
    played: Played,
    rows: tuple[Rows, Rows],
    config: Config,
    predict: Predict,
    learner: LearnerState,
    references: References,
) -> None:
    move = 3
    before: Rows = jax.device_put(jax.tree.map(lambda leaf: leaf[move], rows[0]))
    settings, key = actor_settings(config), jax.random.fold_in(jax.random.key(7), 0)

    @jax.jit
    def search(task_index: jax.Array, board: Board, key: jax.Array) -> jax.Array:
        states = State(gather_tasks(references.tasks, task_index), board)
        legal = jax.vmap(legal_actions)(states)
        scale = jax.numpy.float32(1.0)
        return plan(predict, learner.params, key, states, settings, scale, legal).action_weights

    again = search(before.task_index, before.board, search_key(key, move))
    np.testing.assert_allclose(again, before.policy, atol=1e-6)
    other = search(before.task_index, before.board, search_key(key, move + 1))
    assert not np.allclose(other, before.policy, atol=1e-6)


def test_same_key_plays_the_same_chunk_bit_for_bit(
    played: Played,
    run_chunk: RunChunk,
    learner: LearnerState,
    references: References,
    alike: jax.Array,
    start: Callable[[int], ActorState],
) -> None:
    key = jax.random.fold_in(jax.random.key(7), 0)
    again = run_chunk(learner.params, references, alike, start(2), key)
    jax.tree.map(
        np.testing.assert_array_equal, (played.actors[1], played.chunks[0]), jax.device_get(again)
    )
    other = run_chunk(learner.params, references, alike, start(2), jax.random.key(8))
    assert not np.array_equal(other[1].rows.board.entity, played.chunks[0].rows.board.entity)


def test_some_starts_are_empty_and_others_are_not(start: Callable[[int], ActorState]) -> None:
    placed = np.concatenate([start(seed).start_placed for seed in range(20)])
    assert 0.2 < np.mean(placed == 0) < 0.7


def test_search_gets_the_settings_of_the_config(config: Config) -> None:
    changes = {"max_depth": 3, "value_scale": 0.5, "maxvisit_init": 20.0, "rescale_values": True}
    search = config.search.model_copy(update={**changes, "use_mixed_value": False})
    settings = search_settings(config.model_copy(update={"search": search}), 9, 5)
    assert (settings.num_simulations, settings.max_num_considered_actions) == (9, 5)
    assert {name: getattr(settings, name) for name in changes} == changes
    assert not settings.use_mixed_value
