"""Entity names and settings of the game: what is simulated, what is not, and what has no effect."""

from typing import Any

import pytest
from blueprint_examples import VERSION_1_1, blueprint, entity

from envs.blueprint.game import CHESTS, IGNORED, SUPPORTED, TRACKS, UNSUPPORTED
from envs.blueprint.importing import import_blueprint
from envs.blueprint.pieces import read_pieces
from envs.blueprint.ports import InputPort
from envs.blueprint.settings import is_controlled, objection, requested_items

# Footprints facing north: tile_width x tile_height of the prototypes [S3].
SIZES = {
    "splitter": (2, 1),
    "fast-loader": (1, 2),
    "pumpjack": (3, 3),
    "oil-refinery": (5, 5),
    "rocket-silo": (9, 9),
    "recycler": (2, 4),
    "electromagnetic-plant": (4, 4),
    "boiler": (3, 2),
    "roboport": (4, 4),
}


def test_every_name_has_one_meaning() -> None:
    tables = (SUPPORTED, CHESTS, UNSUPPORTED, IGNORED, TRACKS)
    names = [name for table in tables for name in table]
    assert len(names) == len(set(names)) > 130


def test_names_of_both_games_are_known() -> None:
    for old, new in (
        ("logistic-chest-requester", "requester-chest"),
        ("logistic-chest-active-provider", "active-provider-chest"),
    ):
        assert CHESTS[old] == CHESTS[new]
    for name in ("filter-inserter", "stack-filter-inserter", "bulk-inserter", "stack-inserter"):
        assert name in UNSUPPORTED
    assert not CHESTS["passive-provider-chest"].gives


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_footprints_turn_with_the_entity(name: str, size: tuple[int, int]) -> None:
    for direction in range(4):
        width, height = size if direction % 2 == 0 else size[::-1]
        one = entity(name, 3, 4, direction, size=(width, height))
        grid = read_pieces(blueprint(one, entity("inserter", 0, 0))["blueprint"])
        piece = next(piece for piece in grid.pieces if piece.name == name)
        assert (piece.x, piece.y, piece.width, piece.height) == (3, 4, width, height)


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        ("belt", {"quality": "rare"}, "quality"),
        ("inserter", {"filters": [{"index": 1, "name": "stone"}]}, "filters"),
        ("inserter", {"use_filters": True}, "filters"),
        ("inserter", {"override_stack_size": 3}, "stack"),
        ("inserter", {"drop_position": [0, 1]}, "place"),
        ("inserter", {"control_behavior": {"circuit_enabled": True}}, "circuit"),
        ("inserter", {"control_behavior": {"circuit_condition": {"constant": 1}}}, "circuit"),
        ("belt", {"control_behavior": [1]}, "circuit"),
        ("asm", {"items": {"speed-module": 2}}, "modules"),
        ("asm", {"items": [{"id": {"name": "speed-module"}}]}, "modules"),
        ("asm", {"recipe": "iron-stick", "recipe_quality": "epic"}, "quality"),
        ("asm", {"recipe": "rocket-part"}, "'rocket-part' is not in the recipe table"),
        ("asm", {"recipe": ["pipe"]}, "not a name"),
        ("furnace", {"items": {"productivity-module": 2}}, "modules"),
    ],
)
def test_settings_that_are_not_simulated_have_a_reason(
    kind: str, fields: dict[str, Any], said: str
) -> None:
    assert said in (objection(kind, fields, before_2_0=False) or "")


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("belt", {}),
        ("belt", {"control_behavior": {"circuit_enabled": False}}),
        ("belt", {"control_behavior": {"read_contents": True}, "connections": {}}),
        ("inserter", {"quality": "normal", "override_stack_size": 1, "filters": []}),
        ("asm", {"recipe": "pipe", "items": {}, "recipe_quality": "normal"}),
        ("asm", {"recipe": None}),
        ("furnace", {}),
    ],
)
def test_settings_without_effect_have_none(kind: str, fields: dict[str, Any]) -> None:
    assert objection(kind, fields, before_2_0=False) is None


def test_a_wire_alone_stops_things_only_before_2_0() -> None:
    wired = {"connections": {"1": {"red": [{"entity_id": 2}]}}}
    assert is_controlled(wired, before_2_0=True)
    assert not is_controlled(wired, before_2_0=False)
    assert not is_controlled({"connections": {"Cu0": [{"entity_id": 2}]}}, before_2_0=True)


def test_requests_of_chests_are_read_in_both_forms() -> None:
    assert requested_items({"request_filters": [{"name": "stone"}, {"name": "pipe"}]}) == (
        "pipe",
        "stone",
    )
    sections = [{"filters": [{"name": "stone"}]}, {}, 3]
    assert requested_items({"request_filters": {"sections": sections}}) == ("stone",)
    assert requested_items({"request_filters": {"sections": 3}}) == ()
    assert requested_items({"request_filters": "stone"}) == ()


def test_an_arm_drops_away_from_where_its_direction_points() -> None:
    east = {**entity("inserter", 1, 0), "direction": 2}
    belts = [{**entity("transport-belt", x, 0), "direction": 2} for x in (0, 2)]
    obj = blueprint(east, *belts, version=VERSION_1_1)
    layout = import_blueprint(obj, inputs=[InputPort(2, 0, "stone")]).layout
    arm = next(one for one in layout.entities if one.kind == "inserter")
    assert arm.direction == 3
