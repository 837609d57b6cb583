"""Where an arm has to point for an item on its pickup belt, and when it is over that tile.

Builds the finite integer tables of R22 and R28 from the measured points of `turn_points.json`.
Indices: reach - 1, group g, lane, position p; g is the belt's direction relative to the arm's
facing, k, for a straight belt, 4 + k for a right turn and 8 + k for a left turn.
"""

import json
import math
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from envs.layout import DIRECTION_VECTORS

TURN = 10_000_000
"""Angle units of one turn (R1)."""
HALF = TURN // 2
QUARTER = TURN // 4

TILE = 256
"""Belt positions per tile (R1)."""
LENGTH_PER_POSITION = 1_000
"""Arm length units per 1/256 tile (R1)."""

MAX_LANE = 295
"""Longest lane of a tile: the outer lane of a turn (R8)."""
MAX_REACH = 2
LENGTHS = 800
"""Arm lengths, in 1/256 tile, for which R28 defines whether the hand is over the tile."""

_GROUPS = 12
_LANE_SIDE = (60, -60)
_NEVER = (1, -1)


class Targets(NamedTuple):
    """Tables for arms that pick from belts, all int32.

    Attributes:
        angle: `[2, 12, 2, 295]`, to which the facing has to be added.
        length: `[2, 12, 2, 295]`.
        low, high: `[2, 800]` bounds of the angle to the facing while over the tile.
    """

    angle: np.ndarray
    length: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _offsets(group: int, lane: int, points: dict[str, list[list[int]]]) -> list[tuple[int, int]]:
    """(side, forward) from the tile's centre for each position on a lane."""
    if group < 4:
        return [(_LANE_SIDE[lane], TILE // 2 - p) for p in range(TILE)]
    left_turn = group >= 8
    outer = lane == (1 if left_turn else 0)
    sign = -1 if left_turn else 1
    return [(sign * side, forward) for side, forward in points["outer" if outer else "inner"]]


def _over_tile(reach: int, length: int) -> tuple[int, int]:
    """Bounds of R28 for one whole arm length in 1/256 tile."""
    near, far = TILE * reach - TILE // 2, TILE * reach + TILE // 2
    if length < near:
        return _NEVER
    unit = TURN / (2 * math.pi)
    widest = min(math.asin(min(1.0, TILE / 2 / length)), math.acos(near / length))
    low = 0 if length <= far else math.ceil(unit * math.acos(far / length))
    return low, math.floor(unit * widest)


@cache
def targets() -> Targets:
    """The tables, built on first use."""
    points = json.loads(Path(__file__).with_name("turn_points.json").read_text())
    shape = (MAX_REACH, _GROUPS, 2, MAX_LANE)
    angle, length = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    for reach, group, lane in np.ndindex(shape[:3]):
        ux, uy = DIRECTION_VECTORS[group % 4]
        side, forward = np.array(_offsets(group, lane, points), np.float64).T
        x = forward * ux + side * uy
        y = -TILE * (reach + 1) + forward * uy - side * ux
        turns = np.arctan2(x, -y) / (2 * math.pi)
        row = (reach, group, lane, slice(len(side)))
        angle[row] = np.floor(TURN * turns + 0.5).astype(np.int64) % TURN
        length[row] = np.floor(LENGTH_PER_POSITION * np.sqrt(x * x + y * y) + 0.5)
    bounds = np.array(
        [[_over_tile(reach, span) for span in range(LENGTHS)] for reach in range(1, MAX_REACH + 1)],
        np.int32,
    )
    low, high = (np.ascontiguousarray(bounds[:, :, side]) for side in range(2))
    return Targets(angle, length, low, high)
