"""Bounds on what a grid has room for: no verified reference may exceed one of them."""

from collections import Counter
from fractions import Fraction

import pytest
from task_examples import SINK, source, spec

from envs.catalogue import ARMS
from envs.heldout import HELDOUT_SETS, load_heldout
from envs.task_room import (
    FASTEST_SWING_TICKS,
    demand_of,
    inlets,
    least_need,
    most_apart,
    outlets,
    room_of,
)
from envs.task_spec import MACHINE
from envs.verifier.targets import HALF, targets

WALL = [[5, y] for y in range(12)]


@pytest.mark.parametrize("name", sorted(HELDOUT_SETS))
def test_references_stay_within_every_bound(name: str) -> None:
    for solved in load_heldout(name).tasks:
        task, kinds = solved.spec, Counter(put.kind for put in solved.placements)
        room = room_of(task)
        need = least_need(task, demand_of(task), task.target_rate)
        assert need.machines <= kinds[MACHINE]
        assert need.placements <= len(solved.placements)
        cells = [cell for put in solved.placements for cell in put.cells()]
        assert need.cells <= len(cells)
        assert room.joined.issuperset(cells)
        centres = {(put.x, put.y) for put in solved.placements if put.kind == MACHINE}
        assert centres.issubset(room.sites)
        assert most_apart(room.sites, len(task.recipes)) == len(task.recipes)
        assert inlets(task, room)
        assert all(outlets(task, room, port) for port in task.ports if not port.is_sink)


def test_no_inserter_swings_faster_than_the_bound() -> None:
    """Twice the shortest way from a pick to the drop, less the two steps that may be one."""
    arm = targets()
    angle = arm.angle[0].astype(int)
    angle[angle > HALF] -= 2 * HALF
    widest = abs(angle[arm.length[0] > 0]).max()
    rotation_per_tick = ARMS["inserter"].rotation_per_tick
    assert 2 * ((HALF - widest) / rotation_per_tick - 1) >= FASTEST_SWING_TICKS


def test_items_are_counted_down_to_what_ports_give() -> None:
    ports = [source(left="iron-plate", right="copper-plate"), SINK]
    recipes = ["copper-cable", "electronic-circuit"]
    demand = demand_of(spec(ports=ports, recipes=recipes, target_item="electronic-circuit"))
    assert demand.crafts == {"electronic-circuit": 1, "copper-cable": Fraction(3, 2)}
    assert demand.supplied == {"iron-plate": 1, "copper-plate": Fraction(3, 2)}
    assert demand.swings == 1 + 3 + Fraction(3, 2) + 1


def test_a_given_item_needs_no_recipe() -> None:
    ports = [source(left="iron-plate", right="copper-cable"), SINK]
    recipes = ["copper-cable", "electronic-circuit"]
    demand = demand_of(spec(ports=ports, recipes=recipes, target_item="electronic-circuit"))
    assert set(demand.crafts) == {"electronic-circuit"}


def test_machines_and_inserters_grow_with_the_rate() -> None:
    task = spec()
    demand = demand_of(task)
    slow, fast = (least_need(task, demand, Fraction(rate)) for rate in (1, 5))
    # A gear takes a second; 2 plates in and 1 gear out are 3 swings, 60 / 56 a second each.
    assert (slow.machines, fast.machines) == (1, 5)
    assert fast.placements == 5 + 14
    assert fast.cells == 5 * 9 + 14


def test_a_long_way_takes_placements() -> None:
    task = spec()
    # 14 steps lie between the ports; a machine covers at most 5 of the 13 cells.
    assert least_need(task, demand_of(task), Fraction(0)).placements == 1 + 8


def test_cells_behind_a_wall_are_not_joined_to_the_sink() -> None:
    room = room_of(spec(blocked=WALL))
    assert {x for x, _ in room.joined} == set(range(6, 12))
    assert all(x >= 7 for x, _ in room.sites)
    assert (0, 0) in room.free


def test_places_for_machines_lie_apart() -> None:
    row = [(x, 1) for x in range(1, 8)]
    assert most_apart(row, 4) == 3
    assert most_apart(row, 2) == 2
    assert most_apart([], 1) == 0
    # Greedy from the left would take (2, 0) alone.
    assert most_apart([(2, 0), (0, 1), (4, 1)], 2) == 2


def test_a_machine_needs_two_inserters_beside_it() -> None:
    ring = [[x, y] for x in range(5) for y in range(5) if x in (0, 4) or y in (0, 4)]
    ports = [source("iron-plate", x=11, y=0, direction="W"), {**SINK, "x": 7, "y": 7}]
    closed = [cell for cell in ring if cell != [2, 4]]
    assert (2, 2) not in room_of(spec(blocked=closed, ports=ports)).sites
    opened = [cell for cell in ring if cell not in ([2, 4], [1, 4])]
    assert (2, 2) in room_of(spec(blocked=opened, ports=ports)).sites
