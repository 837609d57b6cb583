"""Which items can reach which lane: boolean propagation over belts, arms and machines.

An optimistic, rate-free shadow of the game rules: belts pass items on (R7, R9), arms carry what
their target can use (R30, R32), a machine with every ingredient in reach makes its product.
Item slots are packed into the bits of a byte, so one step is a few bitwise operations.
"""

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Integer, UInt8

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


class Links(NamedTuple):
    """How items move on a board: what each cell takes from its neighbours, as codes.

    `belts[d]` is for the cell one step against direction d, `arms[d]` for the one two steps against
    it, behind an arm that drops to d. Bits of items: what starts on the lanes, what the machine
    over a cell can use, and, at the centres of machines, what they need and make.
    """

    belts: tuple[Int[Array, "H W"], ...]
    arms: tuple[Int[Array, "H W"], ...]
    supply: UInt8[Array, "H W 2"]
    usable: UInt8[Array, "H W"]
    is_machine: Bool[Array, "H W"]  # at centres
    wanted: UInt8[Array, "H W"]
    product: UInt8[Array, "H W"]


KEEP, TO_LEFT, TO_RIGHT, TO_MACHINE = 1, 2, 3, 4
"""Codes of links: lane to lane, both lanes to one, or into the machine. 0 is no link."""


def find_links(state: State) -> Links:
    """The links of a board; they do not depend on what flows."""
    belts = belt_cells(state)
    task, board = state.task, state.board
    is_machine = board.entity == MACHINE + 1
    slots = jnp.arange(task.ingredients.shape[1])
    wanted_bits = ((task.ingredients > 0) << slots).sum(axis=1).astype(jnp.uint8)  # [R]
    product_bits = ((task.products > 0) << slots).sum(axis=1).astype(jnp.uint8)
    recipe = jnp.minimum(board.rotation, task.craft_ticks.shape[0] - 1)
    wanted = jnp.where(is_machine, wanted_bits[recipe], 0).astype(jnp.uint8)
    product = jnp.where(is_machine, product_bits[recipe], 0).astype(jnp.uint8)
    usable = over_machine(wanted)
    is_arm = board.entity == INSERTER + 1
    turns = _turns(belts)
    arms = []
    for direction in DIRECTIONS:
        has_arm = shifted(is_arm & (board.rotation == direction), direction)
        side = jnp.where(_drops_left(belts, turns, direction), TO_LEFT, TO_RIGHT)
        into = jnp.where(belts.accepts, side, jnp.where(usable > 0, TO_MACHINE, 0))
        arms.append(jnp.where(has_arm, into, 0))
    return Links(
        belts=_belt_links(belts, turns),
        arms=tuple(arms),
        supply=belts.supply,
        usable=usable,
        is_machine=is_machine,
        wanted=wanted,
        product=product,
    )


def pass_on(code: Array, left: Array, right: Array, usable: Array) -> tuple[Array, Array, Array]:
    """What reaches a cell over a link: its left lane, its right lane, its machine (R9, R32)."""
    both = left | right
    to_left = jnp.where(code == KEEP, left, jnp.where(code == TO_LEFT, both, 0))
    to_right = jnp.where(code == KEEP, right, jnp.where(code == TO_RIGHT, both, 0))
    to_machine = jnp.where(code == TO_MACHINE, both & usable, 0)
    kind = left.dtype
    return to_left.astype(kind), to_right.astype(kind), to_machine.astype(kind)


def join(
    bits: tuple[Array, Array, Array], more: tuple[Array, Array, Array]
) -> tuple[Array, Array, Array]:
    """Both, item by item."""
    return bits[0] | more[0], bits[1] | more[1], bits[2] | more[2]


Spread = Callable[[Links], UInt8[Array, "H W 2"]]


def spread_items(links: Links) -> UInt8[Array, "H W 2"]:
    """What `reachable_items` returns, from the links of a board."""

    def made(delivered: Array) -> tuple[Array, Array]:
        content = over_machine(delivered)  # at machine centres
        can_make = links.is_machine & ((content & links.wanted) == links.wanted)
        return content, jnp.where(can_make, links.product, 0).astype(jnp.uint8)

    def propagate(carry: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        left, right, delivered, _ = carry
        takeable = left | right | over_machine(made(delivered)[1])
        new = left, right, delivered
        for direction in DIRECTIONS:
            behind = shifted(left, direction), shifted(right, direction)
            new = join(new, pass_on(links.belts[direction], *behind, links.usable))
            taken = shifted(shifted(takeable, direction), direction)
            new = join(new, pass_on(links.arms[direction], taken, taken, links.usable))
        changed = (new[0] != left) | (new[1] != right) | (new[2] != delivered)
        return *new, changed.any()

    supply = links.supply[..., 0], links.supply[..., 1]
    start = (*supply, jnp.zeros_like(links.wanted), jnp.ones((), jnp.bool_))
    left, right, delivered, _ = jax.lax.while_loop(lambda carry: carry[3], propagate, start)
    content, makes = made(delivered)
    inside = over_machine(jnp.where(links.is_machine, content | makes, 0).astype(jnp.uint8))
    return jnp.stack([left | inside, right | inside], axis=-1)


def reachable_items(state: State, spread: Spread = spread_items) -> UInt8[Array, "H W 2"]:
    """Bit i of `[y, x, lane]`: item slot i can reach that lane (0 left, 1 right).

    On every cell of a machine both lanes show what arms can bring into it and what it makes.
    `spread` follows the links, by itself or by the kernel of `reach_kernel.py`.
    """
    return spread(find_links(state))


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


def _belt_links(belts: BeltCells, turns: tuple[Array, Array]) -> tuple[Int[Array, "H W"], ...]:
    """What each cell takes from the belt that flows into it, by direction of flow (R9)."""
    is_turn = turns[0] | turns[1]
    codes = []
    for direction in DIRECTIONS:
        pushed = shifted(belts.feeds & (belts.direction == direction), direction)
        head_on = belts.direction == (direction + 2) % 4
        # From the left means flowing one step clockwise of the target's direction.
        from_left = belts.direction == (direction + 3) % 4
        side = jnp.where(from_left, TO_LEFT, TO_RIGHT)
        code = jnp.where((belts.direction == direction) | is_turn, KEEP, side)
        codes.append(jnp.where(pushed & belts.accepts & ~head_on, code, 0))
    return tuple(codes)


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


def over_machine(field: Integer[Array, "H W"]) -> Integer[Array, "H W"]:
    """Bitwise or over the 3x3 cells around each cell."""
    rows = field | shifted(field, 0) | shifted(field, 2)
    return rows | shifted(rows, 1) | shifted(rows, 3)
