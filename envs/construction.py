"""One random reference layout for a drafted task: machines, arms, shortest belts.

Flow: draft -> machines and arms (`machine_sites`) -> one belt network after the other: from a
source, or from the cells where a stage drops, past all cells where arms pick, dead-ending at the
last one (R9; items never run on); from every drop cell of the last stage to the sink. An arm may
take from a source tile or drop on the sink itself. Nothing is verified here. Jax-free.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from envs.machine_sites import Sites, Slot, draw_sites
from envs.random_draw import chosen, shuffled
from envs.routing import Raster, shortest_path
from envs.task_draw import Draft
from envs.task_spec import BELT, INSERTER, MACHINE, Placement

STRAIGHT_END_CHANCE = 0.5
"""Share of belts that end straight on; others turn toward their last arm."""

Belts = dict[int, int]
"""Direction of the belt on each cell."""


def construct(rng: np.random.Generator, raster: Raster, draft: Draft) -> list[Placement] | None:
    """A random reference, in no particular order, or None where there was no room or route."""
    ports = [raster.index(port.x, port.y) for port in draft.ports]
    solid = raster.empty()
    for cell in [*ports, *(raster.index(x, y) for x, y in draft.blocked)]:
        solid[cell] = 1
    sites = draw_sites(rng, raster, draft, solid, ports)
    if sites is None:
        return None
    belts = _route(rng, raster, draft, sites, solid, ports)
    if belts is None:
        return None
    placements = [Placement(BELT, *raster.position(cell), to) for cell, to in belts.items()]
    for centre, slot in zip(sites.centres, draft.machines, strict=True):
        placements.append(Placement(MACHINE, *raster.position(centre), slot))
    for group, slots in zip(draft.groups, sites.slots, strict=True):
        for slot in slots:
            drop_side = slot.side if group.giver is not None else (slot.side + 2) % 4
            placements.append(Placement(INSERTER, *raster.position(slot.cell), drop_side))
    return placements


class _End(NamedTuple):
    """The last belt of a run: the direction it came in, and the one toward its last arm."""

    cell: int
    straight: int
    toward: int


def _route(
    rng: np.random.Generator,
    raster: Raster,
    draft: Draft,
    sites: Sites,
    solid: bytearray,
    ports: list[int],
) -> Belts | None:
    """The belts of all networks, or None. Each keeps clear of the cells that others need."""
    reserved = bytearray(solid)
    for cell in sites.owner:
        reserved[cell] = 1
    steps = shuffled(rng, raster.steps)
    ends: list[_End] = []
    belts: Belts = {}
    for network in shuffled(rng, range(draft.num_networks)):
        opened = bytearray(reserved)
        for cell, owner in sites.owner.items():
            if owner == network:
                opened[cell] = solid[cell]
        picks = _slots_of(draft, sites, network, picking=True)
        drops = {slot.outer for slot in _slots_of(draft, sites, network, picking=False)}
        if network == draft.num_networks - 1:
            # A belt that faces the sink does not feed it (R9).
            opened[ports[-1] + raster.steps[draft.ports[-1].direction]] = 1
            found = _tree(raster, opened, ports[-1], drops, steps)
        else:
            path = _run(rng, raster, opened, draft, ports, network, drops, picks, steps)
            found = None if path is None else _directions(raster, path)
            if found is not None and path:
                ends.append(_end(raster, path, picks))
                found[path[-1]] = ends[-1].straight
        if found is None:
            return None
        belts |= found
        for cell in found:
            reserved[cell] = solid[cell] = 1
    conveyors = {*ports, *belts}
    for end in ends:
        meets_belt = end.cell + raster.steps[end.straight] in conveyors
        if meets_belt or rng.random() >= STRAIGHT_END_CHANCE:
            belts[end.cell] = end.toward
    return belts


def _directions(raster: Raster, path: list[int]) -> Belts:
    """Directions of the belts of a run but the last."""
    return {cell: raster.steps.index(to - cell) for cell, to in pairwise(path)}


def _end(raster: Raster, path: list[int], picks: list[Slot]) -> _End:
    side = next(slot.side for slot in picks if slot.outer == path[-1])
    toward = (side + 2) % 4
    straight = raster.steps.index(path[-1] - path[-2]) if len(path) > 1 else toward
    return _End(path[-1], straight, toward)


def _slots_of(draft: Draft, sites: Sites, network: int, *, picking: bool) -> list[Slot]:
    """Arms that pick from a network, or those that drop on it."""
    return [
        slot
        for group, slots in zip(draft.groups, sites.slots, strict=True)
        if group.network == network and (group.giver is None) == picking
        for slot in slots
    ]


def _run(
    rng: np.random.Generator,
    raster: Raster,
    occupied: bytearray,
    draft: Draft,
    ports: list[int],
    network: int,
    drops: set[int],
    picking: list[Slot],
    steps: list[int],
) -> list[int] | None:
    """Cells of a belt past every drop cell, then past every pickup cell, nearest first.

    From a source it starts at its front, and is empty where all arms pick from the source itself.
    """
    picks = {slot.outer for slot in picking}
    if network < len(ports) - 1:
        source = ports[network]
        picks.discard(source)
        if not picks:
            return []
        start = source + raster.steps[draft.ports[network].direction]
    else:
        start = chosen(rng, sorted(drops))
    if occupied[start]:
        return None
    path = [start]
    occupied[start] = 1
    # What is dropped behind a pickup cell does not come back to it.
    shut = [cell for cell in picks - drops if not occupied[cell]]
    for goals in (drops, picks):
        for cell in shut:
            occupied[cell] = goals is drops
        left = goals - set(path)
        while left:
            found = shortest_path(occupied, path[-1:], left, steps)
            if found is None:
                return None
            path += found[1:]
            for cell in found:
                occupied[cell] = 1
            left = left - set(found)
    return path if path[-1] in picks else None


def _tree(
    raster: Raster, occupied: bytearray, sink: int, drops: set[int], steps: list[int]
) -> Belts | None:
    """Belts from every drop cell to the sink; later drops join the nearest belt."""
    branches: list[list[int]] = []
    network = [sink]
    left = drops - {sink}
    while left:
        found = shortest_path(occupied, network, left, steps)
        if found is None:
            return None
        branches.append(found[::-1])
        network += found[1:]
        left = left - set(found)
        for cell in found:
            occupied[cell] = 1
    return {
        cell: raster.steps.index(ahead - cell)
        for branch in branches
        for cell, ahead in pairwise(branch)
    }
