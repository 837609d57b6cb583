"""A layout as text for terminals and logs. Jax-free.

In: a layout, its blocked cells and a caption. Out: two characters per cell, so that cells are
about square, with a legend of ports, chests and machines (`text_legend`) below. Assemblers have
boxes of single lines, furnaces of double lines.
"""

import string
from collections.abc import Iterable

from envs.labels import TIERS, short_name
from envs.layout import MACHINE_KINDS, Entity, Layout
from envs.text_legend import (
    BELT_GLYPHS,
    BLOCKED_GLYPH,
    CHEST_GLYPHS,
    inserter_glyph,
    legend,
)

EMPTY_GLYPH = "· "
LETTERED_KINDS = ("source", "sink", "chest_src", "chest_sink")
"""Kinds that stand in the legend by a letter; those beyond the 52nd share a question mark."""

_LINES = {"asm": "┌─┐│└┘", "furnace": "╔═╗║╚╝"}


def render_text(layout: Layout, blocked: Iterable[tuple[int, int]] = (), caption: str = "") -> str:
    """The picture with column and row numbers, the legend and the caption."""
    cells = {(x, y): EMPTY_GLYPH for y in range(layout.height) for x in range(layout.width)}
    blocked = list(blocked)
    cells |= dict.fromkeys(blocked, BLOCKED_GLYPH)
    lettered = [one for one in layout.entities if one.kind in LETTERED_KINDS]
    letters = dict.fromkeys(lettered, "?") | dict(zip(lettered, string.ascii_letters, strict=False))
    names: dict[Entity, str] = {}
    for entity in layout.entities:
        if entity.kind in MACHINE_KINDS:
            names[entity] = _box_name(entity)
            cells |= _machine_cells(entity, names[entity])
        else:
            cells[entity.x, entity.y] = _glyph(entity, letters)
    lines = ["   " + "".join(f"{x % 100:<2}" for x in range(layout.width)).rstrip()]
    for y in range(layout.height):
        row = "".join(cells[x, y] for x in range(layout.width))
        lines.append(f"{y % 100:>2} {row}".rstrip())
    below = legend(layout, letters, names, bool(blocked))
    return "\n".join([*lines, "", *below, *([caption] if caption else [])])


def _glyph(entity: Entity, letters: dict[Entity, str]) -> str:
    if entity.kind in CHEST_GLYPHS:
        return letters[entity] + CHEST_GLYPHS[entity.kind]
    assert entity.direction is not None
    if entity.kind == "inserter":
        return inserter_glyph(entity.direction, entity.prototype)
    return letters.get(entity, "") + BELT_GLYPHS[entity.direction] + " " * (entity.kind == "belt")


def _box_name(machine: Entity) -> str:
    """Four letters of the product; three and the tier where the box has no room for it."""
    name = short_name(machine.recipe).replace(" ", "")
    if machine.size == 2 and machine.prototype in TIERS:
        return name[:3] + TIERS[machine.prototype]
    return name[:4]


def _machine_cells(machine: Entity, name: str) -> dict[tuple[int, int], str]:
    """The box: with the name inside if it is 3x3, with half of it on either line if 2x2."""
    top_left, across, top_right, side, low_left, low_right = _LINES[machine.kind]
    if machine.size == 2:
        name = name.ljust(4, across)
        rows = [f"{top_left}{name[:2]}{top_right}", f"{low_left}{name[2:]}{low_right}"]
    else:
        rows = [
            f"{top_left}{across * 4}{top_right}",
            f"{side}{name.center(4)}{side}",
            f"{low_left}{across * 3}{TIERS.get(machine.prototype, across)}{low_right}",
        ]
    return {
        (machine.x + dx, machine.y + dy): row[2 * dx : 2 * dx + 2]
        for dy, row in enumerate(rows)
        for dx in range(machine.size)
    }
