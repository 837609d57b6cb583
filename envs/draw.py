"""A brush for shapes in tile units, and the colours of pictures. Jax-free.

In: a PIL drawing. Out: marks on it. Every shape is written once, for a flow to the east, in
coordinates (u along the flow, v to its right) with the entity's centre at (0, 0), and is turned
to the entity's direction.

The colours are Okabe and Ito's where they carry a role, which people with any colour vision tell
apart (Okabe and Ito, "Color Universal Design", 2008); arms have the game's. Direction, role and
type are shown by shape besides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from PIL import ImageDraw

from envs.layout import DIRECTION_VECTORS, EAST

Point = tuple[float, float]


class Coat(NamedTuple):
    """Colours of one entity.

    Attributes:
        fill: its body.
        edge: its outline.
        mark: what is drawn on the body, for example a gear.
    """

    fill: str
    edge: str
    mark: str


PAPER = "#ffffff"
CELL = "#f6f4ef"
GRID_LINE = "#e3dfd6"
INK = "#2b2f36"
FAINT_INK = "#6b7078"
BLOCKED_FILL, BLOCKED_LINE = "#e2ddd2", "#b3ab9b"
BELT_COAT = Coat("#5a606b", "#3f444d", "#f0b429")
SOURCE_COAT = Coat("#009e73", "#007556", PAPER)
SINK_COAT = Coat("#d55e00", "#a34800", PAPER)
FLAME, FLAME_CORE = "#e69f00", "#f0e442"
BUILDING_COATS = {
    "asm": Coat("#dcebf7", "#0072b2", "#c3dcf0"),
    "furnace": Coat("#ece4d8", "#7a5c3e", "#4a3a2c"),
    "chest_src": Coat("#009e73", "#00523c", "#007556"),
    "chest_sink": Coat("#fdf1e7", "#a34800", "#f0cdb0"),
}
"""Coats of machines and chests by kind."""

ARM_COATS = {
    "burner-inserter": Coat("#4d443d", "#f3ede4", FLAME),
    "inserter": Coat("#f2c230", "#5f4700", "#5f4700"),
    "long-handed-inserter": Coat("#d23c32", "#5a120d", "#5a120d"),
    "fast-inserter": Coat("#3f9be0", "#0d3a63", "#0d3a63"),
}
"""Coats of inserters by prototype name."""


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

    def upright(self) -> "Brush":
        """The brush at the same place with u to the right, whatever the flow."""
        return self.at(self.x, self.y)

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

    def rectangle(self, low: Point, high: Point, fill: str) -> None:
        """A filled rectangle between two opposite corners."""
        (u, v), (other_u, other_v) = low, high
        self.polygon([(u, v), (other_u, v), (other_u, other_v), (u, other_v)], fill)

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
