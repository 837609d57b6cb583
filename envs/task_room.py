"""What the grid of a task has room for at most: bounds that no layout exceeds. Jax-free.

In: a task whose ports and blocked cells lie apart inside the grid. Out: the cells that items can
pass on their way to the sink, where machines can stand and where ports can be reached. Every bound
errs on the side of possible.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from envs.catalogue import (
    BELT_ITEM_GAP,
    BELT_SPEED_PER_TICK,
    MACHINE_SIZE,
    TICKS_PER_S,
)
from envs.layout import DIRECTION_VECTORS
from envs.task_spec import Port, TaskSpec

Cell = tuple[int, int]

LANE_ITEMS_PER_S = Fraction(TICKS_PER_S * BELT_SPEED_PER_TICK, BELT_ITEM_GAP)
"""Most items per second of a belt lane, a source's or a sink's (R12, R17, R18): 7.5."""

BELT_ITEMS_PER_S = 2 * LANE_ITEMS_PER_S


@dataclass(frozen=True)
class Room:
    """Free space of a task.

    Attributes:
        free: cells without port that are not blocked.
        joined: those of them from which a way leads to the sink.
        sites: cells where the centre of a machine can stand so that it has an input and an output.
    """

    free: frozenset[Cell]
    joined: frozenset[Cell]
    sites: tuple[Cell, ...]


def room_of(spec: TaskSpec) -> Room:
    """The free space of a task with exactly one sink."""
    taken = {*spec.blocked, *((port.x, port.y) for port in spec.ports)}
    grid = ((x, y) for y in range(spec.height) for x in range(spec.width))
    free = frozenset(cell for cell in grid if cell not in taken)
    joined: set[Cell] = set()
    waiting = [cell for cell in _neighbours(spec.sink.x, spec.sink.y) if cell in free]
    while waiting:
        cell = waiting.pop()
        if cell not in joined:
            joined.add(cell)
            waiting += [other for other in _neighbours(*cell) if other in free]
    sites = tuple(cell for cell in sorted(joined) if _is_site(spec, cell, joined))
    return Room(free, frozenset(joined), sites)


def outlets(spec: TaskSpec, room: Room, source: Port) -> list[Cell]:
    """Cells by which items can leave a source: a belt ahead, an inserter beside, the sink ahead."""
    sink, sources = (spec.sink.x, spec.sink.y), _source_cells(spec)
    ahead = source.front
    by_arm = [
        beside
        for beside, beyond in _arms_at(source)
        if beside in room.free and _is_open(spec, beyond) and beyond not in sources
    ]
    return [*by_arm, ahead] if ahead in room.free or ahead == sink else by_arm


def inlets(spec: TaskSpec, room: Room) -> list[Cell]:
    """Cells by which items can enter the sink: a belt from behind or beside, an inserter."""
    sink = spec.sink
    sources = {(port.x, port.y): port.front for port in spec.ports if not port.is_sink}
    fed_by_port = [cell for cell, ahead in sources.items() if ahead == (sink.x, sink.y)]
    return fed_by_port + [
        beside
        for beside, beyond in _arms_at(sink)
        if beside in room.free and (beside != sink.front or _is_open(spec, beyond))
    ]


def most_apart(sites: Sequence[Cell], wanted: int) -> int:
    """How many machines can stand side by side on `sites`, counted up to `wanted`."""
    most = 0
    for index, (x, y) in enumerate(sites):
        if most >= wanted:
            break
        rest = [
            (other_x, other_y)
            for other_x, other_y in sites[index + 1 :]
            if max(abs(other_x - x), abs(other_y - y)) >= MACHINE_SIZE
        ]
        if len(rest) >= most:
            most = max(most, 1 + most_apart(rest, wanted - 1))
    return most


def _neighbours(x: int, y: int) -> Iterable[Cell]:
    return ((x + dx, y + dy) for dx, dy in DIRECTION_VECTORS)


def _arms_at(port: Port) -> Iterable[tuple[Cell, Cell]]:
    """(cell beside, cell beyond it) on each side of a port: an inserter and its far end."""
    for dx, dy in DIRECTION_VECTORS:
        yield (port.x + dx, port.y + dy), (port.x + 2 * dx, port.y + 2 * dy)


def _is_open(spec: TaskSpec, cell: Cell) -> bool:
    """Whether a cell lies in the grid and is not blocked."""
    return 0 <= cell[0] < spec.width and 0 <= cell[1] < spec.height and cell not in spec.blocked


def _source_cells(spec: TaskSpec) -> set[Cell]:
    return {(port.x, port.y) for port in spec.ports if not port.is_sink}


def _is_site(spec: TaskSpec, centre: Cell, joined: Collection[Cell]) -> bool:
    """Whether a machine has room with at least two cells beside it for inserters."""
    x, y = centre
    reach = range(-1, 2)
    if not all((x + dx, y + dy) in joined for dx in reach for dy in reach):
        return False
    arms = [
        (x + 2 * dx + shift * dy, y + 2 * dy + shift * dx, dx, dy)
        for dx, dy in DIRECTION_VECTORS
        for shift in reach
    ]
    usable = [
        (arm_x, arm_y) in joined and _is_open(spec, (arm_x + dx, arm_y + dy))
        for arm_x, arm_y, dx, dy in arms
    ]
    return sum(usable) >= 2
