"""Exported strings as `factorio-draftsman` reads them: an importer that is not ours.

It checks names, recipes, overlaps and wires against the game's own prototypes.
"""

import warnings

import pytest
from draftsman.blueprintable import Blueprint, get_blueprintable_from_string
from draftsman.classes.mixins import RecipeMixin
from draftsman.constants import ValidationMode, WireConnectorID
from draftsman.error import DataFormatError
from draftsman.serialization import draftsman_converters
from draftsman.validators import set_mode
from public_layouts import PUBLIC, public_layout

from envs.blueprint.exporting import export_blueprint
from envs.blueprint.power import plan_power
from envs.layout import EAST, Entity, Layout

GAMES = ("2.0", "1.1")

WIDE = Layout(
    20,
    20,
    tuple(Entity("inserter", x, y, EAST) for x in range(1, 20, 3) for y in range(0, 20, 4)),
)
"""Too wide for substations: medium poles and many wires."""


@pytest.fixture(autouse=True)
def _assemblers_of_1_1() -> None:
    """Lets draftsman read assembling machines of 1.1.

    Versions 3.3.1 to 4.0.1 register the attribute itself where its name belongs, so that every
    such machine raises DataFormatError.
    """
    draftsman_converters.get_version((1, 0)).add_hook_fns(
        RecipeMixin,
        lambda fields: {
            "recipe": fields.recipe.name,
            "recipe_quality": fields.recipe_quality.name,
        },
    )


def read(layout: Layout, game: str) -> Blueprint:
    """The blueprint as draftsman has it. Every warning of its strictest mode is an error."""
    with warnings.catch_warnings(), set_mode(ValidationMode.PEDANTIC):
        warnings.simplefilter("error")
        blueprint = get_blueprintable_from_string(export_blueprint(layout, game).text)
        blueprint.validate().reissue_all()
    assert isinstance(blueprint, Blueprint)
    return blueprint


def expected(layout: Layout) -> list[tuple[str, float, float, int, str | None]]:
    """Name, centre, direction in sixteenths and recipe of every entity and pole."""
    entities = []
    for one in layout.entities:
        direction = 4 * (one.direction or 0)
        if one.kind == "inserter":
            direction = (direction + 8) % 16
        recipe = one.recipe if one.kind == "asm" else None
        half = one.size / 2
        entities.append((one.prototype, one.x + half, one.y + half, direction, recipe))
    for pole in plan_power(layout).poles:
        half = pole.kind.size / 2
        entities.append((pole.kind.prototype, pole.x + half, pole.y + half, 0, None))
    return sorted(entities, key=str)


def found(blueprint: Blueprint) -> list[tuple[str, float, float, int, str | None]]:
    entities = []
    for one in blueprint.entities:
        x, y = one.global_position
        direction = int(getattr(one, "direction", None) or 0)
        recipe = getattr(one, "recipe", None)
        name = recipe.name if hasattr(recipe, "name") else recipe
        entities.append((one.name, x, y, direction, name))
    return sorted(entities, key=str)


def wired_places(blueprint: Blueprint) -> set[frozenset[tuple[float, float]]]:
    pairs = set()
    for left, left_connector, right, right_connector in blueprint.wires:
        assert left_connector == right_connector == WireConnectorID.POLE_COPPER
        pairs.add(frozenset(tuple(end().global_position) for end in (left, right)))
    return pairs


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("layout", [*map(public_layout, PUBLIC), WIDE], ids=[*PUBLIC, "wide"])
def test_draftsman_reads_the_same_entities_and_wires(layout: Layout, game: str) -> None:
    blueprint = read(layout, game)
    assert found(blueprint) == expected(layout)
    power = plan_power(layout)
    centres = [(pole.x + pole.kind.size / 2, pole.y + pole.kind.size / 2) for pole in power.poles]
    pairs = {frozenset((centres[left], centres[right])) for left, right in power.wires}
    assert wired_places(blueprint) == pairs


@pytest.mark.parametrize("game", GAMES)
def test_draftsman_reads_label_description_and_icons(game: str) -> None:
    layout = public_layout("asm_circuit_two_belts")
    exported = export_blueprint(layout, game)
    blueprint = read(layout, game)
    assert blueprint.label == "electronic-circuit"
    assert blueprint.description == exported.blueprint["blueprint"]["description"]
    assert [icon.signal.name for icon in blueprint.icons] == ["electronic-circuit"]
    assert blueprint.version >> 32 == (2 << 16 if game == "2.0" else 1 << 16 | 1)


def test_draftsman_objects_to_what_the_game_would_refuse() -> None:
    overlapping = Layout(12, 12, (Entity("belt", 1, 1, EAST), Entity("asm", 0, 0)))
    with pytest.raises(DataFormatError, match="intersects"):
        read(overlapping, "2.0")
