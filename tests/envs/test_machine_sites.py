"""Sites: machines on free ground, joined ones an arm apart, arms beside them with room to reach."""

import numpy as np
import pytest
from random_drafts import random_draft

from envs.arm_counts import ArmGroup
from envs.families import FAMILIES, Family
from envs.layout import EAST, NORTH, WEST
from envs.machine_sites import Sites, Slot, body, draw_sites
from envs.routing import Raster
from envs.task_draw import Draft
from envs.task_spec import Port

RASTER = Raster(12, 11)
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def solid_of(draft: Draft, raster: Raster) -> tuple[bytearray, list[int]]:
    """Occupied cells and the cells of the ports."""
    solid = raster.empty()
    ports = [raster.index(port.x, port.y) for port in draft.ports]
    for cell in [*ports, *(raster.index(x, y) for x, y in draft.blocked)]:
        solid[cell] = 1
    return solid, ports


def found_sites(family: Family, wanted: int = 12) -> list[tuple[Draft, Sites, bytearray]]:
    """Sites of random drafts, with what is solid after them."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(800):
        draft = random_draft(rng, 12, 11, family, 0, 4)
        if draft is None:
            continue
        solid, ports = solid_of(draft, RASTER)
        sites = draw_sites(rng, RASTER, draft, solid, ports)
        if sites is not None:
            found.append((draft, sites, solid))
        if len(found) == wanted:
            break
    assert len(found) == wanted
    return found


def port_cells(draft: Draft) -> set[int]:
    """Cells of ports and those that sources flow into."""
    cells = {RASTER.index(port.x, port.y) for port in draft.ports}
    sources = [port for port in draft.ports if not port.is_sink]
    return cells | {RASTER.index(port.x, port.y) + RASTER.steps[port.direction] for port in sources}


def slots_of(sites: Sites) -> list[Slot]:
    return [slot for slots in sites.slots for slot in slots]


@every_family
def test_machines_and_arms_stand_on_free_cells_of_their_own(family: Family) -> None:
    for draft, sites, solid in found_sites(family):
        before, _ = solid_of(draft, RASTER)
        cells = [cell for centre in sites.centres for cell in body(RASTER, centre)]
        cells += [slot.cell for slot in slots_of(sites)]
        assert len(sites.centres) == len(draft.machines)
        assert [len(slots) for slots in sites.slots] == [group.count for group in draft.groups]
        assert len(set(cells)) == len(cells)
        assert not any(before[cell] for cell in cells)
        expected = bytearray(before)
        for cell in cells:
            expected[cell] = 1
        assert solid == expected


@every_family
def test_arms_join_their_machine_to_the_other_machine_or_to_their_network(family: Family) -> None:
    for draft, sites, solid in found_sites(family):
        needed = set(sites.owner)
        for group, slots in zip(draft.groups, sites.slots, strict=True):
            machine = group.taker if group.giver is None else group.giver
            assert machine is not None
            for slot in slots:
                step = RASTER.steps[slot.side]
                assert slot.cell - step in body(RASTER, sites.centres[machine])
                assert slot.outer == slot.cell + step
                if group.network is None:
                    assert group.taker is not None
                    assert slot.outer in body(RASTER, sites.centres[group.taker])
                    continue
                assert sites.owner[slot.outer] == group.network
                assert RASTER.holds(slot.outer)
                assert slot.cell not in needed
                assert not solid[slot.outer] or slot.outer in port_cells(draft)


@every_family
def test_ports_and_the_cells_that_sources_flow_into_belong_to_their_network(family: Family) -> None:
    for draft, sites, _ in found_sites(family, 4):
        *sources, sink = draft.ports
        assert sites.owner[RASTER.index(sink.x, sink.y)] == draft.num_networks - 1
        for network, port in enumerate(sources):
            cell = RASTER.index(port.x, port.y)
            assert sites.owner[cell] == network
            assert sites.owner[cell + RASTER.steps[port.direction]] == network


def test_body_is_the_nine_cells_around_the_centre_in_reading_order() -> None:
    raster = Raster(5, 5)
    cells = [raster.position(cell) for cell in body(raster, raster.index(2, 3))]
    assert cells == [(x, y) for y in (2, 3, 4) for x in (1, 2, 3)]


def corridor(
    length: int, arms: int = 1, blocked: tuple[tuple[int, int], ...] = ()
) -> tuple[Draft, Raster]:
    """A gear machine between a source and a sink in a corridor three cells high."""
    ports = (
        Port(0, 1, NORTH, False, "iron-plate", None),
        Port(length - 1, 1, EAST, True, "iron-gear-wheel", "iron-gear-wheel"),
    )
    groups = (
        ArmGroup(None, 0, 0, ("iron-plate",), arms),
        ArmGroup(0, None, 1, ("iron-gear-wheel",)),
    )
    return Draft(ports, blocked, (0,), groups), Raster(length, 3)


def test_the_only_place_is_found() -> None:
    draft, raster = corridor(7, blocked=((1, 0), (1, 2), (5, 0), (5, 2)))
    rng = np.random.default_rng(0)
    found = [draw_sites(rng, raster, draft, *solid_of(draft, raster)) for _ in range(40)]
    source, front, sink = raster.index(0, 1), raster.index(0, 0), raster.index(6, 1)
    picking, dropping = Slot(raster.index(1, 1), WEST, source), Slot(raster.index(5, 1), EAST, sink)
    owner = {source: 0, front: 0, sink: 1}
    only = Sites((raster.index(3, 1),), ((picking,), (dropping,)), owner)
    assert any(found)
    assert all(sites in (None, only) for sites in found)


@pytest.mark.parametrize(("length", "arms"), [(4, 1), (5, 1), (6, 3)])
def test_no_room_gives_no_sites(length: int, arms: int) -> None:
    draft, raster = corridor(length, arms)
    rng = np.random.default_rng(0)
    for _ in range(60):
        assert draw_sites(rng, raster, draft, *solid_of(draft, raster)) is None
