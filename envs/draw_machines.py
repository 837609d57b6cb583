"""Painters of machines, chests and inserters (see `draw`). Jax-free.

In: a brush at the entity's centre, its size and colours. Out: marks. Assemblers are rounded and
have a gear, furnaces have cut corners and a fire; the tier stands in a disc at the lower right.
"""

import math

from envs.draw import INK, PAPER, Brush, Coat, Point

BADGE_RADIUS = 0.19


def badge_centre(size: int) -> Point:
    """Where the tier of a machine of `size` tiles stands, from its centre."""
    return size / 2 - 0.42, size / 2 - 0.42


def paint_assembler(brush: Brush, size: int, coat: Coat, has_badge: bool) -> None:
    """An assembling machine, with a gear behind its name."""
    brush.rounded(size / 2 - 0.08, 0.22, coat.fill, coat.edge, 0.06)
    teeth, outer, inner = 10, 0.36 * size, 0.287 * size
    points = []
    for step in range(4 * teeth):
        angle = 2 * math.pi * (step - 0.5) / (4 * teeth)
        radius = outer if step % 4 < 2 else inner
        points.append((radius * math.cos(angle), radius * math.sin(angle)))
    brush.polygon(points, coat.mark)
    brush.disc((0, 0), 0.207 * size, coat.fill)
    _badge(brush, size, coat, has_badge)


def paint_furnace(
    brush: Brush, size: int, coat: Coat, has_badge: bool, flame: str, core: str
) -> None:
    """A furnace, with a fire of two colours in a mouth at its lower side."""
    half = size / 2 - 0.08
    for inset, fill in ((0.0, coat.edge), (0.07, coat.fill)):
        brush.polygon(_octagon(half - inset, 0.36 - 0.6 * inset), fill)
    radius = 0.1 + 0.09 * size
    floor = half - 0.13
    _arch(brush, (0, floor), radius, coat.mark)
    _arch(brush, (0, floor), 0.7 * radius, flame)
    _arch(brush, (0, floor), 0.35 * radius, core)
    _badge(brush, size, coat, has_badge)


def paint_chest(brush: Brush, coat: Coat, is_full: bool) -> None:
    """A chest with a lid and a lock; an arrow out of it where it is full, else into it."""
    brush.rectangle((-0.44, -0.44), (0.44, 0.44), coat.edge)
    brush.rectangle((-0.37, -0.37), (0.37, 0.37), coat.fill)
    brush.rectangle((-0.37, -0.37), (0.37, -0.12), coat.mark)
    brush.rectangle((-0.37, -0.12), (0.37, -0.07), coat.edge)
    brush.rectangle((-0.08, -0.12), (0.08, 0.04), coat.edge)
    tip, back = (0.12, 0.3) if is_full else (0.31, 0.13)
    brush.polygon([(-0.13, back), (0.0, tip), (0.13, back)], PAPER if is_full else coat.edge)


def paint_inserter(brush: Brush, reach: int, coat: Coat, heads: int) -> None:
    """An inserter: an arm from a ring where it picks to arrow heads where it drops.

    `heads` is 2 for the fast one; the joint of a burner has the colour of fire.
    """
    brush.rounded(0.26, 0.1, INK, coat.edge, 0.03)
    ring, tip = 0.4 - reach, reach - 0.3
    for grow, fill in ((0.035, coat.edge), (0.0, coat.fill)):
        brush.line([(ring, 0.0), (tip - 0.3, 0.0)], 0.12 + 2 * grow, fill)
        brush.disc((ring, 0.0), 0.12 + grow, fill)
        for head in range(heads):
            _head(brush, tip - 0.26 * (heads - 1 - head), grow, fill)
    brush.disc((ring, 0.0), 0.06, PAPER)
    brush.disc((0.0, 0.0), 0.1, coat.mark)


def paint_plate(brush: Brush, coat: Coat) -> None:
    """A plate on the joint of an inserter that holds a figure."""
    brush.rounded(0.31, 0.12, coat.fill, coat.edge, 0.035)


def _head(brush: Brush, tip: float, grow: float, fill: str) -> None:
    point, back, side = tip + 2 * grow, tip - 0.32 - grow, 0.19 + 2 * grow
    brush.polygon([(back, -side), (point, 0.0), (back, side)], fill)


def _badge(brush: Brush, size: int, coat: Coat, has_badge: bool) -> None:
    if has_badge:
        brush.disc(badge_centre(size), BADGE_RADIUS, coat.edge)


def _octagon(half: float, cut: float) -> list[Point]:
    near = half - cut
    corners = [(near, -half), (half, -near), (half, near), (near, half)]
    return corners + [(-u, -v) for u, v in corners]


def _arch(brush: Brush, middle: Point, radius: float, fill: str) -> None:
    """A half disc on a floor, as high as one and a half radii."""
    angles = [math.pi * step / 16 for step in range(17)]
    points = [(-radius * math.cos(a), -0.5 * radius - radius * math.sin(a)) for a in angles]
    points = [(-radius, 0.0), *points, (radius, 0.0)]
    brush.polygon([(middle[0] + u, middle[1] + v) for u, v in points], fill)
