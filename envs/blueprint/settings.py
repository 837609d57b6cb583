"""Settings of a blueprint's entities that the simulation leaves out. Jax-free.

In: the fields of one entity in a blueprint. Out: the reason why it is not simulated, if any.
Field names are those that Factorio 1.1 and 2.0 write.
"""

from collections.abc import Mapping
from typing import Any

from envs.blueprint.text import shown
from envs.catalogue import RECIPES

READING_ONLY = (
    "circuit_read_hand_contents",
    "circuit_hand_read_mode",
    "circuit_contents_read_mode",
    "read_contents",
    "include_in_crafting",
    "circuit_read_ingredients",
    "circuit_read_recipe_finished",
    "circuit_read_working",
)
"""Keys of `control_behavior` that report to a circuit network and change nothing here."""


def objection(kind: str, fields: Mapping[str, Any], before_2_0: bool) -> str | None:
    """Why an entity of a supported kind is not simulated as it is set, None if it is."""
    if fields.get("quality") not in (None, "normal"):
        return "quality other than normal is not simulated"
    if is_controlled(fields, before_2_0):
        return "circuit and logistic conditions are not simulated"
    if kind == "inserter":
        return _inserter_objection(fields)
    if kind in ("asm", "furnace"):
        return _machine_objection(kind, fields)
    return None


def is_controlled(fields: Mapping[str, Any], before_2_0: bool) -> bool:
    """Whether a circuit or logistic network may change what an entity does.

    Before 2.0 a wire alone may (its default mode is to enable and disable); since 2.0 every
    effect has a switch of its own, which is off unless it is written.
    """
    control = fields.get("control_behavior")
    if control and not isinstance(control, Mapping):
        return True
    if control and any(value for key, value in control.items() if key not in READING_ONLY):
        return True
    return before_2_0 and _is_wired(fields.get("connections"))


def _is_wired(connections: object) -> bool:
    """Whether a red or green wire is on the entity (1.1: `{"1": {"red": [...]}}`)."""
    if not isinstance(connections, Mapping):
        return False
    points = [point for point in connections.values() if isinstance(point, Mapping)]
    return any(point.get("red") or point.get("green") for point in points)


def _inserter_objection(fields: Mapping[str, Any]) -> str | None:
    if fields.get("filters") or fields.get("use_filters"):
        return "filters are not simulated"
    if fields.get("override_stack_size") not in (None, 1):
        return "stack bonuses are not simulated"
    if fields.get("pickup_position") or fields.get("drop_position"):
        return "a moved pickup or drop place is not simulated"
    return None


def _machine_objection(kind: str, fields: Mapping[str, Any]) -> str | None:
    if fields.get("items"):
        return "modules and items that robots put in are not simulated"
    if fields.get("recipe_quality") not in (None, "normal"):
        return "quality other than normal is not simulated"
    recipe = fields.get("recipe")
    if recipe is not None and not isinstance(recipe, str):
        return "its recipe is not a name"
    if kind == "asm" and recipe is not None and recipe not in RECIPES:
        return f"the recipe {shown(recipe)} is not in the recipe table"
    return None


def requested_items(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Items that a requester or buffer chest asks robots for.

    1.1 writes `request_filters: [{"name": ...}]`, 2.0 `{"sections": [{"filters": [...]}]}`.
    """
    requests = fields.get("request_filters")
    lists = [requests]
    if isinstance(requests, Mapping):
        sections = requests.get("sections")
        sections = sections if isinstance(sections, list) else []
        lists = [one.get("filters") for one in sections if isinstance(one, Mapping)]
    entries = [entry for one in lists if isinstance(one, list) for entry in one]
    names = [entry.get("name") for entry in entries if isinstance(entry, Mapping)]
    return tuple(sorted({name for name in names if isinstance(name, str)}))
