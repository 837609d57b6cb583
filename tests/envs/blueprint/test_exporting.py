"""An exported blueprint is the layout: entity by entity, powered, and read back the same."""

from dataclasses import replace
from typing import Any

import pytest
from power_checker import power_faults
from public_layouts import PUBLIC, public_layout

from envs.blueprint.exporting import Exported, export_blueprint
from envs.blueprint.importing import import_blueprint
from envs.blueprint.ports import EMPTY, InputPort, OutputPort
from envs.blueprint.text import BlueprintError, decode_text
from envs.layout import EAST, NORTH, SOUTH, WEST, Entity, Layout

GAMES = ("2.0", "1.1")
POLES = ("substation", "medium-electric-pole")

# A source runs on into a source here, which belts do in the game but not by R9.
JOINED = ("p075", "p077")

# Nothing feeds the belt beside a furnace here, so that only a named item tells what it smelts.
UNFED = {"p008": "iron-ore", "p040": "stone"}


def inner(exported: Exported) -> dict[str, Any]:
    return exported.blueprint["blueprint"]


def wires(blueprint: dict[str, Any], game: str) -> set[tuple[int, int]]:
    """Pairs of entity numbers, the smaller first."""
    if game == "2.0":
        assert all(wire[1::2] == [5, 5] for wire in blueprint.get("wires", []))
        return {(wire[0], wire[2]) for wire in blueprint.get("wires", [])}
    ends = {
        (entity["entity_number"], other)
        for entity in blueprint["entities"]
        for other in entity.get("neighbours", [])
    }
    assert ends == {(right, left) for left, right in ends}
    return {(left, right) for left, right in ends if left < right}


def faults(layout: Layout, blueprint: dict[str, Any], game: str) -> list[str]:
    """What the independent checker says about the poles of a blueprint."""
    poles = [entity for entity in blueprint["entities"] if entity["name"] in POLES]
    number = {pole["entity_number"]: place for place, pole in enumerate(poles)}
    placed = [(pole["name"], *pole["position"].values()) for pole in poles]
    pairs = [(number[left], number[right]) for left, right in wires(blueprint, game)]
    return power_faults(layout, placed, pairs)


def at_origin(layout: Layout) -> list[Entity]:
    """The entities, moved so that their top left is at (0, 0)."""
    left = min(entity.x for entity in layout.entities)
    top = min(entity.y for entity in layout.entities)
    return [replace(entity, x=entity.x - left, y=entity.y - top) for entity in layout.entities]


def ahead(entity: Entity) -> tuple[int, int]:
    """The tile that a belt or an arm hands its items to."""
    assert entity.direction is not None
    dx, dy = ((0, -1), (1, 0), (0, 1), (-1, 0))[entity.direction]
    reach = entity.reach if entity.kind == "inserter" else 1
    return entity.x + reach * dx, entity.y + reach * dy


def input_ports(entities: list[Entity], unfed: str | None) -> list[InputPort]:
    """The inputs as a user would name them; belts that nothing feeds are named as well."""
    ports = []
    fed = {ahead(entity) for entity in entities if entity.direction is not None}
    for entity in entities:
        x, y = entity.x, entity.y
        if entity.kind == "source" and entity.left != entity.right:
            lanes = {"left": entity.left, "right": entity.right}
            ports += [InputPort(x, y, item, lane) for lane, item in lanes.items() if item]
        elif entity.kind == "source":
            ports.append(InputPort(x, y, entity.left))
        elif entity.kind == "chest_src":
            ports.append(InputPort(x, y, entity.item))
        elif entity.kind == "belt" and (x, y) not in fed:
            ports.append(InputPort(x, y, unfed))
    return ports


def output_ports(entities: list[Entity]) -> list[OutputPort]:
    """The outputs as a user would name them; ends of belts that are none are named as closed."""
    at = {(entity.x, entity.y): entity for entity in entities}
    ports = []
    for entity in entities:
        if entity.kind in ("sink", "chest_sink"):
            ports.append(OutputPort(entity.x, entity.y, entity.item or EMPTY))
        elif entity.kind == "belt":
            after = at.get(ahead(entity))
            goes_on = after is not None and after.kind in ("belt", "source", "sink")
            if not goes_on or (entity.direction + 2) % 4 == after.direction:
                ports.append(OutputPort(entity.x, entity.y, EMPTY))
    return ports


def read_back(exported: Exported, entities: list[Entity], unfed: str | None) -> set[Entity]:
    """The entities of the imported string, given the ports of the layout.

    Belts that got an item only so that a furnace's recipe can be told are taken back to belts.
    """
    layout = import_blueprint(
        decode_text(exported.text),
        inputs=input_ports(entities, unfed),
        outputs=output_ports(entities),
    ).layout
    original = {(entity.x, entity.y): entity for entity in entities}
    found = set()
    for entity in layout.entities:
        if entity.kind == "source" and original[entity.x, entity.y].kind == "belt":
            entity = replace(entity, kind="belt", left=None, right=None)
        found.add(entity)
    return found


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", [name for name in PUBLIC if name not in JOINED])
def test_r50_a_public_layout_is_read_back_the_same(name: str, game: str) -> None:
    entities = at_origin(public_layout(name))
    exported = export_blueprint(public_layout(name), game)
    assert read_back(exported, entities, UNFED.get(name)) == set(entities)


@pytest.mark.parametrize("name", JOINED)
def test_a_port_that_other_belts_join_is_pointed_out(name: str) -> None:
    notes = export_blueprint(public_layout(name)).notes
    assert any("other belts of the module join" in note for note in notes)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", PUBLIC)
def test_r50_a_public_layout_is_powered(name: str, game: str) -> None:
    exported = export_blueprint(public_layout(name), game)
    assert exported.powered
    assert faults(public_layout(name), inner(exported), game) == []


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", [name for name, obj in PUBLIC.items() if "blueprint_2_0" in obj])
def test_r50_entities_are_those_of_the_reference_blueprint(name: str, game: str) -> None:
    reference = decode_text(PUBLIC[name][f"blueprint_{game.replace('.', '_')}"])["blueprint"]
    exported = inner(export_blueprint(public_layout(name), game))
    assert without_poles(exported) == without_poles(reference)
    assert exported["version"] >> 32 == reference["version"] >> 32


def without_poles(blueprint: dict[str, Any]) -> list[tuple[Any, ...]]:
    return sorted(
        (
            entity["name"],
            entity["position"]["x"],
            entity["position"]["y"],
            entity.get("direction", 0),
            entity.get("recipe", ""),
        )
        for entity in blueprint["entities"]
        if entity["name"] not in POLES
    )


MODULE = Layout(
    12,
    12,
    (
        Entity("furnace", 6, 3, recipe="iron-plate"),
        Entity("inserter", 11, 0, SOUTH, prototype="fast-inserter"),
        Entity("asm", 1, 1, recipe="iron-gear-wheel"),
        Entity("inserter", 0, 5, WEST),
        Entity("source", 0, 0, EAST, left="iron-plate", right="iron-plate"),
        Entity("source", 4, 0, SOUTH, right="copper-plate"),
        Entity("sink", 5, 4, NORTH, item="iron-gear-wheel"),
        Entity("chest_sink", 5, 9, item="pipe"),
    ),
)


def test_a_module_for_2_0_is_written_entity_by_entity() -> None:
    blueprint = inner(export_blueprint(MODULE, "2.0"))
    assert blueprint["version"] == 2 << 48 | 0 << 32 | 76 << 16
    assert blueprint["icons"] == [
        {"signal": {"name": "iron-gear-wheel"}, "index": 1},
        {"signal": {"name": "pipe"}, "index": 2},
    ]
    assert blueprint["entities"] == [
        {"entity_number": 1, "name": "transport-belt", "position": at(0.5, 0.5), "direction": 4},
        {"entity_number": 2, "name": "transport-belt", "position": at(4.5, 0.5), "direction": 8},
        {"entity_number": 3, "name": "fast-inserter", "position": at(11.5, 0.5)},
        {
            "entity_number": 4,
            "name": "assembling-machine-1",
            "position": at(2.5, 2.5),
            "recipe": "iron-gear-wheel",
        },
        {"entity_number": 5, "name": "substation", "position": at(-1, 3)},
        {"entity_number": 6, "name": "substation", "position": at(13, 3)},
        {"entity_number": 7, "name": "stone-furnace", "position": at(7, 4)},
        {"entity_number": 8, "name": "transport-belt", "position": at(5.5, 4.5)},
        {"entity_number": 9, "name": "inserter", "position": at(0.5, 5.5), "direction": 4},
        {"entity_number": 10, "name": "wooden-chest", "position": at(5.5, 9.5)},
    ]
    assert blueprint["wires"] == [[5, 5, 6, 5]]


def at(x: float, y: float) -> dict[str, float]:
    return {"x": x, "y": y}


def test_r50_a_module_for_1_1_differs_in_directions_wires_icons_and_version_alone() -> None:
    new, old = (inner(export_blueprint(MODULE, game)) for game in GAMES)
    assert old["version"] == 1 << 48 | 1 << 32 | 110 << 16
    assert old["icons"][0]["signal"] == {"type": "item", "name": "iron-gear-wheel"}
    assert "wires" not in old
    assert old["entities"][4]["neighbours"] == [6]
    assert old["entities"][5]["neighbours"] == [5]
    for before, since in zip(old["entities"], new["entities"], strict=True):
        assert 2 * before.pop("direction", 0) == since.pop("direction", 0)
        before.pop("neighbours", None)
        assert before == since


def test_the_order_of_entities_changes_nothing() -> None:
    turned = replace(MODULE, entities=MODULE.entities[::-1])
    assert export_blueprint(turned) == export_blueprint(MODULE)


def test_the_string_holds_the_blueprint() -> None:
    exported = export_blueprint(MODULE, label="my gears")
    assert decode_text(exported.text) == exported.blueprint
    assert inner(exported)["label"] == "my gears"
    assert inner(export_blueprint(MODULE))["label"] == "iron-gear-wheel, pipe"


def test_the_description_names_ports_power_and_fuel() -> None:
    exported = export_blueprint(MODULE)
    assert inner(exported)["description"].splitlines() == [
        "Fuel must be put in by hand: 1 stone-furnace.",
        "Join a substation to your power network.",
        "Ports (tile x,y from the top left of the module, without poles):",
        "in 0,0 going east: iron-plate",
        "in 4,0 going south: left lane empty, right lane copper-plate",
        "out 5,4 going north: iron-gear-wheel",
        "out 5,9 chest: pipe",
    ]
    assert exported.notes == ("Fuel must be put in by hand: 1 stone-furnace.",)


def test_ports_are_counted_from_the_first_entity_as_the_import_does() -> None:
    belts = (Entity("belt", 5, 7, EAST), Entity("sink", 6, 7, EAST, item="iron-plate"))
    description = inner(export_blueprint(Layout(12, 12, belts)))["description"]
    assert "out 1,0 going east: iron-plate" in description


def test_a_description_of_many_ports_counts_those_that_do_not_fit() -> None:
    sources = [Entity("source", 0, y, EAST, left="iron-plate") for y in range(40)]
    text = inner(export_blueprint(Layout(1, 40, tuple(sources))))["description"]
    assert len(text) <= 500
    listed = text.count("in 0,")
    assert listed > 5
    assert text.endswith(f"and {40 - listed} more")


def test_a_module_without_room_for_poles_says_that_it_is_unpowered() -> None:
    machines = tuple(Entity("asm", x, y) for x in range(0, 21, 3) for y in range(0, 21, 3))
    exported = export_blueprint(Layout(21, 21, machines))
    assert not exported.powered
    assert exported.notes[0].startswith("UNPOWERED")
    assert inner(exported)["description"].startswith("UNPOWERED")
    assert {entity["name"] for entity in inner(exported)["entities"]} == {"assembling-machine-1"}
    assert "wires" not in inner(exported)


@pytest.mark.parametrize("game", GAMES)
def test_a_wide_module_is_powered_by_medium_poles(game: str) -> None:
    arms = tuple(Entity("inserter", x, y, EAST) for x in range(1, 20, 3) for y in range(0, 20, 4))
    layout = Layout(20, 20, arms)
    exported = export_blueprint(layout, game)
    assert faults(layout, inner(exported), game) == []
    assert len(wires(inner(exported), game)) > 2


def test_items_that_the_game_may_not_know_are_no_icons() -> None:
    sink = Entity("sink", 0, 0, EAST, item="unobtainium")
    blueprint = inner(export_blueprint(Layout(1, 1, (sink,))))
    assert blueprint["icons"] == [{"signal": {"name": "transport-belt"}, "index": 1}]


def test_a_layout_without_entities_is_refused() -> None:
    with pytest.raises(BlueprintError, match="has no entities"):
        export_blueprint(Layout(12, 12, ()))


def test_an_unknown_game_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(BlueprintError, match=r"'0\.17'; known are 2\.0, 1\.1"):
        export_blueprint(MODULE, "0.17")
