"""Where electric poles go, so that a layout runs as verified, at full power (R50). Jax-free.

In: a layout. Out: poles outside the grid or on its free cells, and the wires between them. A
module of up to 16 tiles across gets substations beside two opposite sides; a wider one gets medium
poles on free cells in the grid and on the ring round it. The cell before each source and the one
after each sink stay free, so that belts can be joined on.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from envs.blueprint.pole_search import PoleSites, Tile, connected_cover
from envs.catalogue import ARMS, MACHINES
from envs.layout import DIRECTION_VECTORS, Entity, Layout

FUELLED_PROTOTYPES = frozenset({"burner-inserter", "stone-furnace", "steel-furnace"})
"""Arms and machines with a burner energy source [S3]."""

POWERED_PROTOTYPES = (frozenset(ARMS) | frozenset(MACHINES)) - FUELLED_PROTOTYPES
"""Entities with an electric energy source [S3]."""


@dataclass(frozen=True, slots=True)
class PoleKind:
    """A kind of electric pole [S3: supply_area_distance, maximum_wire_distance].

    Attributes:
        prototype: the game's name.
        size: side of the square footprint, tiles.
        supply: side of the square supply area round the centre, tiles.
        reach: longest wire, tiles between centres; between two kinds the smaller one counts.
    """

    prototype: str
    size: int
    supply: int
    reach: int


SUBSTATION = PoleKind("substation", size=2, supply=18, reach=18)
MEDIUM_POLE = PoleKind("medium-electric-pole", size=1, supply=7, reach=9)

WIDEST_BETWEEN_SUBSTATIONS = SUBSTATION.reach - SUBSTATION.size
"""Tiles between two substations whose wire still reaches across."""


@dataclass(frozen=True, slots=True)
class Pole:
    """One pole; `x`, `y`: the top-left tile of its footprint, below 0 left of or above the grid."""

    kind: PoleKind
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Power:
    """The poles of a layout.

    Attributes:
        poles: in row-major order.
        wires: pairs of pole numbers, the smaller first; a spanning tree.
        complete: whether every consumer is supplied; if not, there are no poles.
    """

    poles: tuple[Pole, ...]
    wires: tuple[tuple[int, int], ...]
    complete: bool


def plan_power(layout: Layout) -> Power:
    """Poles for every electric entity of a layout, as one network, as few as the search finds."""
    consumers = [entity for entity in layout.entities if entity.prototype in POWERED_PROTOTYPES]
    if not consumers:
        return Power((), (), complete=True)
    consumers.sort(key=lambda entity: (entity.y, entity.x))
    for kind, sites in _choices(layout):
        poles = _cover(kind, sites, consumers)
        if poles:
            return Power(poles, _spanning_wires(poles), complete=True)
    return Power((), (), complete=False)


def _choices(layout: Layout) -> Iterator[tuple[PoleKind, list[Tile]]]:
    """Kinds of poles and their sites, the preferred ones first; the narrower span goes first."""
    open_cells = _open_cells(layout)
    spans = sorted([(layout.width, False), (layout.height, True)])
    spare = [(WIDEST_BETWEEN_SUBSTATIONS - span, along_x) for span, along_x in spans]
    for close in (True, False):
        for gap, along_x in spare:
            if gap >= 0:
                gaps = range(1 if close else gap + 1)
                yield SUBSTATION, _sites_beside(layout, gaps, along_x, open_cells)
    yield MEDIUM_POLE, _free_cells(layout, open_cells)


def _open_cells(layout: Layout) -> set[Tile]:
    """The cells from which belts join the sources and onto which the sinks run."""
    cells: set[Tile] = set()
    for entity in layout.entities:
        if entity.kind in ("source", "sink"):
            assert entity.direction is not None
            dx, dy = DIRECTION_VECTORS[entity.direction]
            sign = 1 if entity.kind == "sink" else -1
            cells.add((entity.x + sign * dx, entity.y + sign * dy))
    return cells


def _sites_beside(layout: Layout, gaps: range, along_x: bool, taken: set[Tile]) -> list[Tile]:
    """Top-left tiles of 2x2 poles left and right of the grid, or above and below it (`along_x`).

    Args:
        gaps: free tiles between the grid and the pole.
    """
    across, along = (layout.height, layout.width) if along_x else (layout.width, layout.height)
    size = SUBSTATION.size
    sides = [side for gap in gaps for side in (-size - gap, across + gap)]
    places = [(side, place) for place in range(-size, along + 1) for side in sides]
    sites = [(place, side) if along_x else (side, place) for side, place in places]
    return [
        (x, y)
        for x, y in sites
        if taken.isdisjoint((x + dx, y + dy) for dx in range(size) for dy in range(size))
    ]


def _free_cells(layout: Layout, taken: set[Tile]) -> list[Tile]:
    """Free cells of the grid and of the ring round it."""
    taken = taken.union(tile for entity in layout.entities for tile in entity.tiles())
    xs, ys = range(-1, layout.width + 1), range(-1, layout.height + 1)
    return [(x, y) for y in ys for x in xs if (x, y) not in taken]


def _margin(kind: PoleKind) -> int:
    """Tiles from a pole's footprint to the end of its supply area."""
    return (kind.supply - kind.size) // 2


def _cover(kind: PoleKind, sites: list[Tile], consumers: list[Entity]) -> tuple[Pole, ...]:
    """Poles of one kind that supply all consumers, in row-major order; empty if none do."""
    number = {site: index for index, site in enumerate(sites)}
    covered: list[list[int]] = [[] for _ in sites]
    low, high = kind.size - 1 + _margin(kind), _margin(kind)
    for consumer, entity in enumerate(consumers):
        span = range(-low, entity.size + high)
        for site in ((entity.x + dx, entity.y + dy) for dy in span for dx in span):
            if site in number:
                covered[number[site]].append(consumer)
    offset = kind.size / 2
    centres = [
        (entity.x + entity.size / 2 - offset, entity.y + entity.size / 2 - offset)
        for entity in consumers
    ]
    problem = PoleSites(sites, kind.size, kind.reach, covered, centres)
    starts = [site for site, others in enumerate(covered) if 0 in others]
    if kind is MEDIUM_POLE:
        # Every further start would cost as much again on a wide module.
        middle = tuple(sum(axis) / len(centres) for axis in zip(*centres, strict=True))
        starts.sort(key=lambda site: (-len(covered[site]), math.dist(sites[site], middle)))
        del starts[1:]
    chosen = connected_cover(problem, starts) or []
    places = sorted((sites[site] for site in chosen), key=lambda site: (site[1], site[0]))
    return tuple(Pole(kind, x, y) for x, y in places)


def _spanning_wires(poles: tuple[Pole, ...]) -> tuple[tuple[int, int], ...]:
    """The shortest wires that join all poles (Kruskal); no pole gets more than five."""
    pairs = sorted(
        ((first.x - second.x) ** 2 + (first.y - second.y) ** 2, left, right)
        for left, first in enumerate(poles)
        for right, second in enumerate(poles[:left])
        if math.dist((first.x, first.y), (second.x, second.y)) <= first.kind.reach
    )
    group = list(range(len(poles)))
    wires = []
    for _, left, right in pairs:
        if group[left] != group[right]:
            wires.append((right, left))
            old, new = group[left], group[right]
            group = [new if member == old else member for member in group]
    return tuple(sorted(wires))
