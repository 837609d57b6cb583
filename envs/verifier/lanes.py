"""Belt lanes of a layout: shapes, lengths, links, chains, loops and moving order (R7-R10, R14).

In: kind and direction of the entity on each tile. Out: LANE and CHAIN records and the order.
Compiled code only.
"""

import numpy as np

from envs.verifier.jit import allocating
from envs.verifier.records import (
    BELT,
    CHAIN,
    CONTINUE,
    DEAD_END,
    DRAIN,
    LANE,
    NONE,
    SIDELOAD,
    SINK,
    SOURCE,
)

STRAIGHT, RIGHT_TURN, LEFT_TURN = range(3)

STRAIGHT_LENGTH, OUTER_LENGTH, INNER_LENGTH = 256, 295, 106
"""Lane lengths in 1/256 tile (R8) [S1]."""

ENTRY_UPSTREAM, ENTRY_DOWNSTREAM = 188, 67
"""Where sideloaded items enter a lane (R9) [S1]."""

SPARE = 64
"""Indices by which a chain's items may wander in the item arrays before they are moved back."""


@allocating
def neighbour(tile, direction, distance, width, height):
    """The tile `distance` steps towards a direction, NONE outside the grid."""
    x, y = tile % width, tile // width
    if direction == 0:
        y -= distance
    elif direction == 1:
        x += distance
    elif direction == 2:
        y += distance
    else:
        x -= distance
    return y * width + x if 0 <= x < width and 0 <= y < height else NONE


@allocating
def _feeds(kinds, directions, tile, side, width, height):
    """Whether the neighbour on a side of a tile is a feeder (R7)."""
    other = neighbour(tile, side, 1, width, height)
    if other == NONE or (kinds[other] != BELT and kinds[other] != SOURCE):
        return False
    return directions[other] == (side + 2) % 4


@allocating
def find_shapes(kinds, directions, width, height):
    """Shape of each tile's belt (R7)."""
    shapes = np.zeros(len(kinds), np.int32)
    for tile in range(len(kinds)):
        if kinds[tile] != BELT and kinds[tile] != SINK:
            continue
        ahead = directions[tile]
        if _feeds(kinds, directions, tile, (ahead + 2) % 4, width, height):
            continue
        right = _feeds(kinds, directions, tile, (ahead + 1) % 4, width, height)
        left = _feeds(kinds, directions, tile, (ahead + 3) % 4, width, height)
        if right != left:
            shapes[tile] = RIGHT_TURN if right else LEFT_TURN
    return shapes


@allocating
def lane_length(shape, lane):
    """Length of a lane of a tile (R8)."""
    if shape == STRAIGHT:
        return STRAIGHT_LENGTH
    return OUTER_LENGTH if (shape == RIGHT_TURN) == (lane == 0) else INNER_LENGTH


@allocating
def _link_tile(lanes, kinds, directions, shapes, tile, ahead):
    """Links both lanes of a belt or source to the tile ahead of it (R9)."""
    if ahead == NONE or (kinds[ahead] != BELT and kinds[ahead] != SINK):
        return
    turn = (directions[ahead] - directions[tile]) % 4
    if turn == 2:
        return
    for lane in range(2):
        record = lanes[2 * tile + lane]
        if turn == 0 or shapes[ahead] != STRAIGHT:
            record.link, record.target = CONTINUE, 2 * ahead + lane
            continue
        # With turn 1 this belt comes from the right of the one ahead, with turn 3 from its left.
        record.link, record.target = SIDELOAD, 2 * ahead + (1 if turn == 1 else 0)
        upstream = lane == (0 if turn == 1 else 1)
        record.entry = ENTRY_UPSTREAM if upstream else ENTRY_DOWNSTREAM


@allocating
def link_lanes(kinds, directions, shapes, width, height):
    """LANE records with lengths and links; lanes of other tiles have length 0."""
    lanes = np.zeros(2 * len(kinds), LANE)
    for tile in range(len(kinds)):
        for lane in range(2):
            record = lanes[2 * tile + lane]
            record.chain = record.target = NONE
            record.link = DRAIN if kinds[tile] == SINK else DEAD_END
            if 0 <= kinds[tile] <= SINK:
                record.length = lane_length(shapes[tile], lane)
        if kinds[tile] == BELT or kinds[tile] == SOURCE:
            ahead = neighbour(tile, directions[tile], 1, width, height)
            _link_tile(lanes, kinds, directions, shapes, tile, ahead)
    return lanes


@allocating
def _collect(lanes, behind, front, number):
    """Gives the lanes of one chain its number and their offsets, from the front (R10)."""
    total, lane = 0, front
    while lane != NONE and lanes[lane].chain == NONE:
        lanes[lane].chain = number
        lanes[lane].offset = total
        total += lanes[lane].length
        lane = behind[lane]
    return total


@allocating
def build_chains(lanes):
    """CHAIN records numbered by R14."""
    behind = np.full(len(lanes), NONE, np.int32)
    for lane in range(len(lanes)):
        if lanes[lane].length and lanes[lane].link == CONTINUE:
            behind[lanes[lane].target] = lane
    chains = np.zeros(len(lanes), CHAIN)
    count = 0
    for is_loop in range(2):
        for lane in range(len(lanes)):
            if lanes[lane].length == 0 or lanes[lane].chain != NONE:
                continue
            if not is_loop and lanes[lane].link == CONTINUE:
                continue
            chain = chains[count]
            chain.is_loop, chain.front = is_loop, lane
            chain.sink = chain.source_item = NONE
            chain.total = _collect(lanes, behind, lane, count)
            count += 1
    return chains[:count].copy()


@allocating
def _visit(chains, lanes, start, visited, order, done):
    """Appends a chain after those it sideloads into (R14); returns the new length."""
    path = np.empty(len(chains), np.int32)
    depth, chain = 0, start
    while chain != NONE and not visited[chain]:
        visited[chain] = True
        path[depth] = chain
        depth += 1
        front = lanes[chains[chain].front]
        chain = lanes[front.target].chain if front.link == SIDELOAD else NONE
    for step in range(depth - 1, -1, -1):
        order[done] = path[step]
        done += 1
    return done


@allocating
def _by_entry(chains, lanes):
    """Chain numbers sorted by entry point on the target, -1 without a sideload (R14)."""
    count = len(chains)
    keys = np.empty(count, np.int64)
    ranked = np.empty(count, np.int32)
    for number in range(count):
        front = lanes[chains[number].front]
        key = lanes[front.target].offset + front.entry if front.link == SIDELOAD else -1
        place = number
        while place > 0 and keys[place - 1] > key:
            keys[place], ranked[place] = keys[place - 1], ranked[place - 1]
            place -= 1
        keys[place], ranked[place] = key, number
    return ranked


@allocating
def moving_order(chains, lanes):
    """Chains in the order in which they move (R14)."""
    order = np.empty(len(chains), np.int32)
    visited = np.zeros(len(chains), np.bool_)
    done = 0
    for number in _by_entry(chains, lanes):
        done = _visit(chains, lanes, number, visited, order, done)
    return order
