"""Layout -> `Plan`: the flat integer tables that the engine runs (R5-R10, R14, R32, R34, R37).

In: the rows of `encode.py`. Out: lanes, chains and their order, arms in acting order, machines,
cut into parts that do not touch one another.
"""

import numpy as np

from envs.layout import Layout
from envs.verifier.arm_plans import build_arms
from envs.verifier.encode import (
    DIRECTION,
    KIND,
    LEFT,
    MACHINE_PROTOTYPES,
    PROTOTYPE,
    RECIPE,
    Rows,
    X,
    Y,
    encode,
    recipe_tables,
)
from envs.verifier.jit import allocating, entry, source_stamp
from envs.verifier.lanes import build_chains, find_shapes, link_lanes, moving_order
from envs.verifier.parts import cut
from envs.verifier.records import (
    ASM,
    CHEST_SINK,
    FURNACE,
    MACHINE,
    NEED,
    NONE,
    SINK,
    SOURCE,
    Plan,
    RecordArray,
)

_RECIPE_MACHINES, _RECIPE_NEEDS = recipe_tables()

_SIZES = np.array([machine.size for machine in MACHINE_PROTOTYPES], np.int32)


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
        is_machine = rows[row, KIND] in (ASM, FURNACE)
        size = _SIZES[rows[row, PROTOTYPE]] if is_machine else 1
        for dy in range(size):
            for dx in range(size):
                tile = (rows[row, Y] + dy) * width + rows[row, X] + dx
                tiles[0, tile] = rows[row, KIND]
                tiles[1, tile] = rows[row, DIRECTION]
                tiles[2, tile] = row
    return tiles


@allocating
def _mark_ports(rows, tiles, lanes, chains):
    """Enters sources and sinks into their chains; the number of each row's sink (R43)."""
    number_of = np.full(len(rows), NONE, np.int32)
    sinks = 0
    for tile in range(tiles.shape[1]):
        kind, row = tiles[0, tile], tiles[2, tile]
        if kind == SOURCE:
            for lane in range(2):
                record = lanes[2 * tile + lane]
                chains[record.chain].source_item = rows[row, LEFT + lane]
                chains[record.chain].source_lane = 2 * tile + lane
        elif kind in (SINK, CHEST_SINK):
            number_of[row] = sinks
            for lane in range(2 if kind == SINK else 0):
                chains[lanes[2 * tile + lane].chain].sink = sinks
            sinks += 1
    return number_of


@allocating
def _build_machines(rows, width, number_of):
    """Machines in row order, and their needs; enters each row's machine number."""
    count = 0
    for row in range(len(rows)):
        if rows[row, KIND] in (ASM, FURNACE):
            number_of[row] = count
            count += 1
    machines: RecordArray = np.zeros(count, MACHINE)
    needs: RecordArray = np.zeros((count, _RECIPE_NEEDS.shape[1]), NEED)
    for row in range(len(rows)):
        if rows[row, KIND] not in (ASM, FURNACE):
            continue
        machine, recipe = machines[number_of[row]], rows[row, RECIPE]
        machine.tile = rows[row, Y] * width + rows[row, X]
        machine.product = NONE
        if recipe == NONE:
            continue
        figures = _RECIPE_MACHINES[recipe]
        machine.product, machine.craft_ticks, machine.per_craft = figures[0], figures[1], figures[2]
        machine.stop_level, machine.needs = figures[3], figures[4]
        for slot in range(machine.needs):
            need = needs[number_of[row], slot]
            need.item = _RECIPE_NEEDS[recipe, slot, 0]
            need.amount = _RECIPE_NEEDS[recipe, slot, 1]
            need.limit = _RECIPE_NEEDS[recipe, slot, 2]
    return machines, needs


def _make_build(stamp: str):
    @entry
    def build(rows, width, height, items):
        _ = stamp
        tiles = _place(rows, width, height)
        shapes = find_shapes(tiles[0], tiles[1], width, height)
        lanes = link_lanes(tiles[0], tiles[1], shapes, width, height)
        chains = build_chains(lanes)
        number_of = _mark_ports(rows, tiles, lanes, chains)
        machines, needs = _build_machines(rows, width, number_of)
        arms = build_arms(rows, tiles, shapes, number_of, width, height)
        order = moving_order(chains, lanes)
        return cut(lanes, chains, order, arms, machines, needs, items)

    return build


_build = _make_build(source_stamp())
