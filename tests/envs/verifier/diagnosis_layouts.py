"""Layouts of the diagnosis tests whose figures can be worked out by hand, and all public ones.

Between tiles that never block, an arm takes 24 ticks (fast), 70 (basic) or 76 (burner) for an item
(R20); an assembler 1 makes a gear of 2 plates in 60 ticks (R37), a stone furnace a plate in 192.
"""

from functools import cache
from itertools import chain

from verifier_layouts import (
    COPPER,
    GEAR,
    IRON,
    arm,
    asm,
    cases,
    chest,
    chest_sink,
    draw,
    public_layouts,
    sink,
    source,
)

from envs.layout import EAST, NORTH, SOUTH, Entity, Layout
from envs.verifier.diagnosis import ArmUse, Diagnosis, LaneLoad, MachineUse, diagnose

TICK_CAP = 1_000_000

FAST, BURNER = arm(EAST, "fast-inserter"), arm(EAST, "burner-inserter")


def gear_row(bring: Entity, take: Entity, machine: Entity | None = None) -> Layout:
    """Chest of plates (0, 1), arm (1, 1), gear machine (2, 0), arm (5, 1), chest (6, 1)."""
    return draw(
        """
        ..M....
        CB...TK
        .......
        """,
        C=chest(IRON),
        B=bring,
        M=machine or asm(GEAR),
        T=take,
        K=chest_sink(GEAR),
    )


def dead_end_gear(left: str | None, right: str | None) -> Layout:
    """A belt that ends before an arm (3, 0) of a gear machine (4, 0); from it into a chest."""
    return draw(
        "S>>AM..TK\n.........\n.........",
        S=source(EAST, left, right),
        A=arm(EAST),
        M=asm(GEAR),
        T=arm(EAST),
        K=chest_sink(GEAR),
    )


def passing_copper(right: str | None = COPPER) -> Layout:
    """A belt that goes past an arm (2, 1) of a gear machine (1, 2) to a sink (4, 0)."""
    return draw(
        """
        S>>>K
        ..A..
        .M...
        .....
        .....
        .T...
        .L...
        """,
        S=source(EAST, COPPER, right),
        K=sink(EAST, COPPER),
        A=arm(SOUTH),
        M=asm(GEAR),
        T=arm(SOUTH),
        L=chest_sink(GEAR),
    )


@cache
def all_public() -> dict[str, Layout]:
    """The layouts of both public files by name."""
    named = chain(cases().items(), public_layouts().items())
    return {name: layout for name, (_, layout) in named}


@cache
def diagnosed(layout: Layout, tick_cap: int = TICK_CAP) -> Diagnosis:
    return diagnose(layout, tick_cap)


def machine_at(layout: Layout, x: int, y: int) -> MachineUse:
    return next(one for one in diagnosed(layout).machines if (one.x, one.y) == (x, y))


def arm_at(layout: Layout, x: int, y: int) -> ArmUse:
    return next(one for one in diagnosed(layout).inserters if (one.x, one.y) == (x, y))


def lanes_at(layout: Layout, x: int, y: int) -> dict[str, LaneLoad]:
    """The left and the right lane of a tile."""
    return {one.lane: one for one in diagnosed(layout).lanes if (one.x, one.y) == (x, y)}


def ring_with_arms(bring: str, take: str) -> Layout:
    """A ring that an arm (1, 3) fills from a chest and another (0, 3), ahead of it, empties."""
    return draw(
        """
        >>>v
        ^..v
        ^<<<
        TB..
        KC..
        """,
        B=arm(NORTH, bring),
        T=arm(SOUTH, take),
        C=chest(IRON),
        K=chest_sink(IRON),
    )
