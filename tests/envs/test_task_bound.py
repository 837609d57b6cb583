"""Bounds on rates and on what a rate takes: no verified layout may exceed one of them."""

from collections import Counter
from fractions import Fraction
from statistics import median

import pytest
from task_examples import SINK, source, spec

from envs.catalogue import ARMS
from envs.heldout import HELDOUT_SETS, load_heldout
from envs.layout import DIRECTION_VECTORS
from envs.task_bound import (
    BELT_SWING_TICKS,
    MACHINE_SWING_TICKS,
    Need,
    demand_of,
    fits,
    highest_rate,
    least_need,
)
from envs.task_problems import bound_of, errors_of, problems
from envs.task_room import room_of
from envs.task_spec import BELT, INSERTER, MACHINE, TaskSpec
from envs.verifier.targets import HALF, targets

CIRCUIT = {"recipes": ["copper-cable", "electronic-circuit"], "target_item": "electronic-circuit"}
PLATES = source(left="iron-plate", right="copper-plate")


def need_of(task: TaskSpec, rate: Fraction | int) -> Need:
    return least_need(task, room_of(task), demand_of(task), Fraction(rate))


@pytest.mark.parametrize("name", sorted(HELDOUT_SETS))
def test_references_stay_within_every_bound(name: str) -> None:
    for solved in load_heldout(name).tasks:
        task, kinds = solved.spec, Counter(put.kind for put in solved.placements)
        need = need_of(task, task.target_rate)
        assert need.machines <= kinds[MACHINE]
        assert need.placements <= len(solved.placements)
        assert need.cells <= sum(len(put.cells()) for put in solved.placements)
        bound = bound_of(task)
        assert bound is not None
        assert task.target_rate <= bound


def test_references_are_as_far_below_the_bound_as_documented() -> None:
    """docs/tasks.md; so that the bound cannot become meaningless without a word."""
    specs = [solved.spec for solved in load_heldout("heldout-v1").tasks]
    ratios = [(bound_of(spec) or 0) / spec.target_rate for spec in specs]
    assert len(ratios) == 540
    assert (median(ratios), max(ratios)) == (Fraction(15, 2), Fraction(35, 2))


def test_no_inserter_swings_faster_than_the_bound() -> None:
    """Twice the shortest way from a pick to the drop, less the two steps that may be one."""
    arm = targets()
    angle = arm.angle[0].astype(int)
    angle[angle > HALF] -= 2 * HALF
    widest = abs(angle[arm.length[0] > 0]).max()
    rotation_per_tick = ARMS["inserter"].rotation_per_tick
    assert 2 * ((HALF - widest) / rotation_per_tick - 1) >= BELT_SWING_TICKS


def test_items_are_counted_down_to_what_ports_give() -> None:
    demand = demand_of(spec(ports=[PLATES, SINK], **CIRCUIT))
    assert demand.crafts == {"electronic-circuit": 1, "copper-cable": Fraction(3, 2)}
    assert demand.supplied == {"iron-plate": 1, "copper-plate": Fraction(3, 2)}


def test_a_given_item_needs_no_recipe() -> None:
    ports = [source(left="iron-plate", right="copper-cable"), SINK]
    demand = demand_of(spec(ports=ports, **CIRCUIT))
    assert set(demand.crafts) == {"electronic-circuit"}


def test_no_inserter_takes_from_a_machine_faster_than_the_bound() -> None:
    """Two half turns, the last two steps of each in one tick at best (R23)."""
    steps = -(-HALF // ARMS["inserter"].rotation_per_tick) - 1
    assert 2 * steps >= MACHINE_SWING_TICKS


def test_machines_inserters_and_belts_grow_with_the_rate() -> None:
    slow, fast = need_of(spec(), 1), need_of(spec(), 5)
    # A gear takes a second, 2 swings of 56 ticks and one of 70: 10 and 6 inserters for 5 a second.
    # Six of their 16 ends have room at the ports, two at each belt.
    assert (slow.machines, fast.machines) == (1, 5)
    assert fast == Need(5, 5 + 16 + 5, 5 * 9 + 16 + 5)


def test_inserters_between_machines_need_no_belt() -> None:
    ports = [PLATES, SINK]
    need = need_of(spec(ports=ports, **CIRCUIT), 1)
    # 1.5 cable machines and a circuit machine; 2 + 1 inserters take plates, 4 give 3 cables, 2
    # give circuits. Five ends are on belts, six have room at the ports.
    assert need == Need(3, 3 + 9, 3 * 9 + 9)


def test_every_machine_has_inserters_of_its_own() -> None:
    """A science pack takes ten seconds, so that every inserter of its machines mostly waits."""
    ports = [source(left="copper-plate", right="iron-gear-wheel"), SINK]
    pack = "automation-science-pack"
    need = need_of(spec(ports=ports, recipes=[pack], target_item=pack), 1)
    assert need.machines == 10
    assert need.placements == 10 + 20 + 7


def test_a_long_way_takes_placements() -> None:
    # 14 steps lie between the ports; a machine covers at most 5 of the 13 cells.
    assert need_of(spec(), 0).placements == 1 + 8


@pytest.mark.parametrize(
    ("changes", "rate"),
    [
        ({}, Fraction(15, 2)),  # two plates a gear, fifteen on both lanes
        ({"ports": [source(left="iron-plate"), SINK]}, Fraction(15, 4)),
        # Two machines with 4 + 3 inserters; one more of anything is too much.
        ({"placement_limit": 10}, Fraction(2)),
        (
            {"width": 5, "height": 6, "ports": [source("iron-plate"), {**SINK, "x": 4, "y": 0}]},
            Fraction(2),  # 18 + 7 + 2 of 28 cells; a third machine does not fit
        ),
        ({"ports": [PLATES, SINK], **CIRCUIT}, Fraction(4)),
        ({"placement_limit": 6}, Fraction(0)),
    ],
)
def test_the_highest_rate_is_exact(changes: dict, rate: Fraction) -> None:
    task = spec(**changes)
    found = highest_rate(task, room_of(task), demand_of(task))
    assert found == rate
    room = room_of(task)
    assert not found or fits(task, room, need_of(task, found))
    # Just above it, something does not fit, or lanes are full.
    above = found + Fraction(1, 10**6)
    full = any(found * amount >= 7.5 for amount in demand_of(task).supplied.values())
    assert full or not fits(task, room, need_of(task, above))


def test_what_is_given_and_made_is_not_bounded_by_its_lanes() -> None:
    """The recipe can make more of it than the lane gives."""
    ports = [PLATES, source(left="copper-cable", y=2), SINK]
    task = spec(ports=ports, **CIRCUIT)
    assert highest_rate(task, room_of(task), demand_of(task)) > Fraction(15, 2) / 3
    assert errors_of(problems(spec(ports=ports, **CIRCUIT, target_rate=3))) == []


def test_no_bound_is_given_for_a_task_without_sense() -> None:
    assert bound_of(spec(recipes=["pipe"])) is None
    assert bound_of(spec(placement_limit=5)) is None
    assert bound_of(spec(ports=[SINK])) is None


@pytest.mark.parametrize("name", ["heldout-v1", "heldout-hard-v1"])
def test_belts_have_room_for_two_inserters_each_beside_those_at_the_ports(name: str) -> None:
    for solved in load_heldout(name).tasks:
        machines, belts = set(), {(port.x, port.y) for port in solved.spec.ports}
        for put in solved.placements:
            if put.kind == MACHINE:
                machines.update(put.cells())
            elif put.kind == BELT:
                belts.add((put.x, put.y))
        ends = 0
        for put in solved.placements:
            dx, dy = DIRECTION_VECTORS[put.rotation]
            both = {(put.x + dx, put.y + dy), (put.x - dx, put.y - dy)}
            ends += put.kind == INSERTER and bool(both & belts) and bool(both & machines)
        free = room_of(solved.spec).free
        beside = sum(
            (port.x + dx, port.y + dy) in free
            for port in solved.spec.ports
            for dx, dy in DIRECTION_VECTORS
        )
        assert ends <= 2 * (len(belts) - len(solved.spec.ports)) + beside
