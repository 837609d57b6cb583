"""One random reference layout for a drafted task: machine, inserters, shortest belts.

Flow: draft -> machine cell and inserter slots -> a belt per source that passes all its pickup
cells and dead-ends at the last one (R9; raw items never run on) -> belts from every drop cell
to the sink -> placements in flow order. An inserter may take from a source tile or drop on the
sink itself. Nothing is verified here. Jax-free.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from envs.routing import Raster, shortest_path
from envs.task_draw import Draft, below, shuffled
from envs.task_spec import BELT, INSERTER, MACHINE, Placement

TOGETHER_CHANCE = 0.6
"""Share of ports whose inserters stand on one side of the machine where there is room."""

SLOT_NOISE_CELLS = 2
"""Random cells added to a slot's distance from its port before the nearest slots are taken."""

STRAIGHT_END_CHANCE = 0.5
"""Share of input belts that end straight on; others turn toward their last inserter."""


@dataclass(frozen=True)
class _Slot:
    """A cell beside the machine for an inserter: `side` points away from the machine."""

    cell: int
    side: int
    outer: int


def construct(rng: np.random.Generator, raster: Raster, draft: Draft) -> list[Placement] | None:
    """A random reference in flow order, or None where this attempt found no room or route."""
    ports = [raster.index(port.x, port.y) for port in draft.ports]
    solid = raster.empty()
    for cell in [*ports, *(raster.index(x, y) for x, y in draft.blocked)]:
        solid[cell] = 1
    body = _draw_machine(rng, raster, solid)
    if body is None:
        return None
    for cell in body:
        solid[cell] = 1
    groups = _draw_slots(rng, raster, solid, body, ports, draft.counts)
    if groups is None:
        return None
    for slot in (slot for group in groups for slot in group):
        solid[slot.cell] = 1
    belts = _route(rng, raster, solid, draft, ports, groups)
    if belts is None:
        return None
    return _flow_order(raster, body[len(body) // 2], groups, belts)


def _draw_machine(rng: np.random.Generator, raster: Raster, solid: bytearray) -> list[int] | None:
    """The nine cells of the machine, row-major; None where the drawn place is not free."""
    if raster.width < 3 or raster.height < 3:
        return None
    x, y = 1 + below(rng, raster.width - 2), 1 + below(rng, raster.height - 2)
    body = [raster.index(x + dx, y + dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
    return None if any(solid[cell] for cell in body) else body


def _draw_slots(
    rng: np.random.Generator,
    raster: Raster,
    solid: bytearray,
    body: list[int],
    ports: list[int],
    counts: tuple[int, ...],
) -> list[list[_Slot]] | None:
    """The slots of each port's inserters; None where the machine has too few free sides."""
    centre = body[len(body) // 2]
    slots = []
    for side, step in enumerate(raster.steps):
        across = raster.steps[(side + 1) % 4]
        for cell in (centre + 2 * step + shift * across for shift in (-1, 0, 1)):
            if not solid[cell] and (not solid[cell + step] or cell + step in ports):
                slots.append(_Slot(cell, side, cell + step))
    groups = []
    for port, count in zip(ports, counts, strict=True):
        open_slots = [slot for slot in slots if slot.outer == port or not solid[slot.outer]]
        if len(open_slots) < count:
            return None
        costs = {
            slot: raster.distance(slot.outer, port) + SLOT_NOISE_CELLS * rng.random()
            for slot in open_slots
        }
        open_slots.sort(key=costs.__getitem__)
        if rng.random() < TOGETHER_CHANCE:
            first = open_slots[0].side
            open_slots.sort(key=lambda slot: slot.side != first)
        groups.append(open_slots[:count])
        slots = [slot for slot in slots if slot not in groups[-1]]
    return groups


def _route(
    rng: np.random.Generator,
    raster: Raster,
    solid: bytearray,
    draft: Draft,
    ports: list[int],
    groups: list[list[_Slot]],
) -> list[dict[int, int]] | None:
    """Belts (cell -> direction, in flow order) of each source and of the sink, or None."""
    fronts = [
        cell + raster.steps[port.direction] for cell, port in zip(ports, draft.ports, strict=True)
    ]
    outers = [{slot.outer for slot in group} for group in groups]
    for i, front in enumerate(fronts[:-1]):
        if any(front in outer for j, outer in enumerate(outers) if j != i):
            return None
    reserved = bytearray(solid)
    for cell in [*fronts, *(cell for outer in outers for cell in outer)]:
        reserved[cell] = 1
    steps = shuffled(rng, raster.steps)
    paths = []
    for port, front, goals in zip(ports[:-1], fronts[:-1], outers[:-1], strict=True):
        path = _input_path(_opened(reserved, solid, {*goals, front}), port, front, goals, steps)
        if path is None:
            return None
        paths.append(path)
        for cell in path:
            reserved[cell] = solid[cell] = 1
    opened = _opened(reserved, solid, outers[-1] - {fronts[-1]})
    product_belts = _product_belts(raster, opened, ports[-1], outers[-1], steps)
    if product_belts is None:
        return None
    conveyors = {*ports, *product_belts, *(cell for path in paths for cell in path)}
    belts = [
        _input_belts(rng, raster, path, group, conveyors)
        for path, group in zip(paths, groups[:-1], strict=True)
    ]
    return [*belts, product_belts]


def _opened(reserved: bytearray, solid: bytearray, cells: set[int]) -> bytearray:
    """The reserved cells without these, unless something stands there."""
    opened = bytearray(reserved)
    for cell in cells:
        opened[cell] = solid[cell]
    return opened


def _input_path(
    occupied: bytearray, source: int, front: int, goals: set[int], steps: list[int]
) -> list[int] | None:
    """Cells from the source on that pass every pickup cell, nearest first."""
    path = [source]
    left = goals - {source}
    while left:
        at_source = len(path) == 1
        if at_source and occupied[front]:
            return None
        found = shortest_path(occupied, [front if at_source else path[-1]], left, steps)
        if found is None:
            return None
        path += found if at_source else found[1:]
        for cell in found:
            occupied[cell] = 1
        left = left - set(found)
    return path


def _product_belts(
    raster: Raster, occupied: bytearray, sink: int, drops: set[int], steps: list[int]
) -> dict[int, int] | None:
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


def _input_belts(
    rng: np.random.Generator,
    raster: Raster,
    path: list[int],
    group: list[_Slot],
    conveyors: set[int],
) -> dict[int, int]:
    """Directions of an input belt; its last tile points at nothing that takes items."""
    belts = {cell: raster.steps.index(ahead - cell) for cell, ahead in pairwise(path[1:])}
    if len(path) > 1:
        end = path[-1]
        straight = raster.steps.index(end - path[-2])
        toward = next((slot.side + 2) % 4 for slot in group if slot.outer == end)
        meets_belt = end + raster.steps[straight] in conveyors
        turns = meets_belt or rng.random() >= STRAIGHT_END_CHANCE
        belts[end] = toward if turns else straight
    return belts


def _flow_order(
    raster: Raster, centre: int, groups: list[list[_Slot]], belts: list[dict[int, int]]
) -> list[Placement]:
    """Belts and inserters of the sources with the machine after the first one, then the rest."""
    placements = []
    for group, tiles in zip(groups[:-1], belts[:-1], strict=True):
        placements += _belt_placements(raster, tiles)
        for slot in group:
            inward = (slot.side + 2) % 4
            placements.append(Placement(INSERTER, *raster.position(slot.cell), inward))
            if slot is groups[0][0]:
                placements.append(Placement(MACHINE, *raster.position(centre), 0))
    for slot in groups[-1]:
        placements.append(Placement(INSERTER, *raster.position(slot.cell), slot.side))
    return placements + _belt_placements(raster, belts[-1])


def _belt_placements(raster: Raster, belts: dict[int, int]) -> list[Placement]:
    return [Placement(BELT, *raster.position(cell), direction) for cell, direction in belts.items()]
