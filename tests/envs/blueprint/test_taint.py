"""What entities that are not simulated make unknown: never a silent number, nothing more."""

from typing import Any

import pytest
from blueprint_examples import CHEST, VERSION_1_1, asm, blueprint, entity, picture

from envs.blueprint.importing import Imported, import_blueprint

GEARS = """
    >>>>....
    ..s.....
    .A......
    ....e>>>
    ........
"""


def gears(*others: dict[str, Any], **fields: Any) -> Imported:
    return import_blueprint(picture(GEARS, *others, A={**asm("iron-gear-wheel"), **fields}))


def two_units(*others: dict[str, Any]) -> Imported:
    """Chest to machine to chest, twice: above and, four rows below, again."""
    rows = """
        CeA..eC
        .......
        .......
        .......
        CeA..eC
        .......
        .......
    """
    return import_blueprint(picture(rows, *others, A=asm("pipe"), C=CHEST))


def reasons(found: Imported) -> list[tuple[str, int, int]]:
    return [(one.name, one.x, one.y) for one in found.unsupported]


def test_without_such_entities_every_rate_is_known() -> None:
    assert gears().unknown_sinks == frozenset()
    assert gears().unsupported == ()


@pytest.mark.parametrize(
    "fields",
    [{"items": {"speed-module": 1}}, {"quality": "rare"}, {"control_behavior": {"set_recipe": 1}}],
)
def test_a_machine_set_otherwise_makes_its_outputs_unknown(fields: dict[str, Any]) -> None:
    found = gears(**fields)
    assert found.unknown_sinks == {(7, 3)}
    assert reasons(found) == [("assembling-machine-1", 1, 2)]


def test_a_recipe_outside_the_table_makes_its_outputs_unknown() -> None:
    found = import_blueprint(picture(GEARS, A=asm("rocket-part")))
    assert found.unknown_sinks == {(7, 3)}
    assert "'rocket-part'" in found.unsupported[0].reason


def test_only_what_is_joined_to_it_is_unknown() -> None:
    arm = entity("bulk-inserter", 2, 3, 0)
    # It hands pipes of the upper machine to the lower one.
    assert two_units(arm).unknown_sinks == {(6, 0), (6, 4)}
    lone = two_units(entity("lab", 9, 0, size=(3, 3)))
    assert lone.unknown_sinks == frozenset()
    assert reasons(lone) == [("lab", 9, 0)]


def test_back_pressure_carries_it_upstream() -> None:
    turned = entity("splitter", 8, 3, 1, size=(1, 2))
    found = gears(turned)
    assert found.unknown_sinks == frozenset()
    assert [one.kind for one in found.layout.entities if (one.x, one.y) == (7, 3)] == ["belt"]
    beside = gears(entity("splitter", 8, 3, 1, size=(1, 2)), entity("transport-belt", 9, 3, 1))
    assert beside.unknown_sinks == {(9, 3)}


@pytest.mark.parametrize(
    ("name", "size"), [("underground-belt", (1, 1)), ("fast-transport-belt", (1, 1))]
)
def test_belts_beyond_a_piece_that_moves_items_are_unknown(
    name: str, size: tuple[int, int]
) -> None:
    piece = entity(name, 8, 3, 1, size=size)
    found = gears(piece, entity("transport-belt", 9, 3, 1))
    assert found.unknown_sinks == {(9, 3)}
    # Its inputs are not asked for, since the rate is unknown anyway.
    assert reasons(found) == [(name, 8, 3)]


def test_the_entrance_of_an_underground_leads_nowhere_on_the_ground() -> None:
    entrance = entity("underground-belt", 8, 3, 1, type="input")
    found = gears(entrance, entity("transport-belt", 9, 4, 1), entity("transport-belt", 9, 3, 1))
    assert (9, 3) not in found.unknown_sinks


def test_a_beacon_reaches_three_tiles() -> None:
    near = two_units(entity("beacon", 8, -3, size=(3, 3)))
    assert near.unknown_sinks == frozenset()
    # The machine at (2, 0) ends at x = 4; three tiles from there a beacon begins at x = 8.
    assert two_units(entity("beacon", 8, 0, size=(3, 3))).unknown_sinks == frozenset()
    assert two_units(entity("beacon", 7, 1, size=(3, 3))).unknown_sinks == {(6, 0), (6, 4)}
    assert two_units(entity("beacon", 7, -2, size=(3, 3))).unknown_sinks == {(6, 2)}


def test_a_drill_and_a_loader_act_on_what_stands_beside_them() -> None:
    drill = entity("electric-mining-drill", 4, -3, size=(3, 3))
    assert gears(drill).unknown_sinks == frozenset()
    assert gears(entity("electric-mining-drill", 1, -3, size=(3, 3))).unknown_sinks == {(7, 6)}
    assert gears(entity("loader", 5, 5, 0, size=(1, 2))).unknown_sinks == frozenset()
    assert gears(entity("loader", 1, 5, 0, size=(1, 2))).unknown_sinks == {(7, 3)}


def test_an_unknown_name_makes_every_rate_unknown() -> None:
    found = two_units(entity("mod-machine", 30, 30))
    assert found.unknown_sinks == {(6, 0), (6, 4)}
    assert reasons(found) == [("mod-machine", 30, 30)]


def test_a_chest_between_inserters_makes_both_sides_unknown() -> None:
    found = import_blueprint(picture("CeA..eCe>>", A=asm("pipe"), C=CHEST))
    assert reasons(found) == [("iron-chest", 6, 0)]
    assert found.unknown_sinks == {(9, 0)}


def test_a_provider_chest_gives_nothing() -> None:
    obj = picture("PeC", P={"name": "passive-provider-chest"}, C=CHEST)
    found = import_blueprint(obj)
    assert reasons(found) == [("passive-provider-chest", 0, 0)]
    assert found.unknown_sinks == {(2, 0)}


def test_what_a_machine_that_is_not_simulated_makes_goes_to_an_unknown_sink() -> None:
    plant = entity("chemical-plant", 0, 0, size=(3, 3))
    found = import_blueprint(picture("...e>>", plant))
    assert found.unknown_sinks == {(5, 0)}
    assert not any("left empty" in sentence for sentence in found.inferred)


def test_arms_at_a_track_may_load_trains() -> None:
    assert gears(entity("straight-rail", 8, 2, size=(2, 2))).unknown_sinks == frozenset()
    loading = gears(entity("inserter", 3, 5, 0), entity("straight-rail", 3, 6, size=(2, 2)))
    assert loading.unknown_sinks == {(7, 3)}
    assert loading.ignored == ("1 straight-rail",)


def test_items_handed_over_on_the_ground_are_unknown() -> None:
    found = import_blueprint(picture("CeA..e.eC", A=asm("pipe"), C=CHEST))
    assert [name for name, _, _ in reasons(found)] == ["inserter", "inserter"]


def test_wired_inserters_are_unknown_in_1_1() -> None:
    belts = [{**entity("transport-belt", x, 0), "direction": 2} for x in (0, 2, 3)]
    wired = {"connections": {"1": {"red": [{"entity_id": 1}]}}}
    arm = {**entity("inserter", 1, 0), "direction": 6, **wired}
    found = import_blueprint(blueprint(arm, *belts, version=VERSION_1_1))
    assert reasons(found) == [("inserter", 1, 0)]
    assert found.unknown_sinks == {(3, 0)}
