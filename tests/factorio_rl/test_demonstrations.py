"""References on the device: boards, shares, levels, against plain Python on the same pool.

What demonstrations teach is in `test_demonstration_targets`.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_setup import Variants, kept_positions, make_variants

from envs.actions import decode, finish_action
from envs.dynamics import step
from envs.flow_order import NO_FEEDER, feeders
from envs.solved import Solved
from envs.types import Board, State
from factorio_rl.config import Config
from factorio_rl.demonstrations import (
    Demonstration,
    Finished,
    References,
    Start,
    family_longest,
    make_references,
    sample_demonstration,
    sample_finished,
    sample_start,
)
from factorio_rl.env_shape import env_shape
from factorio_rl.model import gather_tasks

BATCH = 4096
FINISH = finish_action(7, 7)
LONGEST = 7


_draw_starts = jax.jit(sample_start, static_argnums=(3, 4, 5))
_draw_demonstrations = jax.jit(sample_demonstration, static_argnums=(2, 3, 4, 5))


def sampled_starts(
    references: References, empty_share: float, subset_share: float, *levels: int
) -> Start:
    """Starts of these levels of both families, of all without any."""
    weights = np.zeros((2, LONGEST + 1), np.float32)
    weights[:, list(levels) or slice(1, None)] = 1 / (len(levels) or LONGEST)
    key = jax.random.key(5)
    drawn = _draw_starts(key, references, jnp.asarray(weights), BATCH, empty_share, subset_share)
    return jax.device_get(drawn)


def sampled_demonstrations(references: References) -> Demonstration:
    """Prefixes and, half of them, subsets."""
    key = jax.random.key(6)
    return jax.device_get(_draw_demonstrations(key, references, BATCH, 0.5, "next", True))


@pytest.fixture(scope="module")
def starts(references: References) -> Start:
    """Starts with a quarter empty, the rest prefixes."""
    return sampled_starts(references, 0.25, 0.0)


@pytest.fixture(scope="module")
def finished(references: References) -> Finished:
    draw = jax.jit(sample_finished, static_argnums=2)
    return jax.device_get(draw(jax.random.key(7), references, BATCH))


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


def test_families_are_drawn_alike_however_many_tasks_they_have(
    config: Config, solved: list[Solved]
) -> None:
    uneven = [solved[2], solved[0], solved[1], solved[3], solved[2]]
    references = make_references(uneven, make_variants(uneven), env_shape(config))
    assert references.families == ("iron-gear-wheels", "pipes")
    assert family_longest(references) == (7, 6)
    starts = sampled_starts(references, 0.25, 0.0)
    shares = np.bincount(starts.task_index, minlength=5) / BATCH
    np.testing.assert_allclose(shares, [1 / 6, 1 / 4, 1 / 4, 1 / 6, 1 / 6], atol=0.03)


def test_families_are_drawn_by_their_shares(references: References) -> None:
    shares, key, family = jnp.array([0.25, 0.75]), jax.random.key(8), np.asarray(references.family)
    weights = jnp.zeros((2, LONGEST + 1)).at[:, 1:].set(shares[:, None] / LONGEST)
    drawn = [
        _draw_starts(key, references, weights, BATCH, 0.25, 0.0),
        _draw_demonstrations(key, references, BATCH, 0.5, "next", True, shares),
        jax.jit(sample_finished, static_argnums=2)(key, references, BATCH, shares),
    ]
    for of_kind in drawn:
        share = family[np.asarray(of_kind.task_index)].mean()
        assert abs(share - 0.75) < 5 * np.sqrt(0.75 * 0.25 / BATCH)


def test_references_hold_the_feeders(references: References, solved: list[Solved]) -> None:
    for row, entry in zip(np.asarray(references.feeder), solved, strict=True):
        length = len(entry.placements)
        assert tuple(row[:length]) == feeders(entry.spec, entry.placements)
        assert np.all(row[length:] == NO_FEEDER)


@pytest.mark.parametrize("subset_share", [0.0, 0.5])
def test_levels_are_drawn_by_the_weights_of_the_family(
    references: References, solved: list[Solved], subset_share: float
) -> None:
    weights = np.zeros((2, LONGEST + 1), np.float32)
    weights[0, [1, 3]] = 0.25, 0.75
    weights[1, [2, 4, 7]] = 0.2, 0.2, 0.6
    drawn = _draw_starts(
        jax.random.key(8), references, jnp.asarray(weights), BATCH, 0.0, subset_share
    )
    starts = jax.device_get(drawn)
    for index, entry in enumerate(solved):
        row = weights[index // 2].copy()
        row[len(entry.placements) + 1 :] = 0
        shares = np.bincount(starts.removed[starts.task_index == index], minlength=LONGEST + 1)
        np.testing.assert_allclose(shares / shares.sum(), row / row.sum(), atol=0.05)


def test_reference_without_a_level_of_any_weight_is_drawn_at_all_of_its_levels(
    references: References, solved: list[Solved]
) -> None:
    starts = sampled_starts(references, 0.0, 0.0, 6)
    for index, entry in enumerate(solved):
        shares = np.bincount(starts.removed[starts.task_index == index], minlength=LONGEST + 1)
        expected = np.zeros(LONGEST + 1)
        length = len(entry.placements)
        if length >= 6:
            expected[6] = 1
        else:
            expected[1 : length + 1] = 1 / length
        np.testing.assert_allclose(shares / shares.sum(), expected, atol=0.05)


@pytest.mark.parametrize("empty_share", [0.25, 0.7, 1.0])
def test_empty_starts_are_the_configured_share_beside_those_of_the_levels(
    references: References, empty_share: float
) -> None:
    assert abs(mean_empty(sampled_starts(references, empty_share, 0.2, 1, 2, 3)) - empty_share) < (
        0.02
    )
    # Levels of whole references add empty boards.
    assert mean_empty(sampled_starts(references, empty_share, 0.2, 5, 6, 7)) > empty_share - 0.02


def mean_empty(starts: Start) -> float:
    """Share of starts without any placement; they lack their whole reference."""
    return float(np.mean(starts.board.placed == 0))


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
        length = len(entry.placements)
        of_task = [
            kept for at, kept in zip(starts.task_index, positions, strict=True) if at == index
        ]
        for place in range(length):
            share = np.mean([place in kept for kept in of_task])
            assert abs(share - (length - 1) / (2 * length)) < 0.06


def test_finished_layouts_carry_the_score_of_what_they_keep(
    solved: list[Solved], variants: Variants, finished: Finished
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
    np.testing.assert_allclose(finished.score, expected, atol=1e-6)
    np.testing.assert_array_equal(finished.board.placed, [len(kept) for kept in positions])


def test_whole_layouts_are_as_frequent_as_each_incomplete_one(
    variants: Variants, finished: Finished
) -> None:
    share = 1 / (len(variants[0]) + 1)
    assert abs(np.mean(finished.score == 1) - share) < 0.03


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
    assert not np.any(demonstrations.policy[:, FINISH])


def test_same_key_gives_the_same_samples(references: References, starts: Start) -> None:
    jax.tree.map(np.testing.assert_array_equal, starts, sampled_starts(references, 0.25, 0.0))
