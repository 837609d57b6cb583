"""The eight symmetries of the square on tasks and placements. Jax-free.

Symmetry s in 0..7: a mirror of x if s >= 4, then s mod 4 quarter turns clockwise. Symmetries 0
to 3 are the rotations. A mirror swaps E and W and also a port's lanes, since left of travel
becomes right; its task is similar, not equivalent (an in-line drop goes to the right lane).
"""

from dataclasses import replace

from envs.layout import EAST, WEST
from envs.task_spec import MACHINE, Placement, Port, TaskSpec

NUM_SYMMETRIES = 8
NUM_ROTATIONS = 4


def transform_cell(x: int, y: int, width: int, height: int, symmetry: int) -> tuple[int, int]:
    """Cell (x, y) of a grid of `width` x `height` under a symmetry."""
    if symmetry >= NUM_ROTATIONS:
        x = width - 1 - x
    for _ in range(symmetry % NUM_ROTATIONS):
        x, y = height - 1 - y, x
        width, height = height, width
    return x, y


def transform_direction(direction: int, symmetry: int) -> int:
    """A direction under a symmetry."""
    if symmetry >= NUM_ROTATIONS and direction in (EAST, WEST):
        direction = EAST + WEST - direction
    return (direction + symmetry) % NUM_ROTATIONS


def _transform_port(port: Port, width: int, height: int, symmetry: int) -> Port:
    x, y = transform_cell(port.x, port.y, width, height, symmetry)
    left, right = port.left, port.right
    if symmetry >= NUM_ROTATIONS:
        left, right = right, left
    direction = transform_direction(port.direction, symmetry)
    return Port(x, y, direction, port.is_sink, left, right)


def transform_spec(spec: TaskSpec, symmetry: int) -> TaskSpec:
    """A task under a symmetry; target, limit, recipes and the order of ports stay.

    A turned reference may miss the target by a little: rates are not invariant (R24).
    """
    width, height = spec.width, spec.height
    cells = [transform_cell(x, y, width, height, symmetry) for x, y in spec.blocked]
    return replace(
        spec,
        width=height if symmetry % 2 else width,
        height=width if symmetry % 2 else height,
        blocked=tuple(sorted(cells)),
        ports=tuple(_transform_port(port, width, height, symmetry) for port in spec.ports),
    )


def transform_placement(put: Placement, width: int, height: int, symmetry: int) -> Placement:
    """A placement on a grid of `width` x `height` under a symmetry; recipe slots stay.

    Mirrored, it has another effect on lanes, as the task has (R32).
    """
    x, y = transform_cell(put.x, put.y, width, height, symmetry)
    is_machine = put.kind == MACHINE
    rotation = put.rotation if is_machine else transform_direction(put.rotation, symmetry)
    return Placement(put.kind, x, y, rotation)
