"""References on the device: boards, targets, shares, against plain Python on the same pool."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_setup import Variants

from envs.actions import decode, encode, finish_action
from envs.dynamics import legal_actions, step
from envs.solved import Solved
from envs.types import Board, State, board_placements
from factorio_rl.config import Config
from factorio_rl.demonstrations import (
    Demonstration,
    References,
    Start,
    make_references,
    sample_demonstration,
    sample_finished,
    sample_start,
)
from factorio_rl.env_shape import env_shape
from factorio_rl.model import gather_tasks

BATCH = 4096
FINISH = finish_action(7, 7)


_draw_starts = jax.jit(sample_start, static_argnums=(2, 3, 4))
_draw_demonstrations = jax.jit(sample_demonstration, static_argnums=(2, 3))


def sampled_starts(references: References, empty_share: float, subset_share: float) -> Start:
    drawn = _draw_starts(jax.random.key(5), references, BATCH, empty_share, subset_share)
    return jax.device_get(drawn)


def sampled_demonstrations(references: References) -> Demonstration:
    """Prefixes and, half of them, subsets."""
    return jax.device_get(_draw_demonstrations(jax.random.key(6), references, BATCH, 0.5))


@pytest.fixture(scope="module")
def starts(references: References) -> Start:
    """Starts with a quarter empty, the rest prefixes."""
    return sampled_starts(references, 0.25, 0.0)


@pytest.fixture(scope="module")
def demonstrations(references: References) -> Demonstration:
    return sampled_demonstrations(references)


@pytest.fixture(scope="module")
def finished(references: References) -> Demonstration:
    draw = jax.jit(sample_finished, static_argnums=2)
    return jax.device_get(draw(jax.random.key(7), references, BATCH))


def kept_positions(solved: list[Solved], task: np.ndarray, board: Board) -> list[list[int]]:
    """Which placements of its reference each board holds; fails on anything else."""
    positions = []
    for index, entity, rotation in zip(task, board.entity, board.rotation, strict=True):
        order = {put: at for at, put in enumerate(solved[index].placements)}
        positions.append(sorted(order[put] for put in board_placements(entity, rotation)))
    return positions


def is_prefix(positions: list[int]) -> bool:
    return positions == list(range(len(positions)))


def test_references_hold_the_placements_in_flow_order(
    references: References, solved: list[Solved]
) -> None:
    longest = max(len(entry.placements) for entry in solved)
    assert references.actions.shape == (len(solved), longest)
    for row, entry in zip(np.asarray(references.actions), solved, strict=True):
        length = len(entry.placements)
        assert tuple(decode(int(action), 7, 7) for action in row[:length]) == entry.placements
        assert np.all(row[length:] == FINISH)


def test_prefix_boards_are_what_stepping_the_reference_gives(
    references: References, starts: Start
) -> None:
    longest = references.actions.shape[1]

    @jax.jit
    def replayed(index: jax.Array, count: jax.Array) -> Board:
        states = State(
            gather_tasks(references.tasks, index),
            jax.tree.map(lambda leaf: jnp.zeros_like(leaf), starts.board),
        )
        for position in range(longest):
            moved = jax.vmap(step)(states, references.actions[index, position]).board
            goes_on = position < count

            def choose(new: jax.Array, old: jax.Array, goes_on: jax.Array = goes_on) -> jax.Array:
                return jnp.where(goes_on.reshape(-1, *(1,) * (old.ndim - 1)), new, old)

            states = State(states.task, jax.tree.map(choose, moved, states.board))
        return states.board

    expected = replayed(starts.task_index, starts.board.placed)
    jax.tree.map(np.testing.assert_array_equal, starts.board, jax.device_get(expected))


def test_removed_and_placed_add_up_to_the_reference(
    references: References, solved: list[Solved], starts: Start
) -> None:
    lengths = np.array([len(entry.placements) for entry in solved])
    np.testing.assert_array_equal(references.length, lengths)
    np.testing.assert_array_equal(starts.removed + starts.board.placed, lengths[starts.task_index])
    np.testing.assert_array_equal(starts.board.placed, (starts.board.entity > 0).sum(axis=(1, 2)))
    assert not np.any(starts.board.finished)


def test_tasks_are_drawn_uniformly(solved: list[Solved], starts: Start) -> None:
    counts = np.bincount(starts.task_index, minlength=len(solved))
    np.testing.assert_allclose(counts / BATCH, 1 / len(solved), atol=0.04)


def test_number_of_removed_placements_is_uniform(
    references: References, solved: list[Solved]
) -> None:
    starts = sampled_starts(references, 0.0, 0.5)
    for index, entry in enumerate(solved):
        removed = starts.removed[starts.task_index == index]
        buckets = len(entry.placements) + 1
        shares = np.bincount(removed, minlength=buckets) / len(removed)
        assert shares.shape == (buckets,)
        np.testing.assert_allclose(shares, 1 / buckets, atol=0.05)


@pytest.mark.parametrize("empty_share", [0.25, 0.7, 1.0])
def test_empty_starts_are_at_least_the_configured_share(
    references: References, empty_share: float
) -> None:
    starts = sampled_starts(references, empty_share, 0.2)
    from_empty = np.mean(starts.board.placed == 0)
    # The uniform draw of k adds empty boards: one in 6 to 8 of the rest.
    assert empty_share - 0.02 < from_empty < empty_share + (1 - empty_share) * 0.25 + 0.02


def test_without_subsets_all_boards_are_prefixes(solved: list[Solved], starts: Start) -> None:
    assert all(map(is_prefix, kept_positions(solved, starts.task_index, starts.board)))


def test_subset_share_gives_other_subsets_of_the_reference(
    references: References, solved: list[Solved]
) -> None:
    starts = sampled_starts(references, 0.0, 1.0)
    positions = kept_positions(solved, starts.task_index, starts.board)
    assert np.mean([is_prefix(kept) for kept in positions]) < 0.6
    half = sampled_starts(references, 0.0, 0.5)
    some = np.mean(
        [is_prefix(kept) for kept in kept_positions(solved, half.task_index, half.board)]
    )
    assert np.mean([is_prefix(kept) for kept in positions]) < some < 1


def test_subsets_favour_no_placement(references: References, solved: list[Solved]) -> None:
    starts = sampled_starts(references, 0.0, 1.0)
    positions = kept_positions(solved, starts.task_index, starts.board)
    for index, entry in enumerate(solved):
        of_task = [
            kept for at, kept in zip(starts.task_index, positions, strict=True) if at == index
        ]
        for place in range(len(entry.placements)):
            assert abs(np.mean([place in kept for kept in of_task]) - 0.5) < 0.06


def test_target_is_the_first_missing_placement_or_finish(
    solved: list[Solved], demonstrations: Demonstration
) -> None:
    positions = kept_positions(solved, demonstrations.task_index, demonstrations.board)
    assert any(not is_prefix(kept) for kept in positions)
    for index, kept, action in zip(
        demonstrations.task_index, positions, demonstrations.action, strict=True
    ):
        missing = [put for at, put in enumerate(solved[index].placements) if at not in kept]
        assert action == (encode(missing[0], 7, 7) if missing else FINISH)
    assert np.any(demonstrations.action == FINISH)
    assert not np.any(demonstrations.board.finished)
    assert np.all(demonstrations.value == 1)


def test_target_is_legal_under_the_growth_rule(
    references: References, demonstrations: Demonstration
) -> None:
    @jax.jit
    def is_legal(demonstration: Demonstration) -> jax.Array:
        tasks = gather_tasks(references.tasks, demonstration.task_index)
        legal = jax.vmap(legal_actions)(State(tasks, demonstration.board))
        return jnp.take_along_axis(legal, demonstration.action[:, None], axis=1)

    assert np.all(is_legal(demonstrations))


def test_finished_layouts_carry_the_score_of_what_they_keep(
    solved: list[Solved], variants: Variants, finished: Demonstration
) -> None:
    assert np.all(finished.board.finished)
    known = [
        {tuple(at for at, keep in enumerate(kept) if keep): score for kept, score in of_task}
        | {tuple(range(len(entry.placements))): 1.0}
        for entry, of_task in zip(solved, variants, strict=True)
    ]
    positions = kept_positions(solved, finished.task_index, finished.board)
    expected = [
        known[index][tuple(kept)]
        for index, kept in zip(finished.task_index, positions, strict=True)
    ]
    np.testing.assert_allclose(finished.value, expected, atol=1e-6)
    np.testing.assert_array_equal(finished.board.placed, [len(kept) for kept in positions])


def test_whole_layouts_are_as_frequent_as_each_incomplete_one(
    variants: Variants, finished: Demonstration
) -> None:
    share = 1 / (len(variants[0]) + 1)
    assert abs(np.mean(finished.value == 1) - share) < 0.03


def test_board_of_as_many_placements_as_the_limit_is_never_an_open_one(
    config: Config, solved: list[Solved], variants: Variants
) -> None:
    """The dynamics finish such a board, so no unfinished one may be learnt or played from."""
    roomy = make_references(solved, variants, env_shape(config))
    tight = dataclasses.replace(roomy.tasks, placement_limit=roomy.length)
    references = dataclasses.replace(roomy, tasks=tight)
    starts = sampled_starts(references, 0.0, 0.5)
    demonstrations = sampled_demonstrations(references)
    for board, index in (
        (starts.board, starts.task_index),
        (demonstrations.board, demonstrations.task_index),
    ):
        assert np.all(board.placed < references.length[index])
    assert not np.any(demonstrations.action == FINISH)


def test_same_key_gives_the_same_samples(references: References, starts: Start) -> None:
    jax.tree.map(np.testing.assert_array_equal, starts, sampled_starts(references, 0.25, 0.0))
