"""The learner: what a batch is made of, and that updates learn, repeat and count."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from envs.actions import finish_action, num_actions
from envs.dynamics import legal_actions
from envs.types import State
from factorio_rl.config import Config
from factorio_rl.demonstrations import References, sample_demonstration
from factorio_rl.learner import (
    LearnerState,
    Shares,
    Update,
    UpdateFigures,
    apply_gradients,
    learning_rate_schedule,
    make_batch,
    make_gradient,
    make_optimizer,
    make_update,
)
from factorio_rl.losses import Batch
from factorio_rl.model import gather_tasks
from factorio_rl.network import Network
from factorio_rl.replay import Replay, empty_replay

ACTIONS = num_actions(7, 7)
PLAYED_VALUE = 0.4375
SIZE = 2048
SCALES = jnp.full(2, 2.0**-5)
"""For FP8: activations of these networks are below 14."""

MakeBatch = Callable[[Replay, Shares, int], Batch]


def shares(demonstrations: float, finished: float) -> Shares:
    return Shares(jnp.float32(demonstrations), jnp.float32(finished))


@pytest.fixture(scope="module")
def nothing_played(config: Config) -> Replay:
    return jax.device_put(empty_replay(config.replay.capacity, 7, 7, ACTIONS))


@pytest.fixture(scope="module")
def replay(references: References, nothing_played: Replay) -> Replay:
    """Rows with a uniform policy over legal actions and a value that no other source has."""
    capacity = nothing_played.value.shape[0]
    draw = jax.jit(sample_demonstration, static_argnums=(2, 3, 4, 5))
    rows = draw(jax.random.key(9), references, capacity, 0.5, "next", True)
    states = State(gather_tasks(references.tasks, rows.task_index), rows.board)
    legal = jax.jit(jax.vmap(legal_actions))(states)
    return replace(
        nothing_played,
        task_index=rows.task_index,
        entity=rows.board.entity,
        rotation=rows.board.rotation,
        policy=(legal / legal.sum(axis=1, keepdims=True)).astype(jnp.float16),
        episode=jnp.zeros(capacity, jnp.int32),
        value=jnp.full(capacity, PLAYED_VALUE, jnp.float32),
        scored=jnp.arange(capacity) % 2 == 0,
    )


@pytest.fixture(scope="module")
def batch_of(config: Config, references: References) -> MakeBatch:
    """Large batches, compiled once."""
    learner = config.learner.model_copy(update={"batch_size": SIZE})
    large = config.model_copy(update={"learner": learner})

    @jax.jit
    def make(replay: Replay, shares: Shares, key: jax.Array) -> Batch:
        return make_batch(large, replay, references, shares, key)

    return lambda replay, shares, seed: jax.device_get(make(replay, shares, jax.random.key(seed)))


@pytest.fixture(scope="module")
def mixed(batch_of: MakeBatch, replay: Replay) -> Batch:
    return batch_of(replay, shares(0.3, 0.2), 1)


@pytest.mark.parametrize(("demonstrations", "finished"), [(0.3, 0.2), (0.0, 0.5), (0.0, 0.0)])
def test_batch_has_the_configured_shares(
    batch_of: MakeBatch, replay: Replay, demonstrations: float, finished: float
) -> None:
    batch = batch_of(replay, shares(demonstrations, finished), 2)
    is_done = batch.states.board.finished
    is_played = batch.has_value & (batch.value == np.float32(PLAYED_VALUE))
    assert abs(np.mean(~batch.has_value) - demonstrations) < 0.04
    assert abs(np.mean(is_done) - finished) < 0.04
    assert abs(np.mean(is_played) - (1 - demonstrations - finished)) < 0.04


def test_without_scored_rows_demonstrations_take_their_place(
    batch_of: MakeBatch, nothing_played: Replay
) -> None:
    batch = batch_of(nothing_played, shares(0.1, 0.2), 3)
    is_done = batch.states.board.finished
    assert abs(np.mean(is_done) - 0.2) < 0.04
    np.testing.assert_array_equal(batch.has_value, is_done)
    assert np.all(batch.policy[~is_done].max(axis=1) == 1)


def test_finished_layouts_teach_value_only_and_demonstrations_policy_only(mixed: Batch) -> None:
    is_done = mixed.states.board.finished
    np.testing.assert_array_equal(mixed.has_policy, ~is_done)
    assert np.all(mixed.has_value[is_done])
    one_hot = mixed.policy.max(axis=1) == 1
    assert np.all(one_hot[~mixed.has_value])


def test_targets_stay_legal_under_rotation(batch_of: MakeBatch, mixed: Batch) -> None:
    legal = np.asarray(jax.jit(jax.vmap(legal_actions))(mixed.states))
    rows = mixed.has_policy
    np.testing.assert_allclose(mixed.policy[rows].sum(axis=1), 1.0, atol=1e-2)
    assert np.all(mixed.policy[rows][~legal[rows]] == 0)
    is_played = mixed.has_value & rows
    # A uniform policy over legal actions stays one, so the rotation maps legal onto legal.
    np.testing.assert_array_equal(mixed.policy[is_played] > 0, legal[is_played])


def test_demonstrations_follow_the_configured_target(
    config: Config, references: References, nothing_played: Replay
) -> None:
    learner = config.learner.model_copy(update={"demonstration_target": "missing"})
    changed = config.model_copy(update={"learner": learner})

    @jax.jit
    def make(key: jax.Array) -> tuple[Batch, jax.Array]:
        batch = make_batch(changed, nothing_played, references, shares(0.8, 0.2), key)
        return batch, jax.vmap(legal_actions)(batch.states)

    batch, legal = jax.device_get(make(jax.random.key(1)))
    rows = batch.has_policy
    np.testing.assert_allclose(batch.policy[rows].sum(axis=1), 1.0, rtol=1e-5)
    assert not np.any(batch.policy[rows][~legal[rows]])
    assert np.mean(batch.policy[rows].max(axis=1) < 0.6) > 0.1


def test_each_quarter_turn_is_as_frequent(mixed: Batch, references: References) -> None:
    turns = []
    cells = np.asarray(references.tasks.port_cell)
    for cell in mixed.states.task.port_cell:
        (turn,) = {
            number
            for number in range(4)
            for before in cells
            if sorted(turned(before, number)) == sorted(cell)
        }
        turns.append(turn)
    np.testing.assert_allclose(np.bincount(turns) / SIZE, 0.25, atol=0.04)


def turned(cells: np.ndarray, quarter_turns: int) -> list[int]:
    """Cells of the 7x7 grid after clockwise quarter turns."""
    places = [divmod(int(cell), 7) for cell in cells]
    for _ in range(quarter_turns):
        places = [(x, 6 - y) for y, x in places]
    return [y * 7 + x for y, x in places]


def test_same_key_gives_the_same_batch_and_another_key_another(
    batch_of: MakeBatch, replay: Replay, mixed: Batch
) -> None:
    jax.tree.map(np.testing.assert_array_equal, mixed, batch_of(replay, shares(0.3, 0.2), 1))
    other = batch_of(replay, shares(0.3, 0.2), 4)
    assert not np.array_equal(mixed.states.board.entity, other.states.board.entity)


def run(
    update: Update, state: LearnerState, replay: Replay, references: References, updates: int
) -> tuple[LearnerState, list[UpdateFigures]]:
    """So many updates, on demonstrations and finished layouts."""
    figures = []
    for number in range(updates):
        key = jax.random.fold_in(jax.random.key(11), number)
        state, of_update = update(state, replay, references, shares(0.8, 0.2), SCALES, key)
        figures.append(of_update)
    return state, jax.device_get(figures)


def test_loss_falls_on_a_small_pool(
    update: Update, fresh: LearnerState, nothing_played: Replay, references: References
) -> None:
    """The network has to learn all demonstrations of four tasks in all orientations."""
    _, figures = run(update, fresh, nothing_played, references, 200)
    first, last = figures[0].losses, [of_update.losses for of_update in figures[-10:]]
    assert np.mean([losses.policy_loss for losses in last]) < 0.5 * first.policy_loss
    assert np.mean([losses.value_loss for losses in last]) < 0.4 * first.value_loss
    assert np.mean([losses.policy_accuracy for losses in last]) > 0.4
    assert all(of_update.finite for of_update in figures)


def test_updates_change_all_parameters_and_are_counted(
    update: Update, learner: LearnerState, nothing_played: Replay, references: References
) -> None:
    after, _ = run(update, learner, nothing_played, references, 2)
    assert int(after.updates) == int(learner.updates) + 2
    before = dict(jax.tree_util.tree_leaves_with_path(learner.params))
    for path, leaf in jax.tree_util.tree_leaves_with_path(after.params):
        assert not np.array_equal(before[path], leaf), jax.tree_util.keystr(path)


def test_same_keys_give_the_same_state_bit_for_bit(
    update: Update, learner: LearnerState, replay: Replay, references: References
) -> None:
    first, figures = run(update, learner, replay, references, 3)
    again, figures_again = run(update, learner, replay, references, 3)
    jax.tree.map(np.testing.assert_array_equal, first, again)
    jax.tree.map(np.testing.assert_array_equal, figures, figures_again)


def test_update_with_fp8_in_it_learns_nearly_the_same_from_a_batch(
    config: Config,
    network: Network,
    update: Update,
    learner: LearnerState,
    replay: Replay,
    references: References,
) -> None:
    aware = config.model_copy(update={"learner": config.learner.model_copy(update={"qat": True})})
    in_fp8 = jax.jit(make_update(aware, network))
    plain, [usual] = run(update, learner, replay, references, 1)
    after, [quantized] = run(in_fp8, learner, replay, references, 1)
    assert usual.losses.loss != quantized.losses.loss
    np.testing.assert_allclose(usual.losses.loss, quantized.losses.loss, rtol=0.05)
    np.testing.assert_allclose(usual.gradient_norm, quantized.gradient_norm, rtol=0.2)
    # The first update of AdamW is the sign of the gradient times the learning rate, which is 0 in
    # the first step of the warm-up: what the gradient was is in the optimizer's first moment.
    for moment, of_fp8 in zip(
        jax.tree.leaves(plain.optimizer), jax.tree.leaves(after.optimizer), strict=True
    ):
        assert np.isfinite(of_fp8).all()
        assert of_fp8.dtype == moment.dtype
        if moment.ndim == 4:
            assert np.corrcoef(moment.ravel(), of_fp8.ravel())[0, 1] > 0.9


def test_update_with_finite_numbers_is_one_without_a_guard_bit_for_bit(
    config: Config,
    network: Network,
    update: Update,
    learner: LearnerState,
    replay: Replay,
    references: References,
) -> None:
    optimizer, gradient = make_optimizer(config), make_gradient(config, network)

    @jax.jit
    def unguarded(state, replay, references, shares, scales, key):
        batch = make_batch(config, replay, references, shares, key)
        gradients, figures = gradient(state.params, batch, scales)
        new = apply_gradients(optimizer, state.params, state.optimizer, gradients)
        state = replace(state, params=new[0], optimizer=new[1], updates=state.updates + 1)
        return state, figures

    expected, figures = run(unguarded, learner, replay, references, 4)
    found, guarded = run(update, learner, replay, references, 4)
    jax.tree.map(np.testing.assert_array_equal, found, expected)
    jax.tree.map(np.testing.assert_array_equal, [each.losses for each in guarded], figures)
    assert int(found.skipped) == 0


def test_update_on_a_score_that_is_no_number_is_as_if_left_out(
    update: Update, learner: LearnerState, replay: Replay, references: References
) -> None:
    bad = replace(replay, value=replay.value * jnp.nan)
    keys = jax.random.split(jax.random.key(5), 3)

    def of(state: LearnerState, replay: Replay, key: jax.Array) -> LearnerState:
        return update(state, replay, references, shares(0.3, 0.2), SCALES, key)[0]

    first = of(learner, replay, keys[0])
    skipped = of(first, bad, keys[1])
    jax.tree.map(np.testing.assert_array_equal, skipped.params, first.params)
    jax.tree.map(np.testing.assert_array_equal, skipped.optimizer, first.optimizer)
    counts = [skipped.updates, skipped.skipped, skipped.skipped_in_row]
    assert [int(count) for count in counts] == [2, 1, 1]
    twice = of(skipped, bad, keys[1])
    assert [int(twice.skipped), int(twice.skipped_in_row)] == [2, 2]
    last, expected = of(skipped, replay, keys[2]), of(first, replay, keys[2])
    jax.tree.map(np.testing.assert_array_equal, last.params, expected.params)
    jax.tree.map(np.testing.assert_array_equal, last.optimizer, expected.optimizer)
    assert [int(last.updates), int(last.skipped), int(last.skipped_in_row)] == [3, 1, 0]


def test_step_to_parameters_that_are_not_finite_is_not_made(
    update: Update, learner: LearnerState, nothing_played: Replay, references: References
) -> None:
    """The square root of a negative second moment is no number, the loss and its gradient are."""
    optimizer: Any = learner.optimizer
    clip, (adam, *others) = optimizer
    broken = adam._replace(nu=jax.tree.map(lambda leaf: leaf - 1.0, adam.nu))
    state = replace(learner, optimizer=(clip, (broken, *others)))
    after, [figures] = run(update, state, nothing_played, references, 1)
    assert np.isfinite([figures.losses.loss, figures.gradient_norm]).all()
    assert not figures.finite
    jax.tree.map(np.testing.assert_array_equal, after.params, learner.params)


def test_learning_rate_rises_to_its_peak_and_falls_to_its_end(config: Config) -> None:
    schedule = learning_rate_schedule(config)
    learner, train = config.learner, config.train
    total = train.imitation_updates + train.num_chunks * learner.updates_per_chunk
    rates = np.array([schedule(number) for number in range(total + 1)])
    assert rates[0] == 0
    np.testing.assert_allclose(rates[learner.warmup_updates], learner.learning_rate, rtol=1e-6)
    end = learner.learning_rate * learner.final_learning_rate_ratio
    np.testing.assert_allclose(rates[-1], end, rtol=1e-5)
    assert np.all(np.diff(rates[: learner.warmup_updates]) > 0)
    assert np.all(np.diff(rates[learner.warmup_updates :]) <= 0)


def test_finish_is_a_target_of_complete_boards(mixed: Batch, references: References) -> None:
    finish = finish_action(7, 7)
    demonstrations = ~mixed.has_value
    says_finish = mixed.policy[:, finish] == 1
    length = np.asarray(references.length)
    assert np.any(says_finish & demonstrations)
    placed = mixed.states.board.placed[says_finish & demonstrations]
    assert set(placed) <= set(length)
