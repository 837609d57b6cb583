"""Building rules: legal actions against a plain-Python oracle, steps, ends, compilation."""

from dataclasses import replace
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from example_states import (
    batch_legal,
    batch_legal_anywhere,
    batch_of,
    batch_step,
    legal_mask,
    placements_on,
    random_action,
    random_spec,
    random_states,
    random_walk,
    state_of,
    unbatched,
)

from envs.actions import decode, encode, finish_action, num_actions
from envs.dynamics import legal_actions, occupied_cells, port_cells, reset, step
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, TaskSpec
from envs.types import Board, EnvShape, State, task_arrays

SHAPE = EnvShape(height=6, width=7, item_slots=5, recipe_slots=4, max_ports=4)
FINISH = finish_action(SHAPE.height, SHAPE.width)
jitted_step = jax.jit(step)
jitted_legal = jax.jit(legal_actions, static_argnames="growth_rule")


def number(action: int) -> jax.Array:
    return jnp.asarray(action, jnp.int32)


def make_action(kind: int, x: int, y: int, rotation: int) -> int:
    return encode(Placement(kind, x, y, rotation), SHAPE.height, SHAPE.width)


@pytest.fixture
def spec() -> TaskSpec:
    return random_spec(np.random.default_rng(0), SHAPE.height, SHAPE.width)


@pytest.fixture
def state(spec: TaskSpec) -> State:
    return jax.tree.map(jnp.asarray, state_of(spec, SHAPE, []))


def assert_same(left: State, right: State) -> None:
    assert jax.tree.structure(left) == jax.tree.structure(right)
    for one, other in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("growth_rule", [True, False])
def test_legal_actions_equal_the_oracle_on_random_walks(growth_rule: bool) -> None:
    rng = np.random.default_rng(1)
    specs = [random_spec(rng, SHAPE.height, SHAPE.width, limit=14) for _ in range(48)]
    seen: dict[str, int] = {"machine": 0, "states": 0, "blocked": 0, "finished": 0}

    def compare(states: State, legal: np.ndarray) -> None:
        boards = jax.device_get(states.board)
        for index, spec in enumerate(specs):
            board = unbatched(boards, index)
            np.testing.assert_array_equal(legal[index], legal_mask(spec, board, growth_rule))
            seen["states"] += 1
            seen["blocked"] += bool(spec.blocked)
            seen["finished"] += bool(board.finished)
            seen["machine"] += any(put.kind == MACHINE for put in placements_on(board))

    random_walk(rng, specs, SHAPE, 15, compare, growth_rule, finish_chance=0.02)
    assert seen["states"] == 48 * 16
    assert min(seen.values()) > 40


def test_every_recipe_slot_has_its_machine_action() -> None:
    specs, states = random_states(9, 24, SHAPE, 0)
    legal = batch_legal_anywhere(states)
    machines = np.asarray(legal[:, :-1]).reshape(24, 3, -1, 4)[:, MACHINE].any(axis=1)
    assert machines.any(axis=1).sum() > 12
    for spec, slots in zip(specs, machines, strict=True):
        assert not slots.any() or slots.tolist() == [slot < len(spec.recipes) for slot in range(4)]


def test_reset_gives_an_empty_unfinished_board(spec: TaskSpec) -> None:
    state = reset(task_arrays(spec, SHAPE))
    assert not state.board.entity.any()
    assert not state.board.rotation.any()
    assert int(state.board.placed) == 0
    assert not state.board.finished


def test_a_step_writes_exactly_one_cell() -> None:
    rng = np.random.default_rng(2)
    specs = [random_spec(rng, SHAPE.height, SHAPE.width, limit=99) for _ in range(16)]
    history: list[Board] = []
    random_walk(
        rng, specs, SHAPE, 8, lambda states, _: history.append(jax.device_get(states.board))
    )
    for before, after in pairwise(history):
        for index in np.nonzero(~after.finished)[0]:
            old, new = unbatched(before, index), unbatched(after, index)
            written = np.argwhere(old.entity != new.entity)
            assert len(written) == 1
            here = tuple(written[0])
            assert old.entity[here] == 0
            assert set(map(tuple, np.argwhere(old.rotation != new.rotation))) <= {here}
            assert new.placed == old.placed + 1


def test_steps_of_placements_reach_the_state_of_the_same_placements() -> None:
    rng = np.random.default_rng(3)
    for _ in range(4):
        spec = random_spec(rng, SHAPE.height, SHAPE.width, limit=99)
        state, placements = state_of(spec, SHAPE, []), []
        for _ in range(6):
            action = random_action(rng, legal_mask(spec, state.board, True))
            placements.append(decode(action, SHAPE.height, SHAPE.width))
            state = jitted_step(state, number(action))
        assert_same(state, state_of(spec, SHAPE, placements))


def test_finish_ends_the_episode_and_builds_nothing(state: State) -> None:
    after = step(state, number(FINISH))
    assert after.board.finished
    np.testing.assert_array_equal(after.board.entity, state.board.entity)
    assert int(after.board.placed) == 0


def test_a_finished_state_is_frozen_and_only_finish_is_legal(spec: TaskSpec) -> None:
    finished = state_of(spec, SHAPE, [Placement(BELT, 0, 0, 1)], finished=True)
    actions = jnp.arange(num_actions(SHAPE.height, SHAPE.width), dtype=jnp.int32)
    afters = jax.vmap(step, in_axes=(None, 0))(finished, actions)
    same = jax.tree.map(lambda new, old: bool((new == old).all()), afters, finished)
    assert all(jax.tree.leaves(same))
    for growth_rule in (True, False):
        legal = jitted_legal(finished, growth_rule=growth_rule)
        assert np.nonzero(legal)[0].tolist() == [FINISH]


def test_the_placement_limit_ends_the_episode() -> None:
    rng = np.random.default_rng(4)
    spec = random_spec(rng, SHAPE.height, SHAPE.width, limit=3)
    state = state_of(spec, SHAPE, [])
    for placed in range(1, 4):
        state = jitted_step(state, number(random_action(rng, legal_mask(spec, state.board, True))))
        assert int(state.board.placed) == placed
        assert bool(state.board.finished) == (placed == 3)


def test_a_machine_occupies_nine_cells_and_a_port_its_own(spec: TaskSpec) -> None:
    empty = reset(task_arrays(replace(spec, blocked=()), SHAPE))
    cells = {(int(x), int(y)) for y, x in np.argwhere(port_cells(empty.task))}
    assert cells == {(port.x, port.y) for port in spec.ports}
    legal = np.asarray(jitted_legal(empty, growth_rule=False))
    action = int(np.nonzero(legal[: FINISH // 3])[0][0])
    body = set(decode(action, SHAPE.height, SHAPE.width).cells())
    taken = occupied_cells(step(empty, number(action)))
    assert {(int(x), int(y)) for y, x in np.argwhere(taken)} == cells | body


def test_growth_rule_only_removes_actions() -> None:
    specs, states = random_states(5, 16, SHAPE, 5)
    free, grown = np.asarray(batch_legal_anywhere(states)), np.asarray(batch_legal(states))
    assert not (grown & ~free).any()
    assert int(grown.sum()) < int(free.sum())
    assert len(specs) == 16


def test_an_inserter_needs_both_its_end_cells_inside(state: State) -> None:
    legal = np.asarray(legal_actions(state, growth_rule=False))
    occupied = np.asarray(occupied_cells(state))
    for x in range(SHAPE.width):
        if not occupied[0, x]:
            assert not legal[make_action(INSERTER, x, 0, 0)]
            assert not legal[make_action(INSERTER, x, 0, 2)]
            assert legal[make_action(INSERTER, x, 0, 1)] == (0 < x < SHAPE.width - 1)


def test_one_compilation_serves_all_actions_and_states(state: State) -> None:
    traces = []

    @jax.jit
    def counted(state: State, action: jax.Array) -> tuple[State, jax.Array]:
        traces.append(action)
        return step(state, action), legal_actions(state)

    rng = np.random.default_rng(6)
    for _ in range(12):
        state, legal = counted(state, number(int(rng.integers(FINISH + 1))))
    assert len(traces) == 1
    assert legal.shape == (FINISH + 1,)


def test_jitted_batches_equal_single_states() -> None:
    _, states = random_states(7, 6, SHAPE, 6)
    rng = np.random.default_rng(8)
    legal = batch_legal(states)
    actions = jnp.asarray([random_action(rng, mask) for mask in np.asarray(legal)], jnp.int32)
    afters = batch_step(states, actions)
    single = [unbatched(states, index) for index in range(6)]
    alone = [jitted_step(*pair) for pair in zip(single, actions, strict=True)]
    assert_same(afters, batch_of(alone))
    np.testing.assert_array_equal(legal, [jitted_legal(state) for state in single])


@pytest.mark.parametrize("transform", [lambda function: function, jax.jit])
def test_step_keeps_every_shape_and_strong_dtype(state: State, transform) -> None:
    after = transform(step)(state, number(5))
    assert jax.tree.map(jax.typeof, after) == jax.tree.map(jax.typeof, state)
    for leaf in jax.tree.leaves(after):
        assert not leaf.weak_type
        assert leaf.dtype in (jnp.int32, jnp.uint8, jnp.bool_)


def test_reset_inside_a_compiled_program_has_the_types_of_a_step(spec: TaskSpec) -> None:
    fresh = jax.jit(reset)(task_arrays(spec, SHAPE))
    after = jax.jit(step)(fresh, number(FINISH))
    assert jax.tree.map(jax.typeof, fresh) == jax.tree.map(jax.typeof, after)
