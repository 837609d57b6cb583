"""Task specs: item slots, layouts with placements on them, JSON."""

import json
from fractions import Fraction

import pytest

from envs.catalogue import RECIPES
from envs.generate import GeneratorSettings, generate
from envs.layout import Entity, validate
from envs.task_spec import (
    BELT,
    INSERTER,
    MACHINE,
    Placement,
    Port,
    TaskSpec,
    layout_of,
    spec_from_json,
    spec_to_json,
)


@pytest.fixture
def spec() -> TaskSpec:
    ports = (
        Port(0, 2, 1, False, "copper-cable", "iron-plate"),
        Port(7, 5, 2, True, "electronic-circuit", "electronic-circuit"),
    )
    return TaskSpec(
        8,
        6,
        ((3, 1), (7, 4)),
        ports,
        ("copper-cable", "electronic-circuit"),
        "electronic-circuit",
        Fraction(3, 7),
        25,
        "circuits",
    )


def test_item_slots_follow_the_recipes_without_repeats(spec: TaskSpec) -> None:
    assert spec.items == ("copper-plate", "copper-cable", "iron-plate", "electronic-circuit")


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_gives_slots_to_its_ingredients_and_its_product(recipe: str) -> None:
    items = TaskSpec(8, 8, (), (), (recipe,), recipe, Fraction(1), 9, recipe).items
    assert items == (*(item for item, _ in RECIPES[recipe].ingredients), recipe)


def test_sink_is_the_port_that_scores(spec: TaskSpec) -> None:
    assert spec.sink is spec.ports[1]


def test_geometry_ignores_the_target_and_the_limit(spec: TaskSpec) -> None:
    other = TaskSpec(
        8, 6, spec.blocked, spec.ports, spec.recipes, "copper-cable", Fraction(1), 3, "other"
    )
    assert other.geometry == spec.geometry
    assert TaskSpec(
        8, 6, (), spec.ports, spec.recipes, "copper-cable", Fraction(1), 3, "other"
    ).geometry != spec.geometry  # fmt: skip


def test_kinds_are_the_digits_of_an_action() -> None:
    assert (MACHINE, BELT, INSERTER) == (0, 1, 2)


def test_a_machine_covers_nine_cells_around_its_centre() -> None:
    cells = Placement(MACHINE, 4, 2, 0).cells()
    assert len(cells) == 9
    assert set(cells) == {(x, y) for x in (3, 4, 5) for y in (1, 2, 3)}
    assert Placement(INSERTER, 4, 2, 3).cells() == [(4, 2)]


def test_a_layout_holds_ports_and_placements(spec: TaskSpec) -> None:
    placements = [
        Placement(MACHINE, 4, 3, 1),
        Placement(BELT, 1, 2, 1),
        Placement(INSERTER, 2, 2, 0),
    ]
    layout = layout_of(spec, placements)
    validate(layout)
    assert (layout.width, layout.height) == (8, 6)
    assert set(layout.entities) == {
        Entity("source", 0, 2, 1, left="copper-cable", right="iron-plate"),
        Entity("sink", 7, 5, 2, item="electronic-circuit"),
        Entity("asm", 3, 2, recipe="electronic-circuit"),
        Entity("belt", 1, 2, 1),
        Entity("inserter", 2, 2, 0),
    }
    machine = next(entity for entity in layout.entities if entity.kind == "asm")
    assert set(machine.tiles()) == set(placements[0].cells())


def test_json_round_trip_keeps_the_task(spec: TaskSpec) -> None:
    assert spec_from_json(json.loads(json.dumps(spec_to_json(spec)))) == spec


def test_json_round_trip_keeps_generated_tasks() -> None:
    settings = GeneratorSettings(12, 12, ("gear", "inserter-own-circuit"), 96, 6)
    for index in range(10):
        spec = generate(settings, 9, index).spec
        assert spec_from_json(json.loads(json.dumps(spec_to_json(spec)))) == spec


def test_json_holds_the_rate_as_an_exact_fraction(spec: TaskSpec) -> None:
    obj = spec_to_json(spec)
    assert obj["target_rate"] == "3/7"
    assert obj["ports"][0] == {
        "x": 0,
        "y": 2,
        "d": "E",
        "role": "source",
        "left": "copper-cable",
        "right": "iron-plate",
    }
