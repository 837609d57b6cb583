"""Which belts are turns (R7) and which sideload (R9), for pictures. Jax-free.

The verifier has its own copy of the rule, on arrays; a test compares the two.
"""

from envs.layout import BELT_KINDS, DIRECTION_VECTORS, Entity, Layout

STRAIGHT, RIGHT_TURN, LEFT_TURN = 0, 1, 2

_FEEDERS = ("belt", "source")


def belts_by_tile(layout: Layout) -> dict[tuple[int, int], Entity]:
    """Belts, sources and sinks by tile."""
    return {(one.x, one.y): one for one in layout.entities if one.kind in BELT_KINDS}


def turn_of(belt: Entity, belts: dict[tuple[int, int], Entity]) -> int:
    """STRAIGHT, RIGHT_TURN or LEFT_TURN of a belt, source or sink."""
    if belt.kind == "source" or _is_fed_from(belt, 2, belts):
        return STRAIGHT
    right, left = _is_fed_from(belt, 1, belts), _is_fed_from(belt, 3, belts)
    if right == left:
        return STRAIGHT
    return RIGHT_TURN if right else LEFT_TURN


def sideloads(belt: Entity, belts: dict[tuple[int, int], Entity]) -> bool:
    """Whether a belt pushes into a straight belt from its side (R9)."""
    if belt.kind == "sink":
        return False
    assert belt.direction is not None
    dx, dy = DIRECTION_VECTORS[belt.direction]
    ahead = belts.get((belt.x + dx, belt.y + dy))
    if ahead is None or ahead.kind == "source" or ahead.direction is None:
        return False
    return (ahead.direction - belt.direction) % 2 == 1 and turn_of(ahead, belts) == STRAIGHT


def _is_fed_from(belt: Entity, quarter_turns: int, belts: dict[tuple[int, int], Entity]) -> bool:
    """Whether a feeder stands `quarter_turns` to the right of the flow and points here."""
    assert belt.direction is not None
    side = (belt.direction + quarter_turns) % 4
    dx, dy = DIRECTION_VECTORS[side]
    feeder = belts.get((belt.x + dx, belt.y + dy))
    return feeder is not None and feeder.kind in _FEEDERS and feeder.direction == (side + 2) % 4
