"""The building site of a task, and which placements are legal on it. Numpy and Python, jax-free.

Cells are numbers into a grid with a solid margin of `MARGIN` cells, so that no bounds need a check.
A layout is a tuple of placements; it is legal if some order of them is, under the growth rule.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from envs.actions import NUM_ROTATIONS
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, TaskSpec

MARGIN = 2
"""Arms reach one cell beyond what they stand beside."""

Plan = tuple[Placement, ...]
"""Placements of a layout, in an order in which they can be built."""


@dataclass(frozen=True)
class Site:
    """A task's grid as numbered cells."""

    spec: TaskSpec

    @cached_property
    def stride(self) -> int:
        """Cells of a row with its margins."""
        return self.spec.width + 2 * MARGIN

    @cached_property
    def steps(self) -> tuple[int, int, int, int]:
        """Differences of cell numbers one step N, E, S, W."""
        return (-self.stride, 1, self.stride, -1)

    @cached_property
    def square(self) -> tuple[int, ...]:
        """Differences from a machine's centre to the cells of its footprint."""
        return tuple(dy * self.stride + dx for dy in (-1, 0, 1) for dx in (-1, 0, 1))

    @cached_property
    def beside_machine(self) -> tuple[tuple[int, int], ...]:
        """For each cell beside a machine (difference from the centre, direction away from it)."""
        return tuple(
            (2 * step + along * self.steps[(direction + 1) % 4], direction)
            for direction, step in enumerate(self.steps)
            for along in (-1, 0, 1)
        )

    @cached_property
    def ports(self) -> tuple[int, ...]:
        """Cells of the ports."""
        return tuple(self.cell(port.x, port.y) for port in self.spec.ports)

    @cached_property
    def bare(self) -> bytes:
        """1 for the margin, blocked cells and ports, by cell; 0 where something can be put."""
        solid = bytearray(b"\x01" * (self.stride * (self.spec.height + 2 * MARGIN)))
        for y in range(self.spec.height):
            start = self.cell(0, y)
            solid[start : start + self.spec.width] = bytes(self.spec.width)
        for cell in (*self.ports, *(self.cell(x, y) for x, y in self.spec.blocked)):
            solid[cell] = 1
        return bytes(solid)

    @cached_property
    def outside(self) -> bytes:
        """1 for the margin, by cell."""
        solid = bytearray(self.bare)
        for cell in (*self.ports, *(self.cell(x, y) for x, y in self.spec.blocked)):
            solid[cell] = 0
        return bytes(solid)

    def cell(self, x: int, y: int) -> int:
        """The number of cell (x, y)."""
        return (y + MARGIN) * self.stride + x + MARGIN

    def position(self, cell: int) -> tuple[int, int]:
        """(x, y) of a cell."""
        y, x = divmod(cell, self.stride)
        return x - MARGIN, y - MARGIN

    def footprint(self, put: Placement) -> tuple[int, ...]:
        """Cells that a placement takes."""
        cell = self.cell(put.x, put.y)
        return tuple(cell + step for step in self.square) if put.kind == MACHINE else (cell,)

    def arm_fits(self, cell: int, direction: int) -> bool:
        """Whether both end cells of an inserter are inside the grid."""
        step = self.steps[direction]
        return not (self.outside[cell + step] or self.outside[cell - step])

    def is_possible(self, put: Placement) -> bool:
        """Whether a placement would be legal on the bare site, but for the growth rule."""
        cell = self.cell(put.x, put.y)
        if put.kind == MACHINE:
            fits = put.rotation < len(self.spec.recipes)
            return fits and not any(self.bare[cell + step] for step in self.square)
        return not self.bare[cell] and (put.kind == BELT or self.arm_fits(cell, put.rotation))


def buildable(site: Site, placements: Iterable[Placement]) -> Plan:
    """The placements that the growth rule can reach, in an order that it allows.

    Each must be possible and their footprints must not overlap. More than the task's limit are
    cut off.
    """
    owner = {cell: put for put in placements for cell in site.footprint(put)}
    order: list[Placement] = []
    grown = list(site.ports)
    for cell in grown:
        for step in site.steps:
            put = owner.get(cell + step)
            if put is not None:
                footprint = site.footprint(put)
                for taken in footprint:
                    del owner[taken]
                grown.extend(footprint)
                order.append(put)
    return tuple(order[: site.spec.placement_limit])


class Ground:
    """Cells that are taken while an episode goes on, and the legal actions there."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._rows = len(site.bare) // site.stride
        bare = np.frombuffer(site.bare, np.uint8).reshape(self._rows, site.stride)
        self._taken = bare.astype(np.bool_)
        self._grown = np.zeros_like(self._taken)
        self._grown.reshape(-1)[list(site.ports)] = True
        recipes = len(site.spec.recipes)
        self._slots = np.arange(NUM_ROTATIONS) < recipes
        self._arms = np.array(
            [
                [
                    [site.arm_fits(site.cell(x, y), turn) for turn in range(NUM_ROTATIONS)]
                    for x in range(site.spec.width)
                ]
                for y in range(site.spec.height)
            ]
        )

    def put(self, put: Placement) -> None:
        """Takes the cells of a placement."""
        cells = list(self._site.footprint(put))
        self._taken.reshape(-1)[cells] = True
        self._grown.reshape(-1)[cells] = True

    def legal(self) -> np.ndarray:
        """Numbers of the legal placements, as in `envs.actions`; finish is always legal too."""
        height, width = self._site.spec.height, self._site.spec.width
        inner = (slice(MARGIN, MARGIN + height), slice(MARGIN, MARGIN + width))
        grown = self._grown
        frontier = np.zeros_like(grown)
        frontier[1:-1, 1:-1] = grown[:-2, 1:-1] | grown[2:, 1:-1]
        frontier[1:-1, 1:-1] |= grown[1:-1, :-2] | grown[1:-1, 2:]
        single = frontier[inner] & ~self._taken[inner]
        machine = ~_around(self._taken)[inner] & _around(frontier)[inner]
        planes = np.zeros((3, height, width, NUM_ROTATIONS), np.bool_)
        planes[MACHINE] = machine[..., None] & self._slots
        planes[BELT] = single[..., None]
        planes[INSERTER] = single[..., None] & self._arms
        return np.flatnonzero(planes)


def _around(cells: np.ndarray) -> np.ndarray:
    """Cells whose 3x3 surroundings hold one of `cells`, but for the outermost ones."""
    rows = cells.copy()
    rows[1:-1] |= cells[:-2] | cells[2:]
    around = rows.copy()
    around[:, 1:-1] |= rows[:, :-2] | rows[:, 2:]
    return around


def is_legal(site: Site, placements: Sequence[Placement]) -> bool:
    """Whether an episode can end with exactly these placements."""
    cells = [cell for put in placements for cell in site.footprint(put)]
    return (
        all(site.is_possible(put) for put in placements)
        and len(set(cells)) == len(cells)
        and len(buildable(site, placements)) == len(placements)
    )
