"""Which inserters take part, and where each picks and drops (R6, R20, R22, R27, R32, R34).

In: the entity on each tile. Out: ARM records. Compiled code only.
"""

import numpy as np

from envs.layout import DIRECTION_VECTORS
from envs.verifier.encode import ARM_PROTOTYPES, LEFT, PROTOTYPE
from envs.verifier.jit import allocating
from envs.verifier.lanes import RIGHT_TURN, STRAIGHT, neighbour
from envs.verifier.records import (
    ARM,
    ASM,
    CHEST_SINK,
    CHEST_SRC,
    FURNACE,
    INSERTER,
    NONE,
    SOURCE,
)
from envs.verifier.targets import LENGTH_PER_POSITION, QUARTER, TILE

_FIGURES = np.array(
    [
        (arm.reach_tiles, arm.rotation_per_tick, arm.extension_per_tick, arm.rounds_up)
        for arm in ARM_PROTOTYPES
    ],
    np.int32,
)
"""R20 by prototype."""

_VECTORS = np.array(DIRECTION_VECTORS, np.int32)

DROP_BEYOND = 51_200
"""Arm length by which the drop point lies beyond the tile's centre: 0.2 tile (R21) [S1]."""

MIDDLE, DROP_SHIFT = 128, 51
INNER_DROP, OUTER_DROP = 53, 147
"""Positions of drops on straight belts and turns (R32) [S1]."""


@allocating
def _make_arm(arm, drop, prototype, tile):
    """What depends on the inserter alone (R20, R21, R23, R25)."""
    reach, rotation, extension, rounds_up = _FIGURES[prototype]
    arm.tile = tile
    arm.facing, arm.reach = (drop + 2) % 4, reach
    arm.rotation, arm.extension = rotation, extension
    arm.near, arm.near_loaded = 2 * rotation, 2 * rotation + rounds_up
    arm.from_machine = arm.from_lane = arm.from_item = NONE
    arm.to_machine = arm.to_lane = arm.to_sink = NONE
    arm.pick_angle, arm.drop_angle = arm.facing * QUARTER, drop * QUARTER
    arm.pick_length = LENGTH_PER_POSITION * TILE * reach
    arm.drop_length = arm.pick_length + DROP_BEYOND


@allocating
def _aim_pick(arm, direction, shape, tile):
    """Pickup from a belt: which target tables and which lane first (R22, R27)."""
    k = (direction - arm.facing) % 4
    group = k if shape == STRAIGHT else (4 + k if shape == RIGHT_TURN else 8 + k)
    arm.from_lane = 2 * tile
    arm.group = group
    arm.first_lane = 1 if shape == STRAIGHT and k == 1 else 0


@allocating
def _aim_drop(arm, drop, direction, shape, tile):
    """Drop on a belt: which lane, and where on it (R32)."""
    ex, ey = _VECTORS[drop]
    ux, uy = _VECTORS[direction]
    if shape == STRAIGHT:
        lane = 0 if ey * ux - ex * uy < 0 else 1
        arm.to_position = MIDDLE - DROP_SHIFT * (ex * ux + ey * uy)
    else:
        s = 1 if shape == RIGHT_TURN else -1
        inside = ex * (ux - s * uy) + ey * (uy + s * ux) > 0
        inner_lane = 1 if shape == RIGHT_TURN else 0
        lane = inner_lane if inside else 1 - inner_lane
        arm.to_position = INNER_DROP if inside else OUTER_DROP
    arm.to_lane = 2 * tile + lane


@allocating
def build_arms(rows, tiles, shapes, number_of, width, height):
    """The arms that take part (R6), in acting order (R34).

    `number_of` gives the machine number of a machine's row and the sink number of a chest's.
    """
    arms = np.zeros(np.sum(tiles[0] == INSERTER), ARM)
    count = 0
    for tile in range(tiles.shape[1] - 1, -1, -1):
        if tiles[0, tile] != INSERTER:
            continue
        drop, prototype = tiles[1, tile], rows[tiles[2, tile], PROTOTYPE]
        reach = _FIGURES[prototype, 0]
        source = neighbour(tile, (drop + 2) % 4, reach, width, height)
        target = neighbour(tile, drop, reach, width, height)
        if source == NONE or tiles[0, source] in (NONE, INSERTER, CHEST_SINK):
            continue
        if target == NONE or tiles[0, target] in (NONE, INSERTER, SOURCE, CHEST_SRC):
            continue
        arm = arms[count]
        count += 1
        _make_arm(arm, drop, prototype, tile)
        from_row, to_row = tiles[2, source], tiles[2, target]
        if tiles[0, source] in (ASM, FURNACE):
            arm.from_machine = number_of[from_row]
        elif tiles[0, source] == CHEST_SRC:
            arm.from_item = rows[from_row, LEFT]
        else:
            _aim_pick(arm, tiles[1, source], shapes[source], source)
        if tiles[0, target] in (ASM, FURNACE):
            arm.to_machine = number_of[to_row]
        elif tiles[0, target] == CHEST_SINK:
            arm.to_sink = number_of[to_row]
        else:
            _aim_drop(arm, drop, tiles[1, target], shapes[target], target)
    return arms[:count].copy()
