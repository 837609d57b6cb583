"""`spread_items` as one GPU program per board (Pallas, Triton).

The propagation of `reach.py` takes as many rounds as the longest way has cells, up to a hundred. As
a JAX loop every round is several launches and a predicate that the host waits for; here all rounds
of a board run within one program. The links of a board come packed into integers, one per cell:

    code     2 bits per belt direction, 3 per arm direction, 1 for a machine's centre
    bits     items on the left and right lane at the start, items that a machine here can use
    machine  at a centre, items wanted and made

Cells see each other through arrays in memory, with a barrier between writing and reading. Even the
largest boards have no more than 1,024 cells: those arrays stay in the cache of one multiprocessor.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plgpu
from jaxtyping import Array, UInt8

from envs.layout import DIRECTION_VECTORS
from envs.reach import DIRECTIONS, Links, join, over_machine, pass_on

NUM_WARPS = 2
_BYTE = 0xFF
_AROUND = [(dx, dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]


def spread_items_by_kernel(links: Links) -> UInt8[Array, "H W 2"]:
    """The same as `reach.spread_items`; on a CPU the program is interpreted."""
    height, width = links.wanted.shape
    inputs = [packed.reshape(-1) for packed in _pack(links)]
    cells = jax.ShapeDtypeStruct(inputs[0].shape, jnp.int32)
    interpret = jax.default_backend() == "cpu"

    def reach(
        code: Any, bits: Any, machine: Any, home: Any, out: Any, made: Any, taken: Any
    ) -> None:
        _propagate(code, bits, machine, home, out, made, taken, (height, width), interpret)

    packed, _, _ = pl.pallas_call(
        reach,
        out_shape=(cells, cells, cells),
        compiler_params=plgpu.CompilerParams(num_warps=NUM_WARPS, num_stages=1),
        interpret=interpret,
    )(*inputs)
    lanes = jnp.stack([packed & _BYTE, (packed >> 8) & _BYTE], axis=-1)
    return lanes.reshape(height, width, 2).astype(jnp.uint8)


def _pack(links: Links) -> tuple[Array, Array, Array, Array]:
    code = links.is_machine.astype(jnp.int32) << 20
    for direction in DIRECTIONS:
        code |= links.belts[direction].astype(jnp.int32) << (2 * direction)
        code |= links.arms[direction].astype(jnp.int32) << (8 + 3 * direction)
    supply = links.supply.astype(jnp.int32)
    bits = supply[..., 0] | supply[..., 1] << 8 | links.usable.astype(jnp.int32) << 16
    machine = links.wanted.astype(jnp.int32) | links.product.astype(jnp.int32) << 8
    return code, bits, machine, _homes(links)


def _homes(links: Links) -> Array:
    """`[H, W]` for each cell of a machine the number of its centre's cell, elsewhere -1."""
    numbers = jnp.arange(links.wanted.size).reshape(links.wanted.shape)
    # Bodies do not overlap: around a cell there is one centre, if any.
    return over_machine(jnp.where(links.is_machine, numbers + 1, 0)).astype(jnp.int32) - 1


def _propagate(
    code_ref: Any,
    bits_ref: Any,
    machine_ref: Any,
    home_ref: Any,
    out_ref: Any,
    made_ref: Any,
    taken_ref: Any,
    shape: tuple[int, int],
    interpret: bool,
) -> None:
    """Rounds until nothing changes. `out` holds left, right and delivered items of each cell."""
    height, width = shape
    cell = jax.lax.iota(jnp.int32, pl.next_power_of_2(height * width))
    inside = cell < height * width
    y, x = cell // width, cell % width

    def read(ref: Any, at: Array = cell, mask: Array = inside) -> Array:
        return plgpu.load(ref.at[at], mask=mask, other=0)

    def write(ref: Any, values: Array) -> None:
        plgpu.store(ref.at[cell], values, mask=inside)

    def behind(ref: Any, direction: int, steps: int) -> Array:
        dx, dy = (steps * step for step in DIRECTION_VECTORS[direction])
        on_grid = inside & (x >= dx) & (x - dx < width) & (y >= dy) & (y - dy < height)
        return read(ref, jnp.where(on_grid, cell - dy * width - dx, 0), on_grid)

    def wait() -> None:
        if not interpret:
            plgpu.debug_barrier()

    code, bits, machine = read(code_ref), read(bits_ref), read(machine_ref)
    home = plgpu.load(home_ref.at[cell], mask=inside, other=-1)
    is_body, home = home >= 0, jnp.maximum(home, 0)
    is_centre = ((code >> 20) & 1) > 0
    wanted, product, usable = machine & _BYTE, machine >> 8, bits >> 16

    def make() -> Array:
        """Items that arms have brought to a centre and, if they suffice, what it makes of them."""
        content = jnp.zeros_like(code)
        for dx, dy in _AROUND:
            near = jnp.where(is_centre, cell + dy * width + dx, 0)
            content |= read(out_ref, near, is_centre) >> 16
        return content | jnp.where((content & wanted) == wanted, product, 0) << 8

    def share_made() -> Array:
        """What the machine over each cell holds and makes, as `make` packs it."""
        write(made_ref, jnp.where(is_centre, make(), 0))
        wait()
        return read(made_ref, home, is_body)

    def round_(carry: Any) -> Any:
        left, right, delivered, _ = carry
        write(taken_ref, left | right | share_made() >> 8)
        wait()
        new = left, right, delivered
        for direction in DIRECTIONS:
            lanes = behind(out_ref, direction, 1)
            link = (code >> (2 * direction)) & 3
            new = join(new, pass_on(link, lanes & _BYTE, (lanes >> 8) & _BYTE, usable))
            taken = behind(taken_ref, direction, 2)
            new = join(new, pass_on((code >> (8 + 3 * direction)) & 7, taken, taken, usable))
        wait()  # until all have read
        write(out_ref, new[0] | new[1] << 8 | new[2] << 16)
        wait()
        differs = (new[0] != left) | (new[1] != right) | (new[2] != delivered)
        return *new, jnp.max(differs.astype(jnp.int32))

    write(out_ref, bits & 0xFFFF)
    wait()
    start = bits & _BYTE, (bits >> 8) & _BYTE, jnp.zeros_like(bits), jnp.int32(1)
    left, right, _, _ = jax.lax.while_loop(lambda carry: carry[3] > 0, round_, start)
    held = share_made()
    shown = (held | held >> 8) & _BYTE
    write(out_ref, left | shown | (right | shown) << 8)
