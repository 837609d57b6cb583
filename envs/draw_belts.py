"""Painters of belts, ports and blocked cells, one tile each (see `draw`). Jax-free.

In: a brush at the tile's centre and colours. Out: marks; the tile's sides are at +-0.5.
"""

import math

from envs.draw import BELT_COAT, BLOCKED_FILL, BLOCKED_LINE, PAPER, Brush, Coat, Point
from envs.turns import RIGHT_TURN, STRAIGHT

TRACK = 0.38
"""Half the width of a belt."""

RAIL = 0.045
"""Width of a belt's edge."""

SPINE = 0.09
"""Half the width of the dark strip between the lanes of a belt that shows its load."""

_ARC_STEPS = 16


def paint_belt(brush: Brush, turn: int) -> None:
    """A belt: its track with chevrons along the flow."""
    _track(brush, turn)
    _chevrons(brush, turn, BELT_COAT.mark, 1.0)


def paint_loaded_belt(brush: Brush, turn: int, left: str, right: str) -> None:
    """A belt whose left and right lane have colours, with small chevrons between them."""
    _track(brush, turn)
    for side, colour in ((-1, left), (1, right)):
        _strip(brush, turn, side * SPINE, side * (TRACK - RAIL), colour)
    _chevrons(brush, turn, PAPER, 0.6)


def paint_loaded_port(
    brush: Brush, turn: int, left: str, right: str, frame: str, rows: int
) -> None:
    """A source or a sink whose lanes have colours, in a frame, with a plate for rows of names."""
    paint_loaded_belt(brush, turn, left, right)
    for side in (-1, 1):
        brush.rectangle((-0.5, side * 0.5), (0.5, side * 0.42), frame)
        brush.rectangle((side * 0.5, -0.5), (side * 0.42, 0.5), frame)
    if rows:
        half = 0.03 + 0.12 * rows
        brush.upright().rectangle((-0.46, -half), (0.46, half), PAPER)


def paint_sideload(brush: Brush) -> None:
    """The end of a belt that reaches over its tile to the track of the belt it feeds."""
    brush.rectangle((0.4, -TRACK), (0.7, TRACK), BELT_COAT.fill)
    for side in (-1, 1):
        brush.rectangle((0.4, side * TRACK), (0.7, side * (TRACK - RAIL)), BELT_COAT.edge)


def paint_loaded_sideload(brush: Brush, left: str, right: str) -> None:
    """The same for a belt whose left and right lane have colours."""
    paint_sideload(brush)
    for side, colour in ((-1, left), (1, right)):
        brush.rectangle((0.4, side * SPINE), (0.7, side * (TRACK - RAIL)), colour)


def paint_port(brush: Brush, coat: Coat) -> None:
    """A source or a sink: a tile with an arrow along its flow in its lower half."""
    brush.rounded(0.5, 0.1, coat.fill, coat.edge, 0.04)
    arrow = brush.at(brush.x, brush.y + 0.29, brush.direction)
    arrow.polygon([(-0.09, -0.13), (0.12, 0.0), (-0.09, 0.13)], coat.mark)


def paint_blocked(brush: Brush) -> None:
    """A cell where nothing can stand: hatched."""
    brush.rectangle((-0.5, -0.5), (0.5, 0.5), BLOCKED_FILL)
    for offset in (-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75):
        low, high = max(-0.5, -0.5 + offset), min(0.5, 0.5 + offset)
        brush.draw.line(
            brush.pixels([(low, offset - low), (high, offset - high)]),
            fill=BLOCKED_LINE,
            width=max(1, round(0.05 * brush.tile)),
        )


def _track(brush: Brush, turn: int) -> None:
    _strip(brush, turn, -TRACK, TRACK, BELT_COAT.fill)
    for side in (-1, 1):
        _strip(brush, turn, side * TRACK, side * (TRACK - RAIL), BELT_COAT.edge)


def _strip(brush: Brush, turn: int, low: float, high: float, fill: str) -> None:
    """The part of the track from `low` to `high` to the right of its middle line."""
    if turn == STRAIGHT:
        brush.rectangle((-0.5, low), (0.5, high), fill)
        return
    mirror = _mirror(turn)
    angles = [math.pi * (1 + step / (2 * _ARC_STEPS)) for step in range(_ARC_STEPS + 1)]
    points = [_on_arc(0.5 - mirror * high, angle, mirror) for angle in angles]
    points += [_on_arc(0.5 - mirror * low, angle, mirror) for angle in reversed(angles)]
    brush.polygon(points, fill)


def _mirror(turn: int) -> int:
    return 1 if turn == RIGHT_TURN else -1


def _on_arc(radius: float, angle: float, mirror: int) -> Point:
    """A point of a turn's arc about the corner on its inner side."""
    return 0.5 + radius * math.cos(angle), mirror * (0.5 + radius * math.sin(angle))


def _chevrons(brush: Brush, turn: int, fill: str, size: float) -> None:
    if turn == STRAIGHT:
        for u in (-0.25, 0.25):
            _chevron(brush, (u, 0.0), 0.0, fill, size)
        return
    mirror = _mirror(turn)
    middle = math.radians(225)
    angle = mirror * (middle - 1.5 * math.pi)
    _chevron(brush, _on_arc(0.5, middle, mirror), angle, fill, size)


def _chevron(brush: Brush, centre: Point, angle: float, fill: str, size: float) -> None:
    """A chevron that points along the flow, turned by `angle` towards v."""
    shape = [(-0.11, -0.2), (-0.03, -0.2), (0.09, 0.0), (-0.03, 0.2), (-0.11, 0.2), (0.01, 0.0)]
    cosine, sine = size * math.cos(angle), size * math.sin(angle)
    turned = [
        (centre[0] + u * cosine - v * sine, centre[1] + u * sine + v * cosine) for u, v in shape
    ]
    brush.polygon(turned, fill)
