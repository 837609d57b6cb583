"""Flat integer records that the compiled verifier works on.

A `Plan` holds what never changes while a layout runs, a `State` what does. `compile.py` makes
plans, `parts.py` cuts them into independent parts, `state.py` makes, packs and compares
states. Lane id = 2 * (y * width + x) + lane. Numbers of chains, arms, machines and sinks inside the
records count from the first one of their part.
"""

from typing import Any, NamedTuple

import numpy as np

BELT, SOURCE, SINK, INSERTER, ASM, FURNACE, CHEST_SRC, CHEST_SINK = range(8)
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
        ("first_picker", np.int32),  # index in `Plan.pickers`
        ("picker_count", np.int32),
    ]
)

ARM = np.dtype(
    [
        ("tile", np.int32),  # y * width + x
        ("facing", np.int32),  # direction of the pickup tile (R21)
        ("reach", np.int32),
        ("rotation", np.int32),
        ("extension", np.int32),
        ("near", np.int32),  # turns below this end a swing once the length is right (R23)
        ("near_loaded", np.int32),  # the same with an item in hand (R25)
        ("from_machine", np.int32),
        ("from_lane", np.int32),  # left lane of the pickup tile
        ("from_item", np.int32),  # what a chest gives
        ("group", np.int32),  # first index of the target tables (R22)
        ("first_lane", np.int32),  # lane looked at first (R27)
        ("to_machine", np.int32),
        ("to_lane", np.int32),
        ("to_position", np.int32),
        ("to_sink", np.int32),  # number of a chest that counts what it gets
        ("pick_angle", np.int32),
        ("pick_length", np.int32),
        ("drop_angle", np.int32),
        ("drop_length", np.int32),
    ]
)

MACHINE = np.dtype(
    [
        ("tile", np.int32),  # top-left one, y * width + x
        ("product", np.int32),
        ("craft_ticks", np.int32),
        ("per_craft", np.int32),
        ("stop_level", np.int32),
        ("needs", np.int32),  # number of ingredients, 0 without a recipe
    ]
)

PART = np.dtype(
    [
        ("chains", np.int32),  # where the part's chains end; they begin where the last part's end
        ("arms", np.int32),
        ("machines", np.int32),
        ("sinks", np.int32),
        ("capacity", np.int32),  # length of the part's item arrays
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
        ("fed", np.int32),  # items that the source has put on, a count outside the game's state
        ("left", np.int32),  # items gone over the downstream edge or once round, likewise
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
        ("picked_left", np.int32),  # picks from the left lane, a count outside the game's state
        ("picked", np.int32),  # all picks, likewise
        ("dropped", np.int32),  # all drops, likewise
    ]
)

MACHINE_STATE = np.dtype(
    [
        ("remaining", np.int32),
        ("made", np.int32),
        ("crafts", np.int32),  # crafts begun, a count outside the game's state
    ]
)


RecordArray = Any
"""A numpy array of the records above, whose fields type checkers cannot know."""


class Plan(NamedTuple):
    """What is fixed for a layout.

    Attributes:
        lanes: `[2 * tiles]` LANE.
        chains: `[C]` CHAIN; of each part open chains, then loops, numbered by R14.
        order: `[C]` int32, chains of each part in moving order (R14).
        arms: `[A]` ARM, of each part in acting order (R34).
        pickers: int32, for each chain the arms that pick from it.
        machines: `[M]` MACHINE.
        needs: `[M, K]` NEED.
        sinks: `[S]` int32, for each part the sinks that its items reach, by number in the layout.
        parts: `[P]` PART, independent of one another; within one part, that part alone.
        items: `[1]` int64, number of item names.
    """

    lanes: RecordArray
    chains: RecordArray
    order: np.ndarray
    arms: RecordArray
    pickers: np.ndarray
    machines: RecordArray
    needs: RecordArray
    sinks: np.ndarray
    parts: RecordArray
    items: np.ndarray


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
