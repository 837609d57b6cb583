"""Layout -> `Plan`: the flat integer tables that the engine runs (R5-R10, R14, R32, R34, R37).

In: the rows of `encode.py`. Out: lanes, chains and their order, arms in acting order, machines.
"""

import numpy as np

from envs.catalogue import (
    EXTENSION_PER_TICK,
    INSERTER_REACH,
    MACHINE_SIZE,
    ROTATION_PER_TICK,
)
from envs.layout import DIRECTION_VECTORS, Layout
from envs.verifier.encode import (
    DIRECTION,
    KIND,
    LEFT,
    RECIPE,
    Rows,
    X,
    Y,
    encode,
    recipe_tables,
)
from envs.verifier.jit import allocating, entry, source_stamp
from envs.verifier.lanes import (
    RIGHT_TURN,
    STRAIGHT,
    build_chains,
    find_shapes,
    link_lanes,
    moving_order,
    neighbour,
)
from envs.verifier.records import (
    ARM,
    ASM,
    INSERTER,
    MACHINE,
    NEED,
    NONE,
    SINK,
    SOURCE,
    Plan,
    RecordArray,
)
from envs.verifier.targets import LENGTH_PER_POSITION, QUARTER, TILE

ARMS = np.array([[INSERTER_REACH, ROTATION_PER_TICK, EXTENSION_PER_TICK]], np.int32)
"""Reach, rotation and extension per tick, by arm type (R20)."""

VECTORS = np.array(DIRECTION_VECTORS, np.int32)

DROP_BEYOND = 51_200
"""Arm length by which the drop point lies beyond the tile's centre: 0.2 tile (R21) [S1]."""

MIDDLE, DROP_SHIFT = 128, 51
INNER_DROP, OUTER_DROP = 53, 147
"""Positions of drops on straight belts and turns (R32) [S1]."""

RECIPE_MACHINES, RECIPE_NEEDS = recipe_tables()


def compile_layout(layout: Layout) -> tuple[Plan, Rows]:
    """The tables of a layout, and the names that its numbers stand for. Raises LayoutError."""
    rows = encode(layout)
    plan = _build(rows.entities, layout.width, layout.height, len(rows.items))
    return Plan(*plan), rows


@allocating
def _place(rows, width, height):
    """Kind, direction and row of the entity on each tile; NONE on empty tiles."""
    tiles = np.full((3, width * height), NONE, np.int32)
    for row in range(len(rows)):
        size = MACHINE_SIZE if rows[row, KIND] == ASM else 1
        for dy in range(size):
            for dx in range(size):
                tile = (rows[row, Y] + dy) * width + rows[row, X] + dx
                tiles[0, tile] = rows[row, KIND]
                tiles[1, tile] = rows[row, DIRECTION]
                tiles[2, tile] = row
    return tiles


@allocating
def _mark_ports(rows, tiles, lanes, chains):
    """Enters sources and sinks into their chains; returns the number of sinks."""
    sinks = 0
    for tile in range(tiles.shape[1]):
        row = tiles[2, tile]
        if tiles[0, tile] == SOURCE:
            for lane in range(2):
                record = lanes[2 * tile + lane]
                chains[record.chain].source_item = rows[row, LEFT + lane]
                chains[record.chain].source_lane = 2 * tile + lane
        elif tiles[0, tile] == SINK:
            for lane in range(2):
                chains[lanes[2 * tile + lane].chain].sink = sinks
            sinks += 1
    return sinks


@allocating
def _build_machines(rows):
    """Machines in row order, and each row's machine number."""
    number_of = np.full(len(rows), NONE, np.int32)
    count = 0
    for row in range(len(rows)):
        if rows[row, KIND] == ASM:
            number_of[row] = count
            count += 1
    machines: RecordArray = np.zeros(count, MACHINE)
    needs: RecordArray = np.zeros((count, RECIPE_NEEDS.shape[1]), NEED)
    for row in range(len(rows)):
        number, recipe = number_of[row], rows[row, RECIPE]
        if number == NONE:
            continue
        machine = machines[number]
        machine.product = NONE
        if recipe == NONE:
            continue
        figures = RECIPE_MACHINES[recipe]
        machine.product, machine.craft_ticks, machine.per_craft = figures[0], figures[1], figures[2]
        machine.stop_level, machine.needs = figures[3], figures[4]
        for slot in range(machine.needs):
            need = needs[number, slot]
            need.item = RECIPE_NEEDS[recipe, slot, 0]
            need.amount = RECIPE_NEEDS[recipe, slot, 1]
            need.limit = RECIPE_NEEDS[recipe, slot, 2]
    return machines, needs, number_of


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
    ex, ey = VECTORS[drop]
    ux, uy = VECTORS[direction]
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
def _build_arms(tiles, shapes, number_of, width, height):
    """Arms that take part (R6), in acting order (R34)."""
    arms = np.zeros(tiles.shape[1], ARM)
    count = 0
    for tile in range(tiles.shape[1] - 1, -1, -1):
        if tiles[0, tile] != INSERTER:
            continue
        reach, rotation, extension = ARMS[0]
        drop = tiles[1, tile]
        facing = (drop + 2) % 4
        source = neighbour(tile, facing, reach, width, height)
        target = neighbour(tile, drop, reach, width, height)
        if source == NONE or tiles[0, source] in (NONE, INSERTER):
            continue
        if target == NONE or tiles[0, target] in (NONE, INSERTER, SOURCE):
            continue
        arm = arms[count]
        count += 1
        arm.facing, arm.reach, arm.rotation, arm.extension = facing, reach, rotation, extension
        arm.from_machine = arm.from_lane = arm.to_machine = arm.to_lane = NONE
        arm.pick_angle, arm.drop_angle = facing * QUARTER, drop * QUARTER
        arm.pick_length = LENGTH_PER_POSITION * TILE * reach
        arm.drop_length = arm.pick_length + DROP_BEYOND
        if tiles[0, source] == ASM:
            arm.from_machine = number_of[tiles[2, source]]
        else:
            _aim_pick(arm, tiles[1, source], shapes[source], source)
        if tiles[0, target] == ASM:
            arm.to_machine = number_of[tiles[2, target]]
        else:
            _aim_drop(arm, drop, tiles[1, target], shapes[target], target)
    return arms[:count].copy()


def _make_build(stamp: str):
    @entry
    def build(rows, width, height, items):
        _ = stamp
        tiles = _place(rows, width, height)
        shapes = find_shapes(tiles[0], tiles[1], width, height)
        lanes = link_lanes(tiles[0], tiles[1], shapes, width, height)
        chains, capacity = build_chains(lanes)
        sinks = _mark_ports(rows, tiles, lanes, chains)
        machines, needs, number_of = _build_machines(rows)
        arms = _build_arms(tiles, shapes, number_of, width, height)
        sizes = np.array([capacity, sinks, items])
        return lanes, chains, moving_order(chains, lanes), arms, machines, needs, sizes

    return build


_build = _make_build(source_stamp())
