"""What a layout does not need, and in which order to build the rest. Jax-free.

In: the placements of a layout. Out: the layout without those that add nothing to its rate, which
verified layouts show; and placements in an order in which each touches what stands before it.
"""

from collections.abc import Sequence

from envs.layout import DIRECTION_VECTORS
from envs.task_spec import Placement, TaskSpec
from factorio_rl.design_judge import Found, Judge


def pruned(judge: Judge, found: Found, kept: Sequence[Placement]) -> Found:
    """A layout without placements that add nothing to its rate, or even lower it.

    `kept` stay. What delivers nothing, or has no exact rate, is left as it is.
    """
    while found.outcome.rate:
        trials = [
            tuple(other for other in found.order if other != put)
            for put in reversed(found.order)
            if put not in kept
        ]
        without = max(judge.found(trials), key=lambda one: one.rank, default=found)
        if without.rank <= found.rank:
            break
        found = without
    return found


def building_order(spec: TaskSpec, placements: Sequence[Placement]) -> tuple[Placement, ...]:
    """The placements so that each touches a port or what stands before it, as far as they do.

    Otherwise they keep their order.
    """
    touched = {cell for port in spec.ports for cell in _beside((port.x, port.y))}
    left, order = list(placements), []
    while left:
        place = next((at for at, put in enumerate(left) if touched & {*put.cells()}), 0)
        put = left.pop(place)
        order.append(put)
        touched |= {beside for cell in put.cells() for beside in _beside(cell)}
    return tuple(order)


def _beside(cell: tuple[int, int]) -> list[tuple[int, int]]:
    return [(cell[0] + dx, cell[1] + dy) for dx, dy in DIRECTION_VECTORS]
