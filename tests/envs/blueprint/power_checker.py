"""An independent check of electric poles, from the game's figures alone."""

import math
from collections.abc import Iterable, Sequence

from envs.layout import Entity, Layout

FIGURES = {"substation": (2, 18, 18), "medium-electric-pole": (1, 7, 9)}
"""Side of the footprint, side of the supply area, wire reach, by prototype."""

NEEDS_NO_POWER = {
    "transport-belt",
    "wooden-chest",
    "burner-inserter",
    "stone-furnace",
    "steel-furnace",
}

PlacedPole = tuple[str, float, float]
"""Prototype and centre."""


def power_faults(
    layout: Layout, poles: Sequence[PlacedPole], wires: Iterable[tuple[int, int]]
) -> list[str]:
    """What is wrong with the poles and wires (pairs of pole numbers) of a layout; empty if all is
    well: each consumer within a supply area, one network, nothing overlaps, ports can be joined."""
    wires = list(wires)
    faults = [
        f"{entity.prototype} at ({entity.x}, {entity.y}) has no power"
        for entity in layout.entities
        if entity.prototype not in NEEDS_NO_POWER
        and not any(_supplies(pole, entity) for pole in poles)
    ]
    faults += [
        f"the wire from {poles[left]} to {poles[right]} is too long"
        for left, right in wires
        if math.dist(poles[left][1:], poles[right][1:])
        > min(FIGURES[poles[left][0]][2], FIGURES[poles[right][0]][2])
    ]
    if poles and len(_network(wires)) != len(poles):
        faults.append("the poles are not one network")
    return faults + _overlaps(layout, poles)


def _supplies(pole: PlacedPole, entity: Entity) -> bool:
    name, x, y = pole
    half = (FIGURES[name][1] + entity.size) / 2
    middle_x, middle_y = entity.x + entity.size / 2, entity.y + entity.size / 2
    return abs(x - middle_x) < half and abs(y - middle_y) < half


def _network(wires: Sequence[tuple[int, int]]) -> set[int]:
    """The poles that pole 0 is joined to, itself among them."""
    joined = {0}
    for _ in wires:
        joined |= {end for wire in wires if joined.intersection(wire) for end in wire}
    return joined


def _overlaps(layout: Layout, poles: Sequence[PlacedPole]) -> list[str]:
    taken = {tile: entity.prototype for entity in layout.entities for tile in entity.tiles()}
    steps = ((0, -1), (1, 0), (0, 1), (-1, 0))
    for entity in layout.entities:
        if entity.kind in ("source", "sink"):
            dx, dy = steps[entity.direction or 0]
            sign = 1 if entity.kind == "sink" else -1
            taken.setdefault((entity.x + sign * dx, entity.y + sign * dy), f"{entity.kind}'s end")
    faults = []
    for name, x, y in poles:
        size = FIGURES[name][0]
        left, top = x - size / 2, y - size / 2
        if left % 1 or top % 1:
            faults.append(f"{name} at ({x}, {y}) is off the grid of tiles")
        for tile in [(int(left) + dx, int(top) + dy) for dx in range(size) for dy in range(size)]:
            if tile in taken:
                faults.append(f"{name} stands on {taken[tile]} at {tile}")
            taken[tile] = name
    return faults
