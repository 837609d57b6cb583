"""A layout as a blueprint string of the game, with electric poles where it needs them (R50).

In: a layout. Out: the string, the JSON object in it, and what a player must know. Positions are
centres; belts point where they flow, inserters at their pickup tile. Sources and sinks become
plain belts; the blueprint's description says what to join to them. Jax-free.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from envs.blueprint.description import describe
from envs.blueprint.game import FIRST_OF_2_0, TURN_UNITS, TURN_UNITS_BEFORE_2_0
from envs.blueprint.power import Pole, Power, plan_power
from envs.blueprint.text import BlueprintError, encode_text
from envs.catalogue import ITEMS
from envs.layout import SINK_KINDS, Entity, Layout

GAME_VERSIONS = {
    "2.0": FIRST_OF_2_0 | 76 << 16,
    "1.1": 1 << 48 | 1 << 32 | 110 << 16,
}
"""`version` of the blueprints written for a game: 2.0.76 and 1.1.110 (R50)."""

COPPER_CONNECTOR = 5
"""Connector of a pole's copper wire, `defines.wire_connector_id.pole_copper` since 2.0."""

MAX_ICONS = 4
"""Icons that a blueprint can show."""


@dataclass(frozen=True)
class Exported:
    """A blueprint.

    Attributes:
        text: the blueprint string.
        blueprint: the JSON object in it, `{"blueprint": {...}}`.
        powered: whether every electric entity is supplied, by poles in the blueprint.
        notes: what keeps the blueprint from running at once, one sentence each.
    """

    text: str
    blueprint: dict[str, Any]
    powered: bool
    notes: tuple[str, ...]


def export_blueprint(layout: Layout, game: str = "2.0", label: str | None = None) -> Exported:
    """The blueprint of a valid layout; equal layouts give equal strings.

    Args:
        layout: what to build.
        game: a key of `GAME_VERSIONS`.
        label: the blueprint's name; None for the items that the layout gives.

    Raises:
        BlueprintError: for an unknown game, or for a layout without entities.
    """
    if game not in GAME_VERSIONS:
        known = ", ".join(GAME_VERSIONS)
        raise BlueprintError(f"no blueprints are written for game {game!r}; known are {known}")
    if not layout.entities:
        raise BlueprintError("the layout has no entities, so there is no blueprint of it")
    power = plan_power(layout)
    description, notes = describe(layout, power)
    items = _output_items(layout)
    blueprint = {
        "item": "blueprint",
        "label": label if label is not None else ", ".join(items) or "belts and machines",
        "description": description,
        "icons": _icons(items, game),
        **_build(layout, power, game),
        "version": GAME_VERSIONS[game],
    }
    obj = {"blueprint": blueprint}
    return Exported(encode_text(obj), obj, power.complete, notes)


def _output_items(layout: Layout) -> list[str]:
    sinks = [entity for entity in layout.entities if entity.kind in SINK_KINDS]
    return sorted({sink.item for sink in sinks if sink.item is not None})


def _icons(items: Sequence[str], game: str) -> list[dict[str, Any]]:
    """The outputs that the game knows. 2.0 leaves out the type of an item."""
    names = [item for item in items if item in ITEMS][:MAX_ICONS] or ["transport-belt"]
    kind = {} if game == "2.0" else {"type": "item"}
    return [
        {"signal": {**kind, "name": name}, "index": index} for index, name in enumerate(names, 1)
    ]


def _build(layout: Layout, power: Power, game: str) -> dict[str, Any]:
    """`entities` in row-major order, numbered from 1, and the poles' wires."""
    built: list[Entity | Pole] = sorted(
        [*layout.entities, *power.poles], key=lambda entity: (entity.y, entity.x)
    )
    numbers = {(entity.y, entity.x): number for number, entity in enumerate(built, 1)}
    poles = [numbers[pole.y, pole.x] for pole in power.poles]
    wires = sorted(sorted((poles[left], poles[right])) for left, right in power.wires)
    entities = [
        {"entity_number": number, **_entity_json(entity, game)}
        for number, entity in enumerate(built, 1)
    ]
    if game == "2.0":
        joined = [[left, COPPER_CONNECTOR, right, COPPER_CONNECTOR] for left, right in wires]
        return {"entities": entities, "wires": joined} if joined else {"entities": entities}
    for number in poles:
        ends = [left + right - number for left, right in wires if number in (left, right)]
        if ends:
            entities[number - 1]["neighbours"] = sorted(ends)
    return {"entities": entities}


def _entity_json(entity: Entity | Pole, game: str) -> dict[str, Any]:
    if isinstance(entity, Pole):
        kind = entity.kind
        return {"name": kind.prototype, "position": _centre(entity.x, entity.y, kind.size)}
    obj: dict[str, Any] = {
        "name": entity.prototype,
        "position": _centre(entity.x, entity.y, entity.size),
    }
    if entity.direction is not None:
        units = TURN_UNITS if game == "2.0" else TURN_UNITS_BEFORE_2_0
        # An inserter points at its pickup tile, the opposite of its drop side.
        quarters = (entity.direction + 2) % 4 if entity.kind == "inserter" else entity.direction
        if quarters:
            obj["direction"] = quarters * units // 4
    if entity.kind == "asm" and entity.recipe is not None:
        obj["recipe"] = entity.recipe
    return obj


def _centre(x: int, y: int, size: int) -> dict[str, float]:
    return {"x": x + size / 2, "y": y + size / 2}
