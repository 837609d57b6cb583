"""The rules of building: reset, step, legal actions. Unbatched, pure, integer; `vmap` them.

An episode places entities one at a time and ends with finish or at the placement limit. No
reward is paid here: the score of a finished layout comes from the exact verifier.
"""

from dataclasses import replace

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, UInt32

from envs.actions import NUM_ROTATIONS, finish_action
from envs.task_spec import BELT, INSERTER, MACHINE
from envs.types import EMPTY, Board, State, Task


def reset(task: Task) -> State:
    """The empty board of a task."""
    zeros = jnp.zeros(task.blocked.shape, jnp.uint8)
    board = Board(zeros, zeros, jnp.zeros((), jnp.int32), jnp.zeros((), jnp.bool_))
    return State(task, board)


def step(state: State, action: Int[Array, ""]) -> State:
    """The state after an action.

    Whether the action is legal is not checked: take it from `legal_actions`. A finished state
    is frozen, every action leaves it as it is.
    """
    task, board = state.task, state.board
    height, width = board.entity.shape
    is_finish = action == finish_action(height, width)
    kind_cell, rotation = jnp.divmod(action, NUM_ROTATIONS)
    kind, cell = jnp.divmod(kind_cell, height * width)
    places = ~board.finished & ~is_finish
    here = (jnp.arange(height * width).reshape(height, width) == cell) & places
    placed = board.placed + places.astype(jnp.int32)
    moved = Board(
        entity=jnp.where(here, (kind + 1).astype(jnp.uint8), board.entity),
        rotation=jnp.where(here, rotation.astype(jnp.uint8), board.rotation),
        placed=placed,
        finished=board.finished | is_finish | (placed >= task.placement_limit),
    )
    return replace(state, board=moved)


def legal_actions(state: State, *, growth_rule: bool = True) -> Bool[Array, "A"]:
    """Which actions are legal.

    A footprint must be free and inside the grid, a recipe slot must exist, both end cells of an
    inserter must be inside; with `growth_rule` the footprint must be 4-adjacent to a port or to
    something placed. Finish is always legal, and nothing else is in a finished state.
    """
    task = state.task
    shape = task.blocked.shape
    occupied = occupied_cells(state)
    free = ~occupied
    grown_from = occupied & ~task.blocked
    frontier = _neighbours(grown_from) if growth_rule else jnp.ones(shape, jnp.bool_)
    single = free & frontier
    machine_free = ~dilate(occupied) & _inside(shape, 1, 1, 1, 1)
    machine = machine_free & dilate(frontier)
    slots = (
        jnp.zeros(NUM_ROTATIONS, jnp.bool_)
        .at[: task.craft_ticks.shape[0]]
        .set(task.craft_ticks > 0)
    )
    vertical, horizontal = _inside(shape, 1, 1, 0, 0), _inside(shape, 0, 0, 1, 1)
    arms_inside = jnp.stack([vertical, horizontal, vertical, horizontal], axis=-1)
    every = jnp.ones(NUM_ROTATIONS, jnp.bool_)
    by_kind = {
        MACHINE: machine[..., None] & slots,
        BELT: single[..., None] & every,
        INSERTER: single[..., None] & arms_inside,
    }
    planes = jnp.stack([by_kind[MACHINE], by_kind[BELT], by_kind[INSERTER]])
    placements = planes.reshape(-1) & ~state.board.finished
    return jnp.concatenate([placements, jnp.ones(1, jnp.bool_)])


def occupied_cells(state: State) -> Bool[Array, "H W"]:
    """Cells that a blocked cell, a port or a footprint takes."""
    task, board = state.task, state.board
    machines = dilate(board.entity == MACHINE + 1)
    return task.blocked | port_cells(task) | (board.entity != EMPTY) | machines


def port_cells(task: Task) -> Bool[Array, "H W"]:
    """Cells of the ports."""
    height, width = task.blocked.shape
    cells = jnp.arange(height * width)
    return (cells[:, None] == task.port_cell).any(axis=-1).reshape(height, width)


def _inside(
    shape: tuple[int, ...], top: int, bottom: int, left: int, right: int
) -> Bool[Array, "H W"]:
    """Cells with at least so many cells above, below, left and right of them."""
    y, x = jnp.arange(shape[0])[:, None], jnp.arange(shape[1])[None, :]
    rows = (y >= top) & (y < shape[0] - bottom)
    return rows & (x >= left) & (x < shape[1] - right)


def _neighbours(cells: Bool[Array, "H W"]) -> Bool[Array, "H W"]:
    """Cells 4-adjacent to one of `cells`."""
    padded = jnp.pad(cells, 1)
    return padded[:-2, 1:-1] | padded[2:, 1:-1] | padded[1:-1, :-2] | padded[1:-1, 2:]


def dilate(
    cells: Bool[Array, "H W"] | UInt32[Array, "H W"],
) -> Bool[Array, "H W"] | UInt32[Array, "H W"]:
    """Cells whose 3x3 surroundings hold one of `cells`; cells outside count as free.

    Of integers each bit by itself.
    """
    rows = jnp.pad(cells, ((1, 1), (0, 0)))
    rows = rows[:-2] | rows[1:-1] | rows[2:]
    columns = jnp.pad(rows, ((0, 0), (1, 1)))
    return columns[:, :-2] | columns[:, 1:-1] | columns[:, 2:]
