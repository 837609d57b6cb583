"""What the network sees: the docstring's table recomputed in plain Python."""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from example_states import (
    batch_legal,
    batch_step,
    placements_on,
    random_action,
    random_states,
    state_of,
    unbatched,
)
from reach_oracle import ReachOracle

from envs.catalogue import RECIPES
from envs.observation import num_context, num_planes, observe
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, Port, TaskSpec
from envs.types import EnvShape

SHAPE = EnvShape(height=6, width=7, item_slots=5, recipe_slots=3, max_ports=4)
BATCH = 32
batch_observe = jax.jit(jax.vmap(observe))
observe_one = jax.jit(observe)


def expected_planes(spec: TaskSpec, shape: EnvShape, placements: Sequence[Placement]) -> np.ndarray:
    """The table of the module, group after group."""
    slots, items = shape.recipe_slots, shape.item_slots
    sizes = {
        "belt": 4,
        "inserter": 4,
        "footprint": slots,
        "centre": slots,
        "source": 4,
        "sink": 4,
        "port item": 2 * items,
        "blocked": 1,
        "inside": 1,
        "reach": 2 * items,
    }
    group = {name: np.zeros((shape.height, shape.width, size)) for name, size in sizes.items()}
    group["inside"][:] = 1
    for put in placements:
        if put.kind == BELT:
            group["belt"][put.y, put.x, put.rotation] = 1
        elif put.kind == INSERTER:
            group["inserter"][put.y, put.x, put.rotation] = 1
        else:
            group["centre"][put.y, put.x, put.rotation] = 1
            for x, y in put.cells():
                group["footprint"][y, x, put.rotation] = 1
    for port in spec.ports:
        group["sink" if port.is_sink else "source"][port.y, port.x, port.direction] = 1
        for lane, item in enumerate((port.left, port.right)):
            if item is not None:
                group["port item"][port.y, port.x, lane * items + spec.items.index(item)] = 1
    for x, y in spec.blocked:
        group["blocked"][y, x] = 1
    oracle = ReachOracle(spec, placements)
    for y, x, lane in np.ndindex(shape.height, shape.width, 2):
        for item in oracle.shown(x, y, lane):
            group["reach"][y, x, lane * items + spec.items.index(item)] = 1
    return np.concatenate(list(group.values()), axis=-1)


def expected_context(spec: TaskSpec, shape: EnvShape, placed: int, finished: bool) -> list[float]:
    """Recipe tables, target, rates, share left, finished."""
    slots, items = shape.recipe_slots, shape.item_slots
    ingredients, products = np.zeros((slots, items)), np.zeros((slots, items))
    seconds, exists, target = np.zeros(slots), np.zeros(slots), np.zeros(items)
    for slot, name in enumerate(spec.recipes):
        for item, amount in RECIPES[name].ingredients:
            ingredients[slot, spec.items.index(item)] = amount / 4
        products[slot, spec.items.index(name)] = RECIPES[name].products_per_craft / 4
        seconds[slot] = RECIPES[name].time_tenths_s / 10 * 2 / 4  # at crafting speed 1/2
        exists[slot] = 1
    target[spec.items.index(spec.target_item)] = 1
    crafts = crafts_per_s(spec, spec.target_item, spec.target_rate)
    machines, arms_in, arms_out = np.zeros(slots), np.zeros(slots), np.zeros(slots)
    for slot, name in enumerate(spec.recipes):
        rate, recipe = float(crafts.get(name, 0)), RECIPES[name]
        machines[slot] = rate * seconds[slot] * 4
        arms_in[slot] = rate * sum(amount for _, amount in recipe.ingredients) * 70 / 60
        arms_out[slot] = rate * recipe.products_per_craft * 70 / 60
    left = 1 - placed / spec.placement_limit
    tables = [ingredients.ravel(), products.ravel(), seconds, exists, machines, arms_in, arms_out]
    return [*np.concatenate(tables), *target, float(spec.target_rate), left, float(finished)]


def crafts_per_s(spec: TaskSpec, item: str, items_per_s: Fraction) -> dict[str, Fraction]:
    """Crafts of each recipe of a task that `items_per_s` of an item need."""
    total: dict[str, Fraction] = defaultdict(Fraction)
    if item in spec.recipes:
        total[item] = items_per_s / RECIPES[item].products_per_craft
        for ingredient, amount in RECIPES[item].ingredients:
            for name, crafts in crafts_per_s(spec, ingredient, total[item] * amount).items():
                total[name] += crafts
    return total


@pytest.fixture
def spec() -> TaskSpec:
    ports = (
        Port(0, 2, 1, False, "copper-cable", "iron-plate"),
        Port(6, 4, 1, True, "electronic-circuit", "electronic-circuit"),
    )
    recipes = ("electronic-circuit", "copper-cable")
    return TaskSpec(
        7, 6, ((5, 0),), ports, recipes, "electronic-circuit", Fraction(3, 7), 10, "circuits"
    )


@pytest.mark.parametrize("shape", [SHAPE, EnvShape(8, 8, 8, 4, 5)], ids=str)
def test_planes_and_context_match_the_table(shape: EnvShape) -> None:
    specs, states = random_states(21, BATCH, shape, 14)
    observed = jax.device_get(batch_observe(states))
    assert observed.planes.shape == (BATCH, shape.height, shape.width, num_planes(shape))
    assert observed.context.shape == (BATCH, num_context(shape))
    assert observed.planes.dtype == jnp.uint8
    assert observed.context.dtype == jnp.float32
    boards = jax.device_get(states.board)
    for index, spec in enumerate(specs):
        board = unbatched(boards, index)
        placements = placements_on(board)
        planes = expected_planes(spec, shape, placements)
        np.testing.assert_array_equal(observed.planes[index], planes)
        context = expected_context(spec, shape, len(placements), bool(board.finished))
        np.testing.assert_allclose(observed.context[index], context, rtol=1e-5)


def test_every_group_of_planes_is_used_by_random_states() -> None:
    _, states = random_states(22, BATCH, SHAPE, 16)
    seen = np.asarray(batch_observe(states).planes).any(axis=(0, 1, 2))
    assert seen.mean() > 0.9


def test_every_step_changes_the_planes_and_the_share_left() -> None:
    _, states = random_states(23, BATCH, SHAPE, 4)
    before = jax.device_get(batch_observe(states))
    rng = np.random.default_rng(24)
    finish = jnp.full(BATCH, SHAPE.height * SHAPE.width * 12, jnp.int32)
    legal = np.asarray(batch_legal(states))
    actions = [random_action(rng, mask) for mask in legal]
    placed = batch_step(states, jnp.asarray(actions, jnp.int32))
    after = jax.device_get(batch_observe(placed))
    for index, action in enumerate(actions):
        assert action == len(legal[0]) - 1 or (before.planes[index] != after.planes[index]).any()
        assert after.context[index, -2] <= before.context[index, -2]
    finished = jax.device_get(batch_observe(batch_step(states, finish)))
    np.testing.assert_array_equal(finished.planes, before.planes)
    np.testing.assert_array_equal(finished.context[:, -1], 1)
    np.testing.assert_array_equal(finished.context[:, :-1], before.context[:, :-1])


def test_share_of_placements_left_falls_to_zero_at_the_limit(spec: TaskSpec) -> None:
    belts = [Placement(BELT, x, 5, 1) for x in range(5)] + [
        Placement(BELT, x, 3, 1) for x in range(5)
    ]
    counts = (0, 1, 5, 10)
    left = [observe_one(state_of(spec, SHAPE, belts[:count])).context[-2] for count in counts]
    np.testing.assert_allclose(left, [1 - count / 10 for count in counts], rtol=1e-6)


def test_target_and_recipe_figures_have_their_units(spec: TaskSpec) -> None:
    context = np.asarray(observe_one(state_of(spec, SHAPE, [])).context)
    slots, items = SHAPE.recipe_slots, SHAPE.item_slots
    assert context[-3:] == pytest.approx([3 / 7, 1, 0])
    asked = context[slots * (2 * items + 2) :][: 3 * slots].reshape(3, slots)
    # 3/7 circuits take one second each; their 9/7 cables are made two at a time in one second.
    assert asked[0, :2] == pytest.approx([3 / 7, 9 / 14])
    assert asked[1, :2] == pytest.approx([4 * 3 / 7 * 70 / 60, 9 / 14 * 70 / 60])
    assert asked[2, :2] == pytest.approx([3 / 7 * 70 / 60, 9 / 7 * 70 / 60])


def test_a_finished_board_differs_only_in_the_flag(spec: TaskSpec) -> None:
    machine = [Placement(MACHINE, 2, 3, 1)]
    building, done = (
        jax.device_get(observe_one(state_of(spec, SHAPE, machine, finished)))
        for finished in (False, True)
    )
    np.testing.assert_array_equal(building.planes, done.planes)
    assert np.nonzero(building.context != done.context)[0].tolist() == [num_context(SHAPE) - 1]


def test_slots_beyond_the_task_stay_empty(spec: TaskSpec) -> None:
    wide = EnvShape(6, 7, 8, 4, 8)
    placements = [Placement(MACHINE, 2, 4, 0), Placement(BELT, 1, 2, 1)]
    narrow_view, wide_view = (
        jax.device_get(observe_one(state_of(spec, shape, placements))) for shape in (SHAPE, wide)
    )
    assert int(wide_view.planes.sum()) == int(narrow_view.planes.sum())
    np.testing.assert_allclose(
        np.sort(wide_view.context[wide_view.context != 0]),
        np.sort(narrow_view.context[narrow_view.context != 0]),
    )
