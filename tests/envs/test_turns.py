"""Which belts are drawn as turns: the rule R7, and agreement with the verifier's copy of it."""

import random

import numpy as np
import pytest

from envs.layout import Entity, Layout
from envs.turns import LEFT_TURN, RIGHT_TURN, STRAIGHT, belts_by_tile, sideloads, turn_of
from envs.verifier.lanes import find_shapes
from envs.verifier.records import BELT, NONE, SINK, SOURCE

N, E, S, W = range(4)
KIND_NUMBERS = {"belt": BELT, "source": SOURCE, "sink": SINK}


def _turn(*around: Entity, kind: str = "belt") -> int:
    """The turn of an eastward belt at (1, 1) among the others."""
    belt = Entity(kind, 1, 1, E)
    return turn_of(belt, belts_by_tile(Layout(3, 3, (belt, *around))))


ABOVE, BELOW, BEHIND = Entity("belt", 1, 0, S), Entity("source", 1, 2, N), Entity("belt", 0, 1, E)


@pytest.mark.parametrize(
    ("around", "turn"),
    [
        ((), STRAIGHT),
        ((ABOVE,), LEFT_TURN),
        ((BELOW,), RIGHT_TURN),
        ((ABOVE, BELOW), STRAIGHT),
        ((ABOVE, BEHIND), STRAIGHT),
        ((Entity("belt", 1, 0, E),), STRAIGHT),
        ((Entity("sink", 1, 0, S),), STRAIGHT),
        ((Entity("inserter", 1, 0, S),), STRAIGHT),
    ],
)
def test_belt_turns_towards_its_only_feeder_at_a_side(
    around: tuple[Entity, ...], turn: int
) -> None:
    assert _turn(*around) == turn


def test_sink_turns_and_source_does_not() -> None:
    assert _turn(BELOW, kind="sink") == RIGHT_TURN
    assert _turn(BELOW, kind="source") == STRAIGHT


@pytest.mark.parametrize(
    ("ahead", "behind_ahead", "expected"),
    [
        (Entity("belt", 1, 0, E), Entity("belt", 0, 0, E), True),
        (Entity("sink", 1, 0, E), Entity("belt", 0, 0, E), True),
        (Entity("belt", 1, 0, E), None, False),
        (Entity("belt", 1, 0, N), None, False),
        (Entity("source", 1, 0, E), None, False),
    ],
)
def test_belt_sideloads_only_into_a_straight_belt_at_right_angles(
    ahead: Entity, behind_ahead: Entity | None, expected: bool
) -> None:
    belt = Entity("belt", 1, 1, N)
    around = (ahead,) if behind_ahead is None else (ahead, behind_ahead)
    belts = belts_by_tile(Layout(3, 3, (belt, *around)))
    assert sideloads(belt, belts) == expected


def test_turns_agree_with_the_verifier() -> None:
    draw = random.Random(0)
    side = 5
    for _ in range(20):
        entities = [
            Entity(draw.choice(("belt", "belt", "source", "sink")), x, y, draw.randrange(4))
            for x in range(side)
            for y in range(side)
            if draw.random() < 0.7
        ]
        kinds = np.full(side * side, NONE, np.int32)
        directions = np.zeros(side * side, np.int32)
        for one in entities:
            kinds[one.y * side + one.x] = KIND_NUMBERS[one.kind]
            directions[one.y * side + one.x] = one.direction or 0
        shapes = getattr(find_shapes, "py_func", find_shapes)(kinds, directions, side, side)
        belts = belts_by_tile(Layout(side, side, tuple(entities)))
        drawn = {(one.x, one.y): turn_of(one, belts) for one in entities}
        assert drawn == {at: shapes[at[1] * side + at[0]] for at in drawn}
