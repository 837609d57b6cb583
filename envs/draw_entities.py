"""Puts machines, chests and inserters on a canvas. Jax-free.

In: a canvas, entities and their colours. Out: their stamps. Plain pictures and heat maps share it.
"""

from envs.draw import FLAME, FLAME_CORE, Coat
from envs.draw_canvas import Canvas
from envs.draw_machines import paint_assembler, paint_chest, paint_furnace, paint_inserter
from envs.labels import TIERS
from envs.layout import Entity, Layout

_BUILDINGS = ("asm", "furnace", "chest_src", "chest_sink")


def buildings(layout: Layout) -> list[Entity]:
    """Machines and chests."""
    return [one for one in layout.entities if one.kind in _BUILDINGS]


def arms_in_order(layout: Layout) -> list[Entity]:
    """Inserters, long ones first: short ones stay visible where a long one reaches over them."""
    arms = [one for one in layout.entities if one.kind == "inserter"]
    return sorted(arms, key=lambda arm: -arm.reach)


def stamp_building(
    canvas: Canvas, entity: Entity, coat: Coat, fire: tuple[str, str] = (FLAME, FLAME_CORE)
) -> None:
    """A machine or a chest; `fire` has the colours of a furnace's."""
    at, size = (entity.x, entity.y), entity.size
    has_badge = entity.prototype in TIERS
    if entity.kind in ("chest_src", "chest_sink"):
        canvas.stamp(paint_chest, *at, coat, entity.kind == "chest_src")
    elif entity.kind == "asm":
        canvas.stamp(paint_assembler, *at, size, coat, has_badge, size=size)
    else:
        canvas.stamp(paint_furnace, *at, size, coat, has_badge, *fire, size=size)


def stamp_arm(canvas: Canvas, arm: Entity, coat: Coat) -> None:
    """An inserter; its arm lies over the tiles that it reaches."""
    heads = 2 if arm.prototype == "fast-inserter" else 1
    canvas.stamp(
        paint_inserter,
        arm.x,
        arm.y,
        arm.reach,
        coat,
        heads,
        direction=arm.direction,
        overhang=arm.reach,
    )
