"""Cells of a grid as flat indices with a solid margin, and shortest paths between them.

`Raster` maps (x, y) to an index and back; `shortest_path` is a breadth-first search over a
`bytearray` of occupied cells. The margin makes bounds checks needless. Jax-free.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Raster:
    """A grid of `width` x `height` cells inside a solid margin of one cell."""

    width: int
    height: int

    @cached_property
    def steps(self) -> tuple[int, int, int, int]:
        """Index differences of one step N, E, S, W."""
        return (-(self.width + 2), 1, self.width + 2, -1)

    @cached_property
    def cells(self) -> tuple[int, ...]:
        """Indices of all cells of the grid, row-major."""
        return tuple(self.index(x, y) for y in range(self.height) for x in range(self.width))

    @cached_property
    def _inside(self) -> frozenset[int]:
        return frozenset(self.cells)

    def index(self, x: int, y: int) -> int:
        """Index of cell (x, y)."""
        return (y + 1) * (self.width + 2) + x + 1

    def position(self, cell: int) -> tuple[int, int]:
        """(x, y) of an index."""
        y, x = divmod(cell, self.width + 2)
        return x - 1, y - 1

    def holds(self, cell: int) -> bool:
        """Whether an index is a cell of the grid, not of the margin or beyond."""
        return cell in self._inside

    def distance(self, cell: int, other: int) -> int:
        """Steps between two cells on an empty grid."""
        x, y = self.position(cell)
        other_x, other_y = self.position(other)
        return abs(x - other_x) + abs(y - other_y)

    def empty(self) -> bytearray:
        """Occupied cells `[(height + 2) * (width + 2)]`: 1 in the margin, 0 inside."""
        occupied = bytearray(b"\x01" * ((self.width + 2) * (self.height + 2)))
        for cell in self.cells:
            occupied[cell] = 0
        return occupied


def shortest_path(
    occupied: bytearray, starts: Sequence[int], goals: Collection[int], steps: Sequence[int]
) -> list[int] | None:
    """Shortest path from one of the starts to the nearest goal over cells that are free.

    Starts may be occupied. Ties go to the earlier of `steps`. Returns the cells from start to
    goal, both included, or None where no goal can be reached.
    """
    parents = dict.fromkeys(starts, -1)
    queue = list(starts)
    for cell in queue:
        if cell in goals:
            path = [cell]
            while parents[path[-1]] >= 0:
                path.append(parents[path[-1]])
            return path[::-1]
        for step in steps:
            ahead = cell + step
            if not occupied[ahead] and ahead not in parents:
                parents[ahead] = cell
                queue.append(ahead)
    return None
