"""Which items can reach which lane: boolean propagation over belts, arms and machines.

An optimistic, rate-free shadow of the game rules: belts pass items on (R7, R9), arms carry what
their target can use (R30, R32), a machine with every ingredient in reach makes its product.
Item slots are packed into the bits of a byte, so one step is a few bitwise operations.
"""

from functools import reduce
from operator import or_
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, UInt8

from envs.layout import DIRECTION_VECTORS
from envs.task_spec import BELT, INSERTER, MACHINE
from envs.types import NO_SLOT, State

DIRECTIONS = range(4)


class BeltCells(NamedTuple):
    """Belts and ports as one direction field."""

    direction: Int[Array, "H W"]
    carries: Bool[Array, "H W"]  # belt, source or sink
    accepts: Bool[Array, "H W"]  # belt or sink: takes items from belts and arms
    feeds: Bool[Array, "H W"]  # belt or source: passes items on
    supply: UInt8[Array, "H W 2"]  # what a source puts on each lane


def shifted(field: Array, direction: int) -> Array:
    """The field as seen by the cell one step along `direction`; zero beyond the edge.

    Entry (y, x) of the result is the value at (y, x) - vector(direction).
    """
    dx, dy = DIRECTION_VECTORS[direction]
    height, width = field.shape[:2]
    rest = ((0, 0),) * (field.ndim - 2)
    padded = jnp.pad(field, ((1, 1), (1, 1), *rest))
    return padded[1 - dy : 1 - dy + height, 1 - dx : 1 - dx + width]


def belt_cells(state: State) -> BeltCells:
    """The direction field of placed belts and ports."""
    task, board = state.task, state.board
    shape = board.entity.shape
    at_port = jnp.arange(board.entity.size)[:, None] == task.port_cell  # [H*W, P]
    port_direction = (at_port * task.port_direction).sum(axis=-1).reshape(shape)
    is_sink = (at_port & task.port_is_sink).any(axis=-1).reshape(shape)
    is_source = (at_port & ~task.port_is_sink).any(axis=-1).reshape(shape)
    fed = (task.port_items != NO_SLOT) & ~task.port_is_sink[:, None]
    port_bits = jnp.where(fed, 1 << jnp.maximum(task.port_items, 0), 0)  # [P, 2]
    supply = (at_port[..., None] * port_bits).sum(axis=1).reshape(*shape, 2)
    is_belt = board.entity == BELT + 1
    return BeltCells(
        direction=jnp.where(is_belt, board.rotation.astype(jnp.int32), port_direction),
        carries=is_belt | is_sink | is_source,
        accepts=is_belt | is_sink,
        feeds=is_belt | is_source,
        supply=supply.astype(jnp.uint8),
    )


def reachable_items(state: State) -> UInt8[Array, "H W 2"]:
    """Bit i of `[y, x, lane]`: item slot i can reach that lane (0 left, 1 right).

    On every cell of a machine both lanes show what arms can bring into it and what it makes.
    """
    belts = belt_cells(state)
    task, board = state.task, state.board
    is_machine = board.entity == MACHINE + 1
    slots = jnp.arange(task.ingredients.shape[1])
    wanted_bits = ((task.ingredients > 0) << slots).sum(axis=1).astype(jnp.uint8)  # [R]
    product_bits = ((task.products > 0) << slots).sum(axis=1).astype(jnp.uint8)
    recipe = jnp.minimum(board.rotation, task.craft_ticks.shape[0] - 1)
    wanted = jnp.where(is_machine, wanted_bits[recipe], 0).astype(jnp.uint8)
    product = jnp.where(is_machine, product_bits[recipe], 0).astype(jnp.uint8)
    wanted_over_body = _or_over_machine(wanted)
    is_arm = board.entity == INSERTER + 1
    arms = [is_arm & (board.rotation == direction) for direction in DIRECTIONS]
    turns = _turns(belts)
    from_belts = _belt_links(belts, turns)
    to_left = [_drops_left(belts, turns, direction) for direction in DIRECTIONS]

    def propagate(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        lanes, delivered, _ = carry
        content = _or_over_machine(delivered)  # at machine centres
        makes = jnp.where(is_machine & ((content & wanted) == wanted), product, 0)
        makes_over_body = _or_over_machine(makes.astype(jnp.uint8))
        takeable = lanes[..., 0] | lanes[..., 1] | makes_over_body
        new_lanes, new_delivered = lanes | from_belts(lanes), delivered
        for direction in DIRECTIONS:
            # The hand takes from behind the arm and drops one cell ahead of it.
            hand = jnp.where(arms[direction], shifted(takeable, direction), 0)
            ahead = shifted(hand.astype(jnp.uint8), direction)
            new_delivered = new_delivered | (ahead & wanted_over_body)
            left = jnp.where(belts.accepts & to_left[direction], ahead, 0)
            right = jnp.where(belts.accepts & ~to_left[direction], ahead, 0)
            new_lanes = new_lanes | jnp.stack([left, right], axis=-1)
        changed = (new_lanes != lanes).any() | (new_delivered != delivered).any()
        return new_lanes, new_delivered, changed

    start = (belts.supply, jnp.zeros_like(wanted), jnp.ones((), jnp.bool_))
    lanes, delivered, _ = jax.lax.while_loop(lambda carry: carry[2], propagate, start)
    content = _or_over_machine(delivered)
    makes = jnp.where(is_machine & ((content & wanted) == wanted), product, 0)
    inside = _or_over_machine(jnp.where(is_machine, content | makes, 0).astype(jnp.uint8))
    return lanes | inside[..., None]


def _turns(belts: BeltCells) -> tuple[Bool[Array, "H W"], Bool[Array, "H W"]]:
    """Cells that are a right turn and cells that are a left turn (R7)."""
    feeders = [
        shifted(belts.feeds & (belts.direction == direction), direction) for direction in DIRECTIONS
    ]
    behind = _select(feeders, belts.direction)
    # A feeder on the left flows to the right: its direction is one step clockwise.
    on_left = _select(feeders, (belts.direction + 1) % 4)
    on_right = _select(feeders, (belts.direction + 3) % 4)
    bends = belts.accepts & ~behind
    return bends & on_right & ~on_left, bends & on_left & ~on_right


def _belt_links(belts: BeltCells, turns: tuple[Array, Array]):
    """The function lanes -> what flows onto each lane from the belts around it (R9)."""
    is_turn = turns[0] | turns[1]
    pushes = [belts.feeds & (belts.direction == direction) for direction in DIRECTIONS]
    arrives = [
        shifted(pushes[direction], direction)
        & belts.accepts
        & (belts.direction != (direction + 2) % 4)
        for direction in DIRECTIONS
    ]

    def flow(lanes: Array) -> Array:
        result = jnp.zeros_like(lanes)
        for direction in DIRECTIONS:
            incoming = jnp.where(arrives[direction][..., None], shifted(lanes, direction), 0)
            continues = (belts.direction == direction) | is_turn
            both = incoming[..., 0] | incoming[..., 1]
            # From the left means flowing one step clockwise of the target's direction.
            from_left = belts.direction == (direction + 3) % 4
            side = jnp.stack(
                [jnp.where(from_left, both, 0), jnp.where(from_left, 0, both)], axis=-1
            )
            result = result | jnp.where(continues[..., None], incoming, side)
        return result

    return flow


def _drops_left(belts: BeltCells, turns: tuple[Array, Array], drop: int) -> Bool[Array, "H W"]:
    """Whether an arm dropping to `drop` puts its item on the left lane of a cell (R32)."""
    ex, ey = DIRECTION_VECTORS[drop]
    vectors = jnp.asarray(DIRECTION_VECTORS)
    ux, uy = vectors[belts.direction, 0], vectors[belts.direction, 1]
    straight_left = -ex * uy + ey * ux < 0
    right_turn, left_turn = turns
    sign = jnp.where(left_turn, -1, 1)
    toward_inner = ex * (ux - sign * uy) + ey * (uy + sign * ux) > 0
    # The inner lane of a right turn is its right lane, of a left turn its left lane (R8).
    turn_left = jnp.where(right_turn, ~toward_inner, toward_inner)
    return jnp.where(right_turn | left_turn, turn_left, straight_left)


def _select(fields: list[Array], index: Int[Array, "H W"]) -> Bool[Array, "H W"]:
    return reduce(or_, [field & (index == number) for number, field in enumerate(fields)])


def _or_over_machine(field: UInt8[Array, "H W"]) -> UInt8[Array, "H W"]:
    """Bitwise or over the 3x3 cells around each cell."""
    rows = field | shifted(field, 0) | shifted(field, 2)
    return rows | shifted(rows, 1) | shifted(rows, 3)
