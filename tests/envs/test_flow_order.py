"""Feeders on layouts drawn by hand; flow orders that are random, complete and never too early."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from reference_checks import arm_ends, illegal_placements, unfed_placements

from envs.flow_order import NO_FEEDER, feeders, flow_order
from envs.heldout import load_heldout
from envs.layout import EAST, NORTH, SOUTH, WEST
from envs.solved import Solved
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, Port, TaskSpec

PLATE, GEAR, TRANSPORT_BELT = "iron-plate", "iron-gear-wheel", "transport-belt"
FROM_PORT = NO_FEEDER


def belt(x: int, y: int, direction: int) -> Placement:
    return Placement(BELT, x, y, direction)


def arm(x: int, y: int, drop: int) -> Placement:
    return Placement(INSERTER, x, y, drop)


def machine(x: int, y: int, slot: int = 0) -> Placement:
    return Placement(MACHINE, x, y, slot)


def spec_with(*ports: Port, recipes: tuple[str, ...] = (GEAR,)) -> TaskSpec:
    return TaskSpec(12, 7, (), ports, recipes, recipes[-1], Fraction(1), 40, "by hand")


def source(x: int, y: int, direction: int) -> Port:
    return Port(x, y, direction, False, PLATE, PLATE)


def sink(x: int, y: int, direction: int, item: str = GEAR) -> Port:
    return Port(x, y, direction, True, item, item)


GEAR_SPEC = spec_with(source(0, 1, EAST), sink(11, 1, EAST))
FIRST_BELT, LAST_BELT = belt(1, 1, EAST), belt(2, 1, EAST)
UPPER_ARM, LOWER_ARM = arm(2, 2, SOUTH), arm(1, 2, SOUTH)
GEAR_MACHINE = machine(2, 4)
OUTPUT, LAST_STEP = arm(4, 4, EAST), belt(5, 4, EAST)
GEAR_MODULE = [
    FIRST_BELT,
    LAST_BELT,
    UPPER_ARM,
    LOWER_ARM,
    GEAR_MACHINE,
    OUTPUT,
    LAST_STEP,
]
"""A belt of two cells, an arm from each into a machine, an arm onto a belt."""


def test_feeders_of_a_module_go_back_to_the_port() -> None:
    assert feeders(GEAR_SPEC, GEAR_MODULE) == (FROM_PORT, 0, 1, 0, 2, 4, 5)


def test_the_feeder_of_a_machine_is_the_arm_that_comes_first() -> None:
    swapped = [FIRST_BELT, LAST_BELT, LOWER_ARM, UPPER_ARM, GEAR_MACHINE]
    assert feeders(GEAR_SPEC, swapped) == (FROM_PORT, 0, 0, 1, 2)
    # A machine before the last of its arms has only the ones before it.
    early = [FIRST_BELT, LOWER_ARM, GEAR_MACHINE, LAST_BELT, UPPER_ARM]
    assert feeders(GEAR_SPEC, early) == (FROM_PORT, 0, 1, 0, 3)


def test_what_comes_before_all_that_feeds_it_has_no_feeder() -> None:
    assert feeders(GEAR_SPEC, [LAST_BELT, FIRST_BELT, OUTPUT]) == (NO_FEEDER, NO_FEEDER, NO_FEEDER)


def test_a_side_loading_belt_feeds_and_a_head_on_one_does_not() -> None:
    spec = spec_with(source(0, 1, EAST), source(2, 0, SOUTH), sink(11, 1, EAST))
    placements = [
        belt(1, 1, EAST),
        belt(2, 1, SOUTH),  # from the port behind; the belt beside it loads onto its side
        belt(2, 2, SOUTH),
        belt(1, 2, EAST),  # loads onto the side of the one before
        belt(2, 3, EAST),
        belt(3, 3, WEST),  # stands head-on to the one before
        belt(4, 3, WEST),  # would feed the one before, but comes after it
        belt(3, 4, NORTH),  # loads onto the side of the head-on belt, but comes after it
    ]
    assert feeders(spec, placements) == (FROM_PORT, FROM_PORT, 1, NO_FEEDER, 2, *[NO_FEEDER] * 3)
    late = [*placements[3:], *placements[:3]]
    # (2, 2) is now fed by the side-loading belt, which stands first.
    assert feeders(spec, late)[-1] == 0
    assert feeders(spec, late)[2] == NO_FEEDER
    backward = [placements[6], placements[5], placements[4]]
    assert feeders(spec, backward) == (NO_FEEDER, 0, NO_FEEDER)


def test_a_belt_that_faces_a_source_is_not_fed_by_it() -> None:
    placements = [belt(1, 1, WEST), arm(0, 2, SOUTH), belt(0, 3, SOUTH)]
    assert feeders(GEAR_SPEC, placements) == (NO_FEEDER, FROM_PORT, 1)


def test_arms_hand_to_belts_and_machines_but_not_to_arms() -> None:
    placements = [arm(0, 2, SOUTH), arm(0, 3, EAST), belt(0, 4, EAST)]
    assert feeders(GEAR_SPEC, placements) == (FROM_PORT, NO_FEEDER, NO_FEEDER)


def orders_of(spec: TaskSpec, placements: Sequence[Placement], amount: int = 40) -> set:
    found = [flow_order(np.random.default_rng(n), spec, placements) for n in range(amount)]
    assert None not in found
    return {tuple(order) for order in found if order is not None}


@pytest.mark.parametrize("given", [GEAR_MODULE, GEAR_MODULE[::-1]])
def test_orders_of_a_module_by_hand(given: list[Placement]) -> None:
    start, end = (FIRST_BELT, LAST_BELT), (OUTPUT, LAST_STEP)
    orders = orders_of(GEAR_SPEC, given)
    assert orders
    assert orders <= {
        (*start, UPPER_ARM, GEAR_MACHINE, LOWER_ARM, *end),
        (*start, LOWER_ARM, GEAR_MACHINE, UPPER_ARM, *end),
    }


TWO_STAGES = [
    belt(1, 1, EAST),
    arm(2, 1, EAST),
    machine(4, 1),
    arm(6, 1, EAST),
    machine(8, 1, 1),
    arm(8, 3, NORTH),
    arm(10, 1, EAST),
]
"""Gears made from plates of the source (0, 1), belts from them and plates of the source (8, 4)."""
TWO_STAGE_SPEC = spec_with(
    source(0, 1, EAST),
    source(8, 4, EAST),
    sink(11, 1, EAST, TRANSPORT_BELT),
    recipes=(GEAR, TRANSPORT_BELT),
)


def test_orders_start_at_either_source_and_end_with_what_needs_both() -> None:
    first, second, last = TWO_STAGES[:4], TWO_STAGES[5], TWO_STAGES[6]
    taker = TWO_STAGES[4]
    assert orders_of(TWO_STAGE_SPEC, TWO_STAGES) == {
        (*first, taker, second, last),
        (second, taker, *first, last),
    }


@pytest.fixture(scope="module")
def modules() -> list[Solved]:
    """One committed task of every family."""
    tasks = load_heldout("heldout-v1").tasks
    return [tasks[number] for number in range(len({solved.spec.family for solved in tasks}))]


def test_every_order_is_complete_legal_and_feeds_before_it_takes(modules: list[Solved]) -> None:
    for solved in modules:
        for order in orders_of(solved.spec, solved.placements, 6):
            assert sorted(order, key=repr) == sorted(solved.placements, key=repr)
            assert illegal_placements(solved.spec, order) == []
            assert unfed_placements(solved.spec, order) == []


def test_a_machine_follows_its_first_arm_at_once(modules: list[Solved]) -> None:
    for solved in modules:
        for order in orders_of(solved.spec, solved.placements, 3):
            for number, put in enumerate(order):
                if put.kind == MACHINE:
                    assert order[number - 1].kind == INSERTER
                    assert arm_ends(order[number - 1])[1] in put.cells()


def test_a_fixed_layout_has_several_orders(modules: list[Solved]) -> None:
    chains = [solved for solved in modules if len(solved.spec.recipes) > 1]
    several = [len(orders_of(solved.spec, solved.placements, 12)) > 1 for solved in chains]
    assert sum(several) > len(several) / 2


def test_the_order_depends_on_the_random_numbers_alone(modules: list[Solved]) -> None:
    for solved in modules:
        orders = [
            flow_order(np.random.default_rng(5), solved.spec, solved.placements) for _ in range(2)
        ]
        assert orders[0] == orders[1]


@pytest.mark.parametrize(
    "stray",
    [
        belt(7, 6, EAST),
        belt(3, 1, WEST),
        arm(7, 4, EAST),
        arm(6, 5, NORTH),
        machine(8, 4),
    ],
    ids=["belt alone", "belt head-on", "arm of nothing", "arm from nothing", "machine"],
)
def test_there_is_no_order_where_something_is_not_fed(stray: Placement) -> None:
    assert flow_order(np.random.default_rng(0), GEAR_SPEC, [*GEAR_MODULE, stray]) is None


def test_there_is_no_order_where_a_machine_lacks_its_arms_or_waits_for_itself() -> None:
    rng = np.random.default_rng(0)
    unfed = [put for put in GEAR_MODULE if put not in (UPPER_ARM, LOWER_ARM)]
    assert flow_order(rng, GEAR_SPEC, unfed) is None
    returning = [
        *GEAR_MODULE,
        belt(6, 4, SOUTH),
        belt(6, 5, WEST),
        belt(5, 5, WEST),
        arm(4, 5, WEST),
    ]
    assert flow_order(rng, GEAR_SPEC, returning) is None
