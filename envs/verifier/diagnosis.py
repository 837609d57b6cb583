"""What every machine, inserter and belt lane of a layout does, and what it waits for. Jax-free.

In: a layout. Out: its rates, and over one period of the recurrent part the shares of time and the
counts that `observe` saw, in words that a player uses.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from envs.catalogue import BELT_ITEM_GAP, BELT_SPEED_PER_TICK, TICKS_PER_S
from envs.layout import MACHINE_KINDS, Entity, Layout
from envs.verifier.compile import compile_layout
from envs.verifier.encode import Rows
from envs.verifier.lane_flow import lane_counts
from envs.verifier.observe import (
    CRAFTING,
    DROP_BLOCKED,
    NO_ITEM,
    OUTPUT_FULL,
    STARVING,
    SWINGING,
    TARGET_FULL,
    Observed,
    observe,
)
from envs.verifier.records import NONE, Plan
from envs.verifier.recurrence import Run, run
from envs.verifier.report import Verified, per_second, verified
from envs.verifier.targets import targets

LANE_ITEMS_PER_S = Fraction(TICKS_PER_S * BELT_SPEED_PER_TICK, BELT_ITEM_GAP)
"""What one lane passes at most: 7.5 items/s (R12)."""

OUTPUT_IS_FULL = "output full"
NO_RECIPE_SET = "no recipe"
NOTHING_TO_PICK = "nothing to take"
TARGET_IS_FULL = "target wants nothing"
NO_ROOM = "no room to drop"
TAKES_NO_PART = "takes no part, for lack of a pickup or drop"


@dataclass(frozen=True, slots=True)
class MachineUse:
    """What a machine does. `waits`: share of time by reason; with `use` they make 1.

    `missing`: share of time for each ingredient in which it was lacking; several can lack at once.
    """

    x: int
    y: int
    prototype: str
    recipe: str | None
    use: Fraction
    crafts_per_s: Fraction
    waits: Mapping[str, Fraction]
    missing: Mapping[str, Fraction]

    @property
    def reason(self) -> str:
        """What it waits for most, "" for one that never waits."""
        return _longest(self.waits)


@dataclass(frozen=True, slots=True)
class ArmUse:
    """What an inserter does. `use`: share of time in which it swings or chases an item.

    `waits`: share of time by reason; with `use` they make 1. `unwanted`: the item that lies before
    it and that its target does not want, as things stand at the end.
    """

    x: int
    y: int
    prototype: str
    use: Fraction
    items_per_s: Fraction
    waits: Mapping[str, Fraction]
    unwanted: str | None

    @property
    def reason(self) -> str:
        """What it waits for most, "" for one that never waits."""
        return _longest(self.waits)


@dataclass(frozen=True, slots=True)
class LaneLoad:
    """How much goes over the downstream edge of a tile's lane, "left" or "right".

    Attributes:
        load: items_per_s as a share of what a lane can pass.
        stopped: share of time in which the lane's front item stood at a closed end.
    """

    x: int
    y: int
    lane: str
    items_per_s: Fraction
    load: Fraction
    stopped: Fraction


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Rates and what everything does, each in row-major order.

    Figures of a part that did not recur are means over the last half of its ticks.
    """

    verified: Verified
    machines: tuple[MachineUse, ...]
    inserters: tuple[ArmUse, ...]
    lanes: tuple[LaneLoad, ...]


def diagnose(layout: Layout, tick_cap: int) -> Diagnosis:
    """Verifies a layout and watches it. Raises LayoutError for a layout that breaks R4."""
    plan, rows = compile_layout(layout)
    result = Run(*run(plan, targets(), tick_cap))
    warmup = np.where(result.period > 0, result.transient, result.ticks - result.window)
    seen = Observed(*observe(plan, targets(), warmup, result.window))
    windows = _windows(plan, result)
    machines = {}
    for number, machine in enumerate(plan.machines):
        machines[int(machine["tile"])] = _machine_use(plan, rows, seen, windows[2][number], number)
    arms = {}
    for number, arm in enumerate(plan.arms):
        arms[int(arm["tile"])] = _arm_use(rows, seen, windows[1][number], number)
    in_order = sorted(layout.entities, key=lambda entity: (entity.y, entity.x))

    def at(entity: Entity) -> int:
        return entity.y * layout.width + entity.x

    return Diagnosis(
        verified(rows, plan, result),
        tuple(
            MachineUse(one.x, one.y, one.prototype, one.recipe, *machines[at(one)])
            for one in in_order
            if one.kind in MACHINE_KINDS
        ),
        tuple(
            ArmUse(one.x, one.y, one.prototype, *arms.get(at(one), _INERT))
            for one in in_order
            if one.kind == "inserter"
        ),
        tuple(_lane_loads(layout, plan, seen, windows[0])),
    )


_INERT = (Fraction(0), Fraction(0), {TAKES_NO_PART: Fraction(1)}, None)
"""What an inserter does that is not part of the state (R6)."""


def _longest(waits: Mapping[str, Fraction]) -> str:
    """The reason with the largest share."""
    return max(waits, key=lambda reason: waits[reason]) if waits else ""


def _windows(plan: Plan, result: Run) -> list[list[int]]:
    """Ticks looked at for each chain, arm and machine."""
    found = []
    for kind in ("chains", "arms", "machines"):
        counts = np.diff(plan.parts[kind], prepend=0)
        found.append([int(ticks) for ticks in np.repeat(result.window, counts)])
    return found


def _shares(ticks: Mapping[str, int], window: int) -> dict[str, Fraction]:
    """Shares of time, without those that are zero."""
    return {name: Fraction(int(count), window) for name, count in ticks.items() if count}


def _machine_use(
    plan: Plan, rows: Rows, seen: Observed, window: int, number: int
) -> tuple[Fraction, Fraction, dict[str, Fraction], dict[str, Fraction]]:
    """The fields of a `MachineUse` from `use` on."""
    ticks, needs = seen.machine_ticks[number], int(plan.machines["needs"][number])
    names = [rows.items[item] for item in plan.needs["item"][number][:needs]]
    missing = _shares(dict(zip(names, seen.missing_ticks[number], strict=False)), window)
    lacking = _longest(missing)
    waits = {
        f"no {lacking}": int(ticks[STARVING]),
        OUTPUT_IS_FULL: int(ticks[OUTPUT_FULL]),
        NO_RECIPE_SET: window if needs == 0 else 0,
    }
    return (
        Fraction(int(ticks[CRAFTING]), window),
        per_second(int(seen.crafts[number]), window),
        _shares(waits, window),
        missing,
    )


def _arm_use(
    rows: Rows, seen: Observed, window: int, number: int
) -> tuple[Fraction, Fraction, dict[str, Fraction], str | None]:
    """The fields of an `ArmUse` from `use` on."""
    ticks, unwanted = seen.arm_ticks[number], int(seen.unwanted[number])
    waits = {
        NOTHING_TO_PICK: ticks[NO_ITEM],
        TARGET_IS_FULL: ticks[TARGET_FULL],
        NO_ROOM: ticks[DROP_BLOCKED],
    }
    return (
        Fraction(int(ticks[SWINGING]), window),
        per_second(int(seen.drops[number]), window),
        _shares(waits, window),
        None if unwanted == NONE else rows.items[unwanted],
    )


def _lane_loads(layout: Layout, plan: Plan, seen: Observed, windows: list[int]) -> list[LaneLoad]:
    """The load of every belt lane in row-major order."""
    loads = []
    for lane, (chain, items) in sorted(lane_counts(plan, seen).items()):
        y, x = divmod(lane // 2, layout.width)
        rate = per_second(items, windows[chain])
        # Without a repeat the window may hold one item more than its length is worth.
        load = min(rate / LANE_ITEMS_PER_S, Fraction(1))
        stopped = Fraction(int(seen.stopped_ticks[chain]), windows[chain])
        side = "right" if lane % 2 else "left"
        loads.append(LaneLoad(x, y, side, rate, load, stopped))
    return loads
