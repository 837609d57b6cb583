"""What the network sees of a state: planes over the grid and a context vector.

Items and recipes appear by the task's own slots, so one network serves every recipe. Planes
`[H, W, C]`, all 0 or 1, C = 18 + 2 R + 4 I:

| planes | content |
|---|---|
| 4 | belt by direction of flow |
| 4 | inserter by drop direction |
| R | machine footprint by recipe slot |
| R | machine centre by recipe slot |
| 4 | source by direction |
| 4 | sink by direction |
| 2 I | item slot of a port by lane (left lane first) |
| 1 | blocked cell |
| 1 | inside the grid (all ones; tells a convolution where the border is) |
| 2 I | item slot that can reach the lane (`envs.reach`), or is in the machine |

Context `[G]`, G = R (2 I + 5) + I + 3, in this order: of every recipe slot the ingredients, then
the products of a craft (a quarter of their counts), its time in units of 4 s, whether it exists,
and what the target asks of it: machines at work, arms that bring its ingredients, arms that take
its products; target item one-hot; target rate in items per second; share of the placement limit
left; finished. Constant over the grid, it enters the network as a bias: constant planes would cost
a stem of three times the width at eight item slots.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt8, UInt32

from envs.actions import NUM_ROTATIONS
from envs.catalogue import CHEST_CYCLE_TICKS, TICKS_PER_S
from envs.dynamics import dilate
from envs.reach import Spread, belt_cells, reachable_items, spread_items
from envs.task_spec import BELT, INSERTER, MACHINE
from envs.types import NO_SLOT, EnvShape, State, Task

SWINGS_PER_S = TICKS_PER_S / CHEST_CYCLE_TICKS
"""Items per second of one arm between two targets that are always free (R20)."""

WORD_BITS = 32


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Observation:
    """Input of the network."""

    planes: UInt8[Array, "H W C"]
    context: Float[Array, "G"]


def num_planes(shape: EnvShape) -> int:
    """C."""
    return 18 + 2 * shape.recipe_slots + 4 * shape.item_slots


def num_context(shape: EnvShape) -> int:
    """G."""
    return shape.recipe_slots * (2 * shape.item_slots + 5) + shape.item_slots + 3


def observe(state: State, spread: Spread = spread_items) -> Observation:
    """The observation of a state; `spread` computes which items reach which lane."""
    return Observation(_planes(state, spread), _context(state))


def _planes(state: State, spread: Spread) -> UInt8[Array, "H W C"]:
    """The planes of a cell as bits of two words, which are then spread out.

    On a GPU this is five times as fast as to concatenate the groups of planes.
    """
    task, board = state.task, state.board
    items, recipes = task.ingredients.shape[1], task.craft_ticks.shape[0]
    belts = belt_cells(state)
    turn, flow = 1 << board.rotation.astype(jnp.uint32), 1 << belts.direction.astype(jnp.uint32)
    centre = jnp.where(board.entity == MACHINE + 1, turn, 0) & ((1 << recipes) - 1)
    at_port = jnp.arange(board.entity.size)[:, None] == task.port_cell  # [H*W, P]
    carried = jnp.where(task.port_items == NO_SLOT, 0, 1 << jnp.maximum(task.port_items, 0))
    of_ports = (at_port[..., None] * carried.astype(jnp.uint32)).sum(axis=1)  # [H*W, 2]
    of_ports = of_ports.reshape(*board.entity.shape, 2)
    reach = reachable_items(state, spread).astype(jnp.uint32)
    groups = [
        (jnp.where(board.entity == BELT + 1, turn, 0), NUM_ROTATIONS),
        (jnp.where(board.entity == INSERTER + 1, turn, 0), NUM_ROTATIONS),
        (dilate(centre), recipes),
        (centre, recipes),
        (jnp.where(belts.carries & ~belts.accepts, flow, 0), NUM_ROTATIONS),
        (jnp.where(belts.accepts & ~belts.feeds, flow, 0), NUM_ROTATIONS),
        (of_ports[..., 0], items),
        (of_ports[..., 1], items),
        (task.blocked.astype(jnp.uint32), 1),
        (jnp.ones_like(task.blocked, jnp.uint32), 1),
        (reach[..., 0], items),
        (reach[..., 1], items),
    ]
    return _spread_bits(groups)


def _spread_bits(groups: Sequence[tuple[UInt32[Array, "H W"], int]]) -> UInt8[Array, "H W C"]:
    """One plane for each bit; a group has the lowest bits of its cells, as many as it says."""
    words = [jnp.zeros_like(groups[0][0])] * 2
    place = 0
    for bits, width in groups:
        word, shift = divmod(place, WORD_BITS)
        words[word] |= bits << shift
        if shift + width > WORD_BITS:
            words[word + 1] |= bits >> (WORD_BITS - shift)
        place += width
    plane = jnp.arange(place, dtype=jnp.uint32)
    low, high = (word[..., None] for word in words)
    word = jnp.where(plane < WORD_BITS, low, high)
    return ((word >> (plane % WORD_BITS)) & 1).astype(jnp.uint8)


def _context(state: State) -> Float[Array, "G"]:
    task, board = state.task, state.board
    target_one_hot = jnp.arange(task.ingredients.shape[1]) == task.target_slot
    target_items_per_s = task.target_numerator / task.target_denominator
    crafts_per_s = _crafts_per_s(task, target_one_hot * target_items_per_s)
    seconds = task.craft_ticks / TICKS_PER_S
    left = (task.placement_limit - board.placed) / task.placement_limit
    parts = [
        task.ingredients / 4,
        task.products / 4,
        seconds / 4,
        task.craft_ticks > 0,
        crafts_per_s * seconds,
        crafts_per_s * task.ingredients.sum(axis=1) / SWINGS_PER_S,
        crafts_per_s * task.products.sum(axis=1) / SWINGS_PER_S,
        target_one_hot,
        jnp.stack([target_items_per_s, left, board.finished.astype(float)]),
    ]
    return jnp.concatenate([part.reshape(-1).astype(jnp.float32) for part in parts])


def _crafts_per_s(task: Task, wanted: Float[Array, "I"]) -> Float[Array, "R"]:
    """Crafts of every recipe slot per second that deliver what is wanted (items per second)."""
    per_craft = jnp.maximum(task.products.sum(axis=1), 1)
    makes = task.products > 0
    crafts = jnp.zeros(per_craft.shape)
    # Demand passes one stage on in each round; no chain is longer than the recipe slots.
    for _ in range(per_craft.shape[0]):
        crafts = makes @ (wanted + crafts @ task.ingredients) / per_craft
    return crafts
