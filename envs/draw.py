"""Painters of single entities for pictures, in tile units. Jax-free.

In: a `Brush` on a PIL image and an entity. Out: marks on the image. Every shape is written once,
for a flow to the east, in coordinates (u along the flow, v to its right) with the tile's centre at
(0, 0) and its sides at +-0.5, and is turned to the entity's direction.

The colours are Okabe and Ito's, which people with any colour vision tell apart (Okabe and Ito,
"Color Universal Design", 2008); direction and role are shown by shape besides.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import ImageDraw

from envs.layout import DIRECTION_VECTORS, EAST
from envs.turns import RIGHT_TURN, STRAIGHT

Point = tuple[float, float]

PAPER = "#ffffff"
CELL = "#f6f4ef"
GRID_LINE = "#e3dfd6"
INK = "#2b2f36"
FAINT_INK = "#6b7078"
BLOCKED_FILL, BLOCKED_LINE = "#e2ddd2", "#b3ab9b"
BELT, BELT_EDGE, CHEVRON = "#5a606b", "#3f444d", "#f0b429"
SOURCE, SOURCE_EDGE = "#009e73", "#007556"
SINK, SINK_EDGE = "#d55e00", "#a34800"
MACHINE, MACHINE_EDGE, MACHINE_GEAR = "#dcebf7", "#0072b2", "#c3dcf0"
ARM, ARM_EDGE = "#cc79a7", "#7d2f5b"

TRACK = 0.38
"""Half the width of a belt."""

RAIL = 0.045
"""Width of a belt's edge."""

_ARC_STEPS = 16


@dataclass(frozen=True)
class Brush:
    """Draws shapes given in tile units.

    Attributes:
        draw: the PIL drawing.
        tile: pixels per tile.
        x, y: centre of the shape's own coordinates, in tiles from the image's corner.
        direction: where the shape's u axis points.
    """

    draw: ImageDraw.ImageDraw
    tile: float
    x: float = 0.0
    y: float = 0.0
    direction: int = EAST

    def at(self, x: float, y: float, direction: int = EAST) -> "Brush":
        """The brush with its coordinates moved and turned."""
        return Brush(self.draw, self.tile, x, y, direction)

    def pixels(self, points: Sequence[Point]) -> list[Point]:
        """Image coordinates of the points."""
        dx, dy = DIRECTION_VECTORS[self.direction]
        return [
            (
                (self.x + u * dx - v * dy) * self.tile,
                (self.y + u * dy + v * dx) * self.tile,
            )
            for u, v in points
        ]

    def polygon(self, points: Sequence[Point], fill: str) -> None:
        """A filled polygon."""
        self.draw.polygon(self.pixels(points), fill=fill)

    def line(self, points: Sequence[Point], width: float, fill: str) -> None:
        """A line with round joints and ends."""
        pixels = self.pixels(points)
        self.draw.line(pixels, fill=fill, width=round(width * self.tile), joint="curve")
        for point in (points[0], points[-1]):
            self.disc(point, width / 2, fill)

    def disc(self, centre: Point, radius: float, fill: str) -> None:
        """A filled circle."""
        ((x, y),) = self.pixels([centre])
        self.draw.circle((x, y), radius * self.tile, fill=fill)

    def rounded(self, half: float, radius: float, fill: str, edge: str, width: float) -> None:
        """A rounded square about the origin."""
        (left, top), (right, bottom) = (
            ((self.x - half) * self.tile, (self.y - half) * self.tile),
            ((self.x + half) * self.tile, (self.y + half) * self.tile),
        )
        self.draw.rounded_rectangle(
            (left, top, right, bottom),
            radius * self.tile,
            fill=fill,
            outline=edge,
            width=max(1, round(width * self.tile)),
        )


def paint_belt(brush: Brush, turn: int) -> None:
    """A belt: its track with chevrons along the flow."""
    if turn == STRAIGHT:
        _band(brush, -TRACK, TRACK, BELT)
        for side in (-1, 1):
            _band(brush, side * TRACK, side * (TRACK - RAIL), BELT_EDGE)
        for u in (-0.25, 0.25):
            _chevron(brush, (u, 0.0), 0.0)
        return
    mirror = 1 if turn == RIGHT_TURN else -1
    _ring(brush, 0.5 - TRACK, 0.5 + TRACK, mirror, BELT)
    _ring(brush, 0.5 - TRACK, 0.5 - TRACK + RAIL, mirror, BELT_EDGE)
    _ring(brush, 0.5 + TRACK - RAIL, 0.5 + TRACK, mirror, BELT_EDGE)
    middle = math.radians(225)
    _chevron(brush, _on_arc(0.5, middle, mirror), mirror * (middle - 1.5 * math.pi))


def paint_sideload(brush: Brush) -> None:
    """The end of a belt that reaches over its tile to the track of the belt it feeds."""
    brush.polygon([(0.4, -TRACK), (0.7, -TRACK), (0.7, TRACK), (0.4, TRACK)], BELT)
    for side in (-1, 1):
        outer, inner = side * TRACK, side * (TRACK - RAIL)
        brush.polygon([(0.4, outer), (0.7, outer), (0.7, inner), (0.4, inner)], BELT_EDGE)


def paint_port(brush: Brush, is_sink: bool) -> None:
    """A source or a sink: a tile with an arrow along its flow in its lower half."""
    fill, edge = (SINK, SINK_EDGE) if is_sink else (SOURCE, SOURCE_EDGE)
    brush.rounded(0.5, 0.1, fill, edge, 0.04)
    arrow = brush.at(brush.x, brush.y + 0.29, brush.direction)
    arrow.polygon([(-0.09, -0.13), (0.12, 0.0), (-0.09, 0.13)], PAPER)


def paint_machine(brush: Brush) -> None:
    """A machine of 3x3 tiles about the origin, with a gear behind its name."""
    brush.rounded(1.42, 0.22, MACHINE, MACHINE_EDGE, 0.06)
    teeth, outer, inner = 10, 1.08, 0.86
    points = []
    for step in range(4 * teeth):
        angle = 2 * math.pi * (step - 0.5) / (4 * teeth)
        radius = outer if step % 4 < 2 else inner
        points.append((radius * math.cos(angle), radius * math.sin(angle)))
    brush.polygon(points, MACHINE_GEAR)
    brush.disc((0, 0), 0.62, MACHINE)


def paint_inserter(brush: Brush) -> None:
    """An inserter: an arm from a ring where it picks to an arrow head where it drops."""
    brush.rounded(0.26, 0.1, INK, INK, 0.02)
    for grow, fill in ((0.035, ARM_EDGE), (0.0, ARM)):
        brush.line([(-0.58, 0.0), (0.4, 0.0)], 0.12 + 2 * grow, fill)
        brush.disc((-0.6, 0.0), 0.12 + grow, fill)
        tip, back, side = 0.7 + 2 * grow, 0.38 - grow, 0.19 + 2 * grow
        brush.polygon([(back, -side), (tip, 0.0), (back, side)], fill)
    brush.disc((-0.6, 0.0), 0.06, PAPER)
    brush.disc((0.0, 0.0), 0.1, ARM_EDGE)


def paint_blocked(brush: Brush) -> None:
    """A cell where nothing can stand: hatched."""
    square = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
    brush.polygon(square, BLOCKED_FILL)
    for offset in (-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75):
        low, high = max(-0.5, -0.5 + offset), min(0.5, 0.5 + offset)
        brush.draw.line(
            brush.pixels([(low, offset - low), (high, offset - high)]),
            fill=BLOCKED_LINE,
            width=max(1, round(0.05 * brush.tile)),
        )


def _band(brush: Brush, low: float, high: float, fill: str) -> None:
    brush.polygon([(-0.5, low), (0.5, low), (0.5, high), (-0.5, high)], fill)


def _on_arc(radius: float, angle: float, mirror: int) -> Point:
    """A point of a turn's arc about the corner on its inner side."""
    return 0.5 + radius * math.cos(angle), mirror * (0.5 + radius * math.sin(angle))


def _ring(brush: Brush, inner: float, outer: float, mirror: int, fill: str) -> None:
    angles = [math.pi * (1 + step / (2 * _ARC_STEPS)) for step in range(_ARC_STEPS + 1)]
    points = [_on_arc(outer, angle, mirror) for angle in angles]
    points += [_on_arc(inner, angle, mirror) for angle in reversed(angles)]
    brush.polygon(points, fill)


def _chevron(brush: Brush, centre: Point, angle: float) -> None:
    """A chevron that points along the flow, turned by `angle` towards v."""
    shape = [(-0.11, -0.2), (-0.03, -0.2), (0.09, 0.0), (-0.03, 0.2), (-0.11, 0.2), (0.01, 0.0)]
    cosine, sine = math.cos(angle), math.sin(angle)
    turned = [
        (centre[0] + u * cosine - v * sine, centre[1] + u * sine + v * cosine) for u, v in shape
    ]
    brush.polygon(turned, CHEVRON)
