"""A layout as text for terminals and logs. Jax-free.

In: a layout, its blocked cells and a caption. Out: two characters per cell, so that cells are
about square, with a legend of ports and recipes below.
"""

import string
from collections.abc import Iterable

from envs.catalogue import MACHINE_SIZE, RECIPES
from envs.labels import short_name
from envs.layout import DIRECTION_NAMES, Entity, Layout

BELT_GLYPHS = "↑→↓←"
INSERTER_GLYPHS = "▲▶▼◀"
BLOCKED_GLYPH = "▒▒"
EMPTY_GLYPH = "· "
NAME_CHARACTERS = 2 * MACHINE_SIZE - 2
"""Letters of a recipe that fit into the box of a machine."""


def render_text(layout: Layout, blocked: Iterable[tuple[int, int]] = (), caption: str = "") -> str:
    """The picture with column and row numbers, the legend and the caption."""
    cells = {(x, y): EMPTY_GLYPH for y in range(layout.height) for x in range(layout.width)}
    blocked = list(blocked)
    cells |= dict.fromkeys(blocked, BLOCKED_GLYPH)
    ports = [one for one in layout.entities if one.kind in ("source", "sink")]
    letters = dict(zip(ports, string.ascii_letters, strict=False))
    for entity in layout.entities:
        if entity.kind == "asm":
            cells |= _machine_cells(entity)
        else:
            cells[entity.x, entity.y] = _glyph(entity, letters)
    lines = ["   " + "".join(f"{x % 100:<2}" for x in range(layout.width)).rstrip()]
    for y in range(layout.height):
        row = "".join(cells[x, y] for x in range(layout.width))
        lines.append(f"{y % 100:>2} {row}".rstrip())
    legend = _legend(layout, letters, bool(blocked))
    return "\n".join([*lines, "", *legend, *([caption] if caption else [])])


def _glyph(entity: Entity, letters: dict[Entity, str]) -> str:
    assert entity.direction is not None
    if entity.kind == "inserter":
        return INSERTER_GLYPHS[entity.direction] + " "
    if entity.kind == "belt":
        return BELT_GLYPHS[entity.direction] + " "
    return letters.get(entity, "?") + BELT_GLYPHS[entity.direction]


def _box_name(entity: Entity) -> str:
    return short_name(entity.recipe).replace(" ", "")[:NAME_CHARACTERS]


def _machine_cells(entity: Entity) -> dict[tuple[int, int], str]:
    rows = (
        "┌" + "─" * NAME_CHARACTERS + "┐",
        "│" + _box_name(entity).center(NAME_CHARACTERS) + "│",
        "└" + "─" * NAME_CHARACTERS + "┘",
    )
    return {
        (entity.x + dx, entity.y + dy): row[2 * dx : 2 * dx + 2]
        for dy, row in enumerate(rows)
        for dx in range(MACHINE_SIZE)
    }


def _legend(layout: Layout, letters: dict[Entity, str], has_blocked: bool) -> list[str]:
    kinds = {entity.kind for entity in layout.entities}
    signs = [
        text
        for shown, text in (
            ("belt" in kinds, f"{BELT_GLYPHS} belt"),
            ("inserter" in kinds, f"{INSERTER_GLYPHS} inserter, points where it drops"),
            (has_blocked, f"{BLOCKED_GLYPH} blocked"),
        )
        if shown
    ]
    lines = ["   ".join(signs)] if signs else []
    for port, letter in letters.items():
        assert port.direction is not None
        where = f"{port.kind} ({port.x}, {port.y}) {DIRECTION_NAMES[port.direction]}"
        lines.append(f"{letter}  {where}: {port_items(port)}")
    machines = {one.recipe: one for one in layout.entities if one.kind == "asm"}
    for recipe, machine in machines.items():
        lines.append(f"{_box_name(machine)}  machine: {recipe_text(recipe)}")
    return lines


def port_items(port: Entity) -> str:
    """What a port takes or gives, lane by lane where the lanes differ."""
    if port.kind == "sink":
        return port.item or "scores nothing"
    if port.left == port.right:
        return port.left or "empty"
    return f"left lane {port.left or 'empty'}, right lane {port.right or 'empty'}"


def recipe_text(recipe: str | None) -> str:
    """What one craft uses and makes."""
    if recipe is None:
        return "no recipe"
    made = RECIPES[recipe]
    used = " + ".join(f"{amount} {item}" for item, amount in made.ingredients)
    return f"{used} → {made.products_per_craft} {recipe}"
