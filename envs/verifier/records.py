"""Flat integer records that the compiled verifier works on.

A `Plan` holds what never changes while a layout runs, a `State` what does. `compile.py` makes
plans, `state.py` makes, packs and compares states. Lane id = 2 * (y * width + x) + lane.
"""

from typing import Any, NamedTuple

import numpy as np

BELT, SOURCE, SINK, INSERTER, ASM = range(5)
"""Entity kinds by number, in the order of `layout.KINDS`."""

DEAD_END, CONTINUE, SIDELOAD, DRAIN = range(4)
"""What happens at a lane's downstream edge (R9, R18)."""

RETURN, WAIT_PICK, CARRY, WAIT_DROP = range(4)
"""Phases of an arm (R26)."""

CHASE_NOTHING, CHASE_LEFT, CHASE_RIGHT, CHASE_GONE = range(4)
"""What an arm chases: an item on the left or right lane of its tile, or one taken away (R44)."""

NONE = -1
"""No item, machine, lane or chain."""

LANE = np.dtype(
    [
        ("length", np.int32),
        ("chain", np.int32),
        ("offset", np.int32),  # chain coordinate of the lane's downstream edge
        ("link", np.int32),
        ("target", np.int32),  # lane id that the link leads to
        ("entry", np.int32),  # entry point of a sideload on the target lane (R9)
    ]
)

CHAIN = np.dtype(
    [
        ("base", np.int32),  # first index of the chain's own part of the item arrays
        ("total", np.int32),  # sum of its lane lengths
        ("is_loop", np.int32),
        ("front", np.int32),  # lane id that ends the chain; of a loop, its first lane
        ("sink", np.int32),
        ("source_item", np.int32),
        ("source_lane", np.int32),  # lane id of the source that feeds the chain
    ]
)

ARM = np.dtype(
    [
        ("facing", np.int32),  # direction of the pickup tile (R21)
        ("reach", np.int32),
        ("rotation", np.int32),
        ("extension", np.int32),
        ("from_machine", np.int32),
        ("from_lane", np.int32),  # left lane of the pickup tile
        ("group", np.int32),  # first index of the target tables (R22)
        ("first_lane", np.int32),  # lane looked at first (R27)
        ("to_machine", np.int32),
        ("to_lane", np.int32),
        ("to_position", np.int32),
        ("pick_angle", np.int32),
        ("pick_length", np.int32),
        ("drop_angle", np.int32),
        ("drop_length", np.int32),
    ]
)

MACHINE = np.dtype(
    [
        ("product", np.int32),
        ("craft_ticks", np.int32),
        ("per_craft", np.int32),
        ("stop_level", np.int32),
        ("needs", np.int32),  # number of ingredients, 0 without a recipe
    ]
)

NEED = np.dtype([("item", np.int32), ("amount", np.int32), ("limit", np.int32)])

CHAIN_STATE = np.dtype(
    [
        ("first", np.int32),  # index of the front item
        ("count", np.int32),
        ("feed", np.int32),  # v of R17
        ("drained", np.int32),  # z of R18
        ("settled", np.int32),  # items in front that stand packed against a blocked end
        ("squeezed", np.int32),  # no item behind this index is closer than 64 to the one ahead
    ]
)

ARM_STATE = np.dtype(
    [
        ("angle", np.int32),
        ("length", np.int32),
        ("phase", np.int32),
        ("held", np.int32),
        ("chase", np.int32),
        ("index", np.int32),  # of the chased item in the item arrays
    ]
)

MACHINE_STATE = np.dtype([("remaining", np.int32), ("made", np.int32)])


RecordArray = Any
"""A numpy array of the records above, whose fields type checkers cannot know."""


class Plan(NamedTuple):
    """What is fixed for a layout.

    Attributes:
        lanes: `[2 * tiles]` LANE.
        chains: `[C]` CHAIN; open chains, then loops, numbered by R14.
        order: `[C]` int32, chains in moving order (R14).
        arms: `[A]` ARM, in acting order (R34).
        machines: `[M]` MACHINE.
        needs: `[M, K]` NEED.
        sizes: `[3]` int64: length of the item arrays, number of sinks, number of item names.
    """

    lanes: RecordArray
    chains: RecordArray
    order: np.ndarray
    arms: RecordArray
    machines: RecordArray
    needs: RecordArray
    sizes: np.ndarray


class State(NamedTuple):
    """What changes.

    Attributes:
        chains: `[C]` CHAIN_STATE.
        position, item: int32, the chains' items front first, each chain in its own part.
        moves: int32 scratch space for the moves on a loop.
        arms: `[A]` ARM_STATE.
        machines: `[M]` MACHINE_STATE.
        stock: `[M, K]` int32 ingredient counts.
        delivered: `[sinks, items]` int64 counters (R43); not part of the game's state.
    """

    chains: RecordArray
    position: np.ndarray
    item: np.ndarray
    moves: np.ndarray
    arms: RecordArray
    machines: RecordArray
    stock: np.ndarray
    delivered: np.ndarray
