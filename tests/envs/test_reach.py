"""Reachable items: lanes by hand, a plain-Python oracle, and soundness against the verifier."""

from collections.abc import Sequence
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from example_states import (
    batch_of,
    can_be_placed,
    placements_on,
    random_states,
    state_of,
    unbatched,
)
from reach_oracle import LEFT, RIGHT, ReachOracle

from envs.generate import GeneratorSettings, generate
from envs.layout import EAST, NORTH, SOUTH, WEST
from envs.reach import reachable_items
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, Port, TaskSpec, layout_of
from envs.types import EnvShape
from envs.verifier import score_rate

SHAPE = EnvShape(height=8, width=8, item_slots=5, recipe_slots=4, max_ports=4)
PLATE, CABLE, CIRCUIT = "iron-plate", "copper-cable", "electronic-circuit"
batch_reach = jax.jit(jax.vmap(reachable_items))

TASKS = 60
MUTANTS_PER_TASK = 5


def belt(x: int, y: int, direction: int) -> Placement:
    return Placement(BELT, x, y, direction)


def arm(x: int, y: int, drop: int) -> Placement:
    return Placement(INSERTER, x, y, drop)


def source(x: int, y: int, direction: int, left: str | None, right: str | None) -> Port:
    return Port(x, y, direction, False, left, right)


def circuit_spec(*sources: Port, sink: Port | None = None) -> TaskSpec:
    sink = sink or Port(7, 7, EAST, True, CIRCUIT, CIRCUIT)
    rate = Fraction(1, 2)
    return TaskSpec(8, 8, (), (*sources, sink), (CIRCUIT,), CIRCUIT, rate, 40, "circuits")


def mixed(x: int, y: int, direction: int) -> TaskSpec:
    """A source with plates on its left lane and cables on its right lane."""
    return circuit_spec(source(x, y, direction, PLATE, CABLE))


def names(spec: TaskSpec, bits: int) -> set[str]:
    return {item for slot, item in enumerate(spec.items) if bits >> slot & 1}


def lanes_at(spec: TaskSpec, placements: Sequence[Placement], x: int, y: int) -> list[set[str]]:
    """The items that reach the left and the right lane of a cell."""
    states = batch_of([state_of(spec, SHAPE, placements)])
    return [names(spec, int(bits)) for bits in batch_reach(states)[0, y, x]]


def test_a_source_shows_what_it_feeds() -> None:
    assert lanes_at(mixed(1, 4, EAST), [], 1, 4) == [{PLATE}, {CABLE}]
    assert lanes_at(circuit_spec(source(1, 4, EAST, None, CABLE)), [], 1, 4) == [set(), {CABLE}]


def test_straight_belts_keep_the_lanes() -> None:
    belts = [belt(x, 4, EAST) for x in (2, 3, 4)]
    assert lanes_at(mixed(1, 4, EAST), belts, 4, 4) == [{PLATE}, {CABLE}]


@pytest.mark.parametrize("turn", [NORTH, SOUTH])
def test_turns_keep_the_lanes(turn: int) -> None:
    step = -1 if turn == NORTH else 1
    belts = [belt(2, 4, EAST), belt(3, 4, turn), belt(3, 4 + step, turn)]
    assert lanes_at(mixed(1, 4, EAST), belts, 3, 4) == [{PLATE}, {CABLE}]
    assert lanes_at(mixed(1, 4, EAST), belts, 3, 4 + step) == [{PLATE}, {CABLE}]


@pytest.mark.parametrize(("flow", "lane"), [(NORTH, LEFT), (SOUTH, RIGHT)])
def test_a_sideload_fills_the_lane_on_its_side(flow: int, lane: int) -> None:
    behind = 5 if flow == NORTH else 3
    belts = [belt(2, 4, EAST), belt(3, behind, flow), belt(3, 4, flow)]
    expected: list[set[str]] = [set(), set()]
    expected[lane] = {PLATE, CABLE}
    assert lanes_at(mixed(1, 4, EAST), belts, 3, 4) == expected


def test_two_side_feeds_onto_one_belt_use_one_lane_each() -> None:
    spec = circuit_spec(source(2, 4, EAST, PLATE, PLATE), source(4, 4, WEST, CABLE, CABLE))
    assert lanes_at(spec, [belt(3, 4, NORTH)], 3, 4) == [{PLATE}, {CABLE}]


@pytest.mark.parametrize(
    "last",
    [belt(3, 4, WEST), belt(3, 4, NORTH), arm(3, 4, EAST)],
    ids=["head-on", "crossing", "arm"],
)
def test_a_belt_ends_where_nothing_takes_its_items(last: Placement) -> None:
    placements = [belt(2, 4, EAST), last, belt(4, 4, EAST)]
    reached = lanes_at(mixed(1, 4, EAST), placements, 4, 4)
    assert reached == ([set(), {PLATE, CABLE}] if last.kind == INSERTER else [set(), set()])
    if last.rotation == WEST:
        assert lanes_at(mixed(1, 4, EAST), placements, 3, 4) == [set(), set()]


def test_a_belt_does_not_push_into_a_source_but_into_a_sink() -> None:
    spec = circuit_spec(
        source(1, 4, EAST, PLATE, None),
        source(3, 4, EAST, None, CABLE),
        sink=Port(5, 4, EAST, True, CIRCUIT, CIRCUIT),
    )
    belts = [belt(2, 4, EAST), belt(4, 4, EAST)]
    assert lanes_at(spec, belts, 3, 4) == [set(), {CABLE}]
    assert lanes_at(spec, belts, 5, 4) == [set(), {CABLE}]
    assert lanes_at(spec, belts[:1], 5, 4) == [set(), set()]


@pytest.mark.parametrize(("flow", "lane"), [(EAST, LEFT), (WEST, RIGHT)])
def test_an_arm_drops_on_the_lane_far_from_it(flow: int, lane: int) -> None:
    # The arm stands south of the belt and drops north: its far lane is the belt's north one.
    expected: list[set[str]] = [set(), set()]
    expected[lane] = {PLATE, CABLE}
    placements = [arm(3, 4, NORTH), belt(3, 3, flow)]
    assert lanes_at(mixed(3, 5, NORTH), placements, 3, 3) == expected


@pytest.mark.parametrize("flow", [NORTH, SOUTH])
def test_an_in_line_drop_goes_to_the_right_lane(flow: int) -> None:
    placements = [arm(3, 4, NORTH), belt(3, 3, flow)]
    assert lanes_at(mixed(3, 5, NORTH), placements, 3, 3) == [set(), {PLATE, CABLE}]


@pytest.mark.parametrize(
    ("feeder", "flow", "drop", "lane"),
    [
        (EAST, SOUTH, WEST, RIGHT),
        (EAST, SOUTH, SOUTH, RIGHT),
        (EAST, SOUTH, NORTH, LEFT),
        (EAST, NORTH, WEST, LEFT),
        (EAST, NORTH, NORTH, LEFT),
        (EAST, NORTH, SOUTH, RIGHT),
    ],
)
def test_a_drop_on_a_turn_goes_to_the_inner_or_outer_lane(
    feeder: int, flow: int, drop: int, lane: int
) -> None:
    dx, dy = {NORTH: (0, 1), SOUTH: (0, -1), WEST: (1, 0)}[drop]
    at_arm, behind_arm = (4 + dx, 4 + dy), (4 + 2 * dx, 4 + 2 * dy)
    spec = circuit_spec(source(*behind_arm, (drop + 2) % 4, PLATE, PLATE))
    placements = [belt(3, 4, feeder), belt(4, 4, flow), arm(*at_arm, drop)]
    expected: list[set[str]] = [set(), set()]
    expected[lane] = {PLATE}
    assert lanes_at(spec, placements, 4, 4) == expected


def test_a_machine_makes_its_product_only_with_every_ingredient() -> None:
    cables = source(4, 0, SOUTH, CABLE, CABLE)
    plates = source(1, 3, EAST, PLATE, PLATE)
    machine = Placement(MACHINE, 4, 3, 0)
    placements = [machine, arm(4, 1, SOUTH), arm(2, 3, EAST), arm(6, 3, EAST), belt(7, 3, SOUTH)]
    only_cables = circuit_spec(cables)
    assert lanes_at(only_cables, placements, 5, 4) == [{CABLE}] * 2
    assert lanes_at(only_cables, placements, 7, 3) == [set(), set()]
    both = circuit_spec(cables, plates)
    assert lanes_at(both, placements, 4, 3) == [{CABLE, PLATE, CIRCUIT}] * 2
    assert lanes_at(both, placements, 7, 3) == [{CIRCUIT}, set()]


def test_machines_take_no_items_that_they_do_not_use() -> None:
    spec = TaskSpec(
        8,
        8,
        (),
        (source(4, 0, SOUTH, PLATE, "copper-plate"), Port(7, 7, EAST, True, CABLE, CABLE)),
        (CIRCUIT, CABLE),
        CABLE,
        Fraction(1),
        40,
        "cables",
    )
    placements = [Placement(MACHINE, 4, 3, 1), arm(4, 1, SOUTH)]
    assert lanes_at(spec, placements, 4, 3) == [{"copper-plate", CABLE}] * 2


def mutants(rng: np.random.Generator, spec: TaskSpec, placements: list[Placement]):
    """Variants of a reference: pieces turned, taken away or added."""
    for _ in range(MUTANTS_PER_TASK):
        changed = list(placements)
        for _ in range(rng.integers(1, 4)):
            index, change = int(rng.integers(len(changed))), rng.integers(3)
            put = changed[index]
            if change == 0 and put.kind != MACHINE:
                changed[index] = Placement(put.kind, put.x, put.y, int(rng.integers(4)))
            elif change == 1 and len(changed) > 1:
                del changed[index]
            else:
                options = sorted(
                    can_be_placed(spec, changed, True),
                    key=lambda put: (put.kind, put.y, put.x, put.rotation),
                )
                if options:
                    changed.append(options[rng.integers(len(options))])
        yield changed


@pytest.fixture(scope="module")
def layouts() -> list[tuple[TaskSpec, list[Placement]]]:
    """References of generated tasks and random mutants of them."""
    rng = np.random.default_rng(12)
    families = ("gear", "cable", "circuit", "belt", "belt-own-gear-direct")
    settings = GeneratorSettings(8, 8, families, placement_limit=30, max_blocked=3)
    found = []
    for index in range(TASKS):
        solved = generate(settings, 77, index)
        reference = list(solved.placements)
        found += [(solved.spec, one) for one in (reference, *mutants(rng, solved.spec, reference))]
    return found


def reached_at_sink(layouts: Sequence[tuple[TaskSpec, list[Placement]]]) -> list[bool]:
    """Whether the target item reaches a lane of the sink, per layout."""
    states = batch_of([state_of(spec, SHAPE, placements) for spec, placements in layouts])
    lanes = np.asarray(batch_reach(states))
    found = []
    for index, (spec, _) in enumerate(layouts):
        at_sink = lanes[index, spec.sink.y, spec.sink.x]
        found.append(any(spec.target_item in names(spec, int(bits)) for bits in at_sink))
    return found


@pytest.mark.parametrize("kind", ["random walks", "mutated references"])
def test_every_lane_matches_the_oracle(
    kind: str, layouts: list[tuple[TaskSpec, list[Placement]]]
) -> None:
    if kind == "random walks":
        specs, states = random_states(11, 128, SHAPE, 22)
        boards = jax.device_get(states.board)
        layouts = [
            (spec, placements_on(unbatched(boards, index))) for index, spec in enumerate(specs)
        ]
    states = batch_of([state_of(spec, SHAPE, placements) for spec, placements in layouts])
    reached = np.asarray(batch_reach(states))
    made = 0
    for index, layout in enumerate(layouts):
        oracle = ReachOracle(*layout)
        for y, x, lane in np.ndindex(8, 8, 2):
            assert names(layout[0], int(reached[index, y, x, lane])) == oracle.shown(x, y, lane)
        made += any(oracle.recipe[cell] in items for cell, items in oracle.inside.items())
    assert (reached > 0).sum() > (400 if kind == "random walks" else 4000)
    assert kind == "random walks" or made > 150


def test_nothing_unreachable_is_ever_delivered(
    layouts: list[tuple[TaskSpec, list[Placement]]],
) -> None:
    rates = [score_rate(layout_of(*layout), tick_cap=100_000) for layout in layouts]
    reached = reached_at_sink(layouts)
    delivering = [index for index, rate in enumerate(rates) if rate]
    assert all(reached[index] for index in delivering)
    assert len(layouts) >= 300
    assert len(delivering) >= 120
    assert reached.count(False) >= 60


def test_a_cut_path_reaches_nothing(layouts: list[tuple[TaskSpec, list[Placement]]]) -> None:
    references = layouts[:: MUTANTS_PER_TASK + 1]
    assert all(reached_at_sink(references))
    cut = [
        (spec, [put for put in placements if put.kind != kind])
        for spec, placements in references
        for kind in (MACHINE, INSERTER)
    ]
    assert not any(reached_at_sink(cut))


def test_reach_is_the_same_in_a_batch_and_alone() -> None:
    _, states = random_states(13, 3, SHAPE, 15)
    together = batch_reach(states)
    assert together.dtype == jnp.uint8
    alone = jax.jit(reachable_items)
    for index in range(3):
        np.testing.assert_array_equal(together[index], alone(unbatched(states, index)))
