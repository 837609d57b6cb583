"""The JSON form of a layout (R3). Jax-free.

In: parsed JSON. Out: a validated `Layout`, and back.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from envs.layout import (
    DEFAULT_SIZE,
    DIRECTED_KINDS,
    DIRECTION_NAMES,
    ITEM_FIELDS,
    KINDS,
    MACHINE_KINDS,
    PROTOTYPES,
    Entity,
    Layout,
    LayoutError,
    validate,
)

ARM_TYPES = {
    "burner": "burner-inserter",
    "long": "long-handed-inserter",
    "fast": "fast-inserter",
}
"""Short names of the field `t` (R3)."""

MAX_NAME = 100
"""Longest name of an item or recipe, characters."""

_SHORT = {prototype: short for short, prototype in ARM_TYPES.items()}


def entity_from_json(obj: Mapping[str, Any]) -> Entity:
    """One entity of the JSON format; unknown fields are ignored (R3). Raises LayoutError."""
    kind = obj.get("k")
    if not isinstance(kind, str) or kind not in KINDS:
        raise LayoutError(f"unknown entity kind {kind!r}; known are {', '.join(KINDS)}")
    where = f"{kind} {dict(obj)}"
    x, y = obj.get("x"), obj.get("y")
    if type(x) is not int or type(y) is not int:
        raise LayoutError(f"{where}: x and y must be whole numbers")
    entity = Entity(kind, x, y)
    typed = len(PROTOTYPES[kind]) > 1 and obj.get("t") is not None
    if typed and not isinstance(obj["t"], str):
        raise LayoutError(f"{where}: t must be one of {', '.join(PROTOTYPES[kind])}")
    if typed:
        entity = replace(entity, prototype=ARM_TYPES.get(obj["t"], obj["t"]))
    names = ("recipe",) if kind in MACHINE_KINDS else ITEM_FIELDS.get(kind, ())
    for name in names:
        value = obj.get(name)
        if value is not None and not _is_name(value):
            raise LayoutError(
                f"{kind} at ({x}, {y}): {name} must be null or a name of at most {MAX_NAME} "
                "printable characters"
            )
        entity = replace(entity, **{name: value})
    if kind not in DIRECTED_KINDS:
        return entity
    direction = obj.get("d")
    if not isinstance(direction, str) or direction not in tuple(DIRECTION_NAMES):
        raise LayoutError(f"{where}: direction d must be one of N, E, S, W")
    return replace(entity, direction=DIRECTION_NAMES.index(direction))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_NAME and value.isprintable()


def entity_to_json(entity: Entity) -> dict[str, Any]:
    """The JSON form of one entity (R3)."""
    obj: dict[str, Any] = {"k": entity.kind, "x": entity.x, "y": entity.y}
    if entity.direction is not None:
        obj["d"] = DIRECTION_NAMES[entity.direction]
    if entity.prototype != PROTOTYPES[entity.kind][0]:
        obj["t"] = _SHORT.get(entity.prototype, entity.prototype)
    if entity.kind in MACHINE_KINDS:
        obj["recipe"] = entity.recipe
    for name in ITEM_FIELDS.get(entity.kind, ()):
        obj[name] = getattr(entity, name)
    return obj


def layout_from_json(obj: Mapping[str, Any]) -> Layout:
    """A validated layout from the JSON format (R3). Raises LayoutError."""
    if not isinstance(obj, Mapping) or not isinstance(obj.get("entities"), list):
        raise LayoutError("a layout is a JSON object with a list named 'entities'")
    size = {name: obj.get(name, DEFAULT_SIZE) for name in ("width", "height")}
    for name, value in size.items():
        if type(value) is not int:
            raise LayoutError(f"{name} is {value!r}; it must be a whole number")
    for entry in obj["entities"]:
        if not isinstance(entry, Mapping):
            raise LayoutError(f"an entity is a JSON object, not {entry!r}")
    layout = Layout(**size, entities=tuple(entity_from_json(entry) for entry in obj["entities"]))
    validate(layout)
    return layout


def layout_to_json(layout: Layout) -> dict[str, Any]:
    """The JSON form of a layout (R3)."""
    return {
        "width": layout.width,
        "height": layout.height,
        "entities": [entity_to_json(entity) for entity in layout.entities],
    }
