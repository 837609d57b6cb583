"""The legend below a layout's text: signs, ports, chests, machines. Jax-free.

In: a layout, the letters of its ports and chests, the names in its machines' boxes. Out: lines.
"""

from collections.abc import Mapping

from envs.layout import DIRECTION_NAMES, EAST, Entity, Layout, recipes_of

BELT_GLYPHS = "↑→↓←"
INSERTER_GLYPHS = "▲▶▼◀"
INSERTER_MARKS = {"burner-inserter": "*", "long-handed-inserter": "2"}
"""What follows the glyph of an inserter, by prototype name; a fast one has its glyph twice."""

CHEST_GLYPHS = {"chest_src": "■", "chest_sink": "□"}
BLOCKED_GLYPH = "▒▒"

_KIND_NAMES = {"chest_src": "source chest", "chest_sink": "sink chest"}


def legend(
    layout: Layout,
    letters: Mapping[Entity, str],
    names: Mapping[Entity, str],
    has_blocked: bool,
) -> list[str]:
    """Lines for the signs that occur, each port and chest, each recipe of each type of machine."""
    signs = _signs(layout, has_blocked)
    lines = ["   ".join(signs)] if signs else []
    for one, letter in letters.items():
        way = "" if one.direction is None else f" {DIRECTION_NAMES[one.direction]}"
        kind = _KIND_NAMES.get(one.kind, one.kind)
        lines.append(f"{letter}  {kind} ({one.x}, {one.y}){way}: {port_items(one)}")
    machines = {
        f"{name}  {machine.prototype}: {recipe_text(machine)}" for machine, name in names.items()
    }
    return lines + sorted(machines)


def inserter_glyph(direction: int, prototype: str) -> str:
    """Two characters for an inserter."""
    glyph = INSERTER_GLYPHS[direction]
    return glyph + (glyph if prototype == "fast-inserter" else INSERTER_MARKS.get(prototype, " "))


def _signs(layout: Layout, has_blocked: bool) -> list[str]:
    kinds = {entity.kind for entity in layout.entities}
    types = {entity.prototype for entity in layout.entities if entity.kind == "inserter"}
    signs = [f"{BELT_GLYPHS} belt"] if "belt" in kinds else []
    if types:
        signs.append(f"{INSERTER_GLYPHS} inserter, points where it drops")
    signs += [
        f"{inserter_glyph(EAST, prototype)} {prototype.removesuffix('-inserter')}"
        for prototype in sorted(types - {"inserter"})
    ]
    return signs + [f"{BLOCKED_GLYPH} blocked"] * has_blocked


def port_items(port: Entity) -> str:
    """What a port or chest takes or gives, lane by lane where the lanes differ."""
    if port.kind in ("sink", "chest_sink"):
        return port.item or "scores nothing"
    if port.kind == "chest_src":
        return port.item or "empty"
    if port.left == port.right:
        return port.left or "empty"
    return f"left lane {port.left or 'empty'}, right lane {port.right or 'empty'}"


def recipe_text(machine: Entity) -> str:
    """What one craft of a machine uses and makes."""
    if machine.recipe is None:
        return "no recipe"
    made = recipes_of(machine.kind)[machine.recipe]
    used = " + ".join(f"{amount} {item}" for item, amount in made.ingredients)
    return f"{used} → {made.products_per_craft} {machine.recipe}"
