"""Constructed references: complete as drafted, and belts without stray ends."""

from functools import cache

import numpy as np
import pytest
from random_drafts import random_draft

from envs.arm_counts import ArmGroup
from envs.construction import construct
from envs.families import FAMILIES, Family
from envs.layout import DIRECTION_VECTORS, EAST, NORTH
from envs.routing import Raster
from envs.task_draw import Draft
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, Port

WIDTH, HEIGHT = 12, 11
REFERENCES = 12
TRIES_PER_DRAFT = 8
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


@cache
def references(name: str) -> list[tuple[Draft, list[Placement]]]:
    """Drafts of a family with a reference each."""
    rng = np.random.default_rng(1)
    raster = Raster(WIDTH, HEIGHT)
    found = []
    while len(found) < REFERENCES:
        draft = random_draft(rng, WIDTH, HEIGHT, FAMILIES[name], 0, 3)
        if draft is None:
            continue
        tries = (construct(rng, raster, draft) for _ in range(TRIES_PER_DRAFT))
        found += [(draft, placements) for placements in tries if placements is not None][:1]
    return found


def ahead(put: Placement | Port, rotation: int) -> tuple[int, int]:
    dx, dy = DIRECTION_VECTORS[rotation]
    return put.x + dx, put.y + dy


def pickup(arm: Placement) -> tuple[int, int]:
    return ahead(arm, (arm.rotation + 2) % 4)


@every_family
def test_reference_has_the_drafted_machines_and_inserters(family: Family) -> None:
    for draft, placements in references(family.name):
        slots = [put.rotation for put in placements if put.kind == MACHINE]
        assert tuple(slots) == draft.machines
        arms = [put for put in placements if put.kind == INSERTER]
        assert len(arms) == sum(group.count for group in draft.groups)
        machines = [put for put in placements if put.kind == MACHINE]
        number_at = {cell: n for n, put in enumerate(machines) for cell in put.cells()}
        joined = sorted(
            (number_at.get(pickup(arm), -1), number_at.get(ahead(arm, arm.rotation), -1))
            for arm in arms
        )
        drafted = sorted(
            (-1 if group.giver is None else group.giver, -1 if group.taker is None else group.taker)
            for group in draft.groups
            for _ in range(group.count)
        )
        assert joined == drafted


@every_family
def test_no_two_things_share_a_cell(family: Family) -> None:
    for draft, placements in references(family.name):
        cells = [(port.x, port.y) for port in draft.ports] + list(draft.blocked)
        cells += [cell for put in placements for cell in put.cells()]
        assert len(set(cells)) == len(cells)
        assert all(0 <= x < WIDTH and 0 <= y < HEIGHT for x, y in cells)


@every_family
def test_belts_lead_to_a_belt_a_sink_or_end_at_a_pickup_cell(family: Family) -> None:
    for draft, placements in references(family.name):
        pickups = {pickup(put) for put in placements if put.kind == INSERTER}
        belts = {(put.x, put.y): put.rotation for put in placements if put.kind == BELT}
        sources = {(port.x, port.y): port.direction for port in draft.ports[:-1]}
        sink = draft.ports[-1]
        takers = belts | sources | {(sink.x, sink.y): sink.direction}
        for put in placements:
            if put.kind != BELT:
                continue
            front = ahead(put, put.rotation)
            assert front not in sources
            if front in takers:
                assert takers[front] != (put.rotation + 2) % 4
            else:
                assert (put.x, put.y) in pickups


@every_family
def test_items_never_run_on_from_one_network_into_another(family: Family) -> None:
    for draft, placements in references(family.name):
        belts = {(put.x, put.y): put for put in placements if put.kind == BELT}
        sink = draft.ports[-1]
        for port in draft.ports[:-1]:
            cell, passed = ahead(port, port.direction), set()
            while cell in belts and cell not in passed:
                passed.add(cell)
                cell = ahead(belts[cell], belts[cell].rotation)
            assert cell not in passed
            assert cell != (sink.x, sink.y)
            others = {ahead(other, other.direction) for other in draft.ports[:-1] if other != port}
            assert not passed & others


def test_inserters_alone_join_ports_beside_the_machine() -> None:
    ports = (
        Port(0, 1, NORTH, False, "iron-plate", None),
        Port(6, 1, EAST, True, "pipe", "pipe"),
    )
    groups = (ArmGroup(None, 0, 0, ("iron-plate",)), ArmGroup(0, None, 1, ("pipe",)))
    draft = Draft(ports, (), (0,), groups)
    rng = np.random.default_rng(0)
    found = [construct(rng, Raster(7, 3), draft) for _ in range(50)]
    shortest = min((placements for placements in found if placements), key=len)
    assert shortest == [
        Placement(MACHINE, 3, 1, 0),
        Placement(INSERTER, 1, 1, EAST),
        Placement(INSERTER, 5, 1, EAST),
    ]


def test_no_room_gives_no_reference() -> None:
    ports = (
        Port(0, 0, EAST, False, "iron-plate", None),
        Port(3, 3, EAST, True, "pipe", "pipe"),
    )
    groups = (ArmGroup(None, 0, 0, ("iron-plate",)), ArmGroup(0, None, 1, ("pipe",)))
    rng = np.random.default_rng(0)
    draft = Draft(ports, (), (0,), groups)
    assert all(construct(rng, Raster(4, 4), draft) is None for _ in range(50))
