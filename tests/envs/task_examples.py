"""A sound task as a user writes it, and the same with changes."""

from typing import Any

from envs.task_fields import Faults, Fields, read_spec
from envs.task_spec import TaskSpec

SOURCE = {"x": 0, "y": 5, "direction": "E", "role": "source", "item": "iron-plate"}
SINK = {"x": 11, "y": 8, "direction": "E", "role": "sink"}
GEARS: dict[str, Any] = {
    "ports": [SOURCE, SINK],
    "recipes": ["iron-gear-wheel"],
    "target_item": "iron-gear-wheel",
    "target_rate": "15/16",
}


def source(item: str | None = None, **fields: Any) -> dict[str, Any]:
    """A source port, both lanes with `item` if it is given."""
    base = {"x": 0, "y": 5, "direction": "E", "role": "source"}
    return {**base, **({"item": item} if item else {}), **fields}


def spec(**changes: Any) -> TaskSpec:
    """The sound task with some fields changed; its form has to be right."""
    faults = Faults()
    made = read_spec(Fields({**GEARS, **changes}, faults))
    assert made is not None, faults
    assert faults.all() == ()
    return made
