"""Bounds on what a grid has room for: no verified reference may exceed one of them."""

import pytest
from task_examples import SINK, source, spec

from envs.heldout import HELDOUT_SETS, load_heldout
from envs.task_room import inlets, most_apart, outlets, room_of
from envs.task_spec import MACHINE

WALL = [[5, y] for y in range(12)]


@pytest.mark.parametrize("name", sorted(HELDOUT_SETS))
def test_references_stay_within_every_bound(name: str) -> None:
    for solved in load_heldout(name).tasks:
        task, room = solved.spec, room_of(solved.spec)
        cells = [cell for put in solved.placements for cell in put.cells()]
        assert room.joined.issuperset(cells)
        centres = {(put.x, put.y) for put in solved.placements if put.kind == MACHINE}
        assert centres.issubset(room.sites)
        assert most_apart(room.sites, len(task.recipes)) == len(task.recipes)
        assert inlets(task, room)
        assert all(outlets(task, room, port) for port in task.ports if not port.is_sink)


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
