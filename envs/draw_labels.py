"""What is written on the entities of a picture. Jax-free.

In: entities. Out: labels with recipes, tiers and items, placed in tiles of the grid.
"""

from envs.draw import BUILDING_COATS, FAINT_INK, INK, PAPER, SINK_COAT, SOURCE_COAT, Coat
from envs.draw_canvas import Label
from envs.draw_machines import badge_centre
from envs.labels import TIERS, short_name
from envs.layout import MACHINE_KINDS, WEST, Entity, recipes_of


def labels_of(entity: Entity) -> list[Label]:
    """All labels of an entity; a belt and an inserter have none."""
    if entity.kind in MACHINE_KINDS:
        return machine_labels(entity)
    if entity.kind in ("source", "sink"):
        return port_labels(entity)
    if entity.kind in ("chest_src", "chest_sink"):
        colour = PAPER if entity.kind == "chest_src" else INK
        return chest_labels(entity, colour, BUILDING_COATS[entity.kind].mark)
    return []


def machine_labels(machine: Entity) -> list[Label]:
    """The product and the ingredients of a machine, and its tier."""
    x, y = machine.x + machine.size / 2, machine.y + machine.size / 2
    is_small = machine.size == 2
    width = machine.size - 0.4
    coat = BUILDING_COATS[machine.kind]
    labels = tier_labels(machine, coat)
    if machine.recipe is None:
        at = (x, y - 0.15 * is_small)
        return [*labels, Label("no recipe", *at, width, 0.36, FAINT_INK, coat.fill)]
    rows = _ingredient_rows(machine.recipe, machine.kind)
    name_y, used_y = (y - 0.42, y - 0.03) if is_small else (y - 0.1, y + 0.4)
    if machine.kind == "furnace" and not is_small:
        name_y, used_y = y - 0.45, y + 0.05
    name_height = 0.46 if is_small else 0.52
    return [
        *labels,
        Label(short_name(machine.recipe), x, name_y, width, name_height, INK, coat.fill),
        *(
            Label(text, x, used_y + 0.29 * row, width, 0.29, FAINT_INK, coat.fill)
            for row, text in enumerate(rows)
        ),
    ]


def _ingredient_rows(recipe: str, kind: str) -> list[str]:
    """What one craft uses, two ingredients a row."""
    used = [f"{amount} {short_name(item)}" for item, amount in recipes_of(kind)[recipe].ingredients]
    return [" + ".join(used[start : start + 2]) for start in range(0, len(used), 2)]


def tier_labels(machine: Entity, coat: Coat) -> list[Label]:
    """The tier of a machine in its disc; nothing for the first."""
    if machine.prototype not in TIERS:
        return []
    u, v = badge_centre(machine.size)
    x, y = machine.x + machine.size / 2 + u, machine.y + machine.size / 2 + v
    return [Label(TIERS[machine.prototype], x, y, 0.3, 0.3, PAPER, coat.edge)]


def lane_items(port: Entity) -> list[str | None]:
    """The items of a source or sink from top to bottom, one for each lane where they differ.

    They lie as the lanes do where the flow is east or west, else the left lane is first.
    """
    if port.kind == "sink":
        return [port.item]
    items = list(dict.fromkeys((port.left, port.right)))
    return items[::-1] if port.direction == WEST else items


def port_labels(port: Entity) -> list[Label]:
    """The items of a port, above its arrow."""
    items = lane_items(port)
    halo = (SINK_COAT if port.kind == "sink" else SOURCE_COAT).fill
    first = port.y + 0.34 - 0.12 * (len(items) - 1)
    return [
        Label(short_name(item), port.x + 0.5, first + 0.25 * row, 0.94, 0.27, PAPER, halo)
        for row, item in enumerate(items)
    ]


def chest_labels(chest: Entity, colour: str, lid: str) -> list[Label]:
    """The item of a chest on its lid."""
    return [Label(short_name(chest.item), chest.x + 0.5, chest.y + 0.25, 0.76, 0.25, colour, lid)]
