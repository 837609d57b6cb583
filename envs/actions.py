"""The action numbering: ((kind * H * W + cell) * 4 + rotation), and finish as the last id.

Kind 0 is a machine (cell = its centre, rotation = recipe slot), 1 a belt (rotation = flow),
2 an inserter (rotation = drop direction); cell = y * W + x. Plain integer arithmetic: works on
Python ints, numpy and jax arrays alike. 12x12 gives 1729 actions.
"""

from envs.task_spec import Placement

NUM_KINDS = 3
NUM_ROTATIONS = 4


def num_actions(height: int, width: int) -> int:
    """Number of actions A on a grid of `height` x `width`."""
    return NUM_KINDS * height * width * NUM_ROTATIONS + 1


def finish_action(height: int, width: int) -> int:
    """The id that ends an episode."""
    return num_actions(height, width) - 1


def encode(placement: Placement, height: int, width: int) -> int:
    """The action that makes this placement."""
    cell = placement.y * width + placement.x
    return (placement.kind * height * width + cell) * NUM_ROTATIONS + placement.rotation


def decode(action: int, height: int, width: int) -> Placement:
    """The placement of an action. Raises ValueError for finish and out-of-range ids."""
    if not 0 <= action < finish_action(height, width):
        raise ValueError(
            f"action {action} is no placement; allowed are 0 to {finish_action(height, width) - 1}"
        )
    kind_cell, rotation = divmod(action, NUM_ROTATIONS)
    kind, cell = divmod(kind_cell, height * width)
    y, x = divmod(cell, width)
    return Placement(kind, x, y, rotation)
