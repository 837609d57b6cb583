"""The catalogue against the tables of the game rules."""

import pytest

from envs.catalogue import (
    BELT_ITEM_GAP,
    BELT_SPEED_PER_TICK,
    CHEST_CYCLE_TICKS,
    EXTENSION_PER_TICK,
    ITEMS,
    MACHINE_SIZE,
    RECIPES,
    ROTATION_PER_TICK,
    TICKS_PER_S,
)

# Product | seconds | per craft | stack | ingredients: the recipe table of the rules, section 4.
RECIPE_TABLE = """
iron-gear-wheel | 0.5 | 1 | 100 | 2 iron-plate
copper-cable | 0.5 | 2 | 200 | 1 copper-plate
electronic-circuit | 0.5 | 1 | 200 | 1 iron-plate, 3 copper-cable
pipe | 0.5 | 1 | 100 | 1 iron-plate
iron-stick | 0.5 | 2 | 100 | 1 iron-plate
transport-belt | 0.5 | 2 | 100 | 1 iron-plate, 1 iron-gear-wheel
inserter | 0.5 | 1 | 50 | 1 electronic-circuit, 1 iron-gear-wheel, 1 iron-plate
burner-inserter | 0.5 | 1 | 50 | 1 iron-plate, 1 iron-gear-wheel
long-handed-inserter | 0.5 | 1 | 50 | 1 iron-gear-wheel, 1 iron-plate, 1 inserter
fast-inserter | 0.5 | 1 | 50 | 2 electronic-circuit, 2 iron-plate, 1 inserter
underground-belt | 1 | 2 | 50 | 10 iron-plate, 5 transport-belt
splitter | 1 | 1 | 50 | 5 electronic-circuit, 5 iron-plate, 4 transport-belt
assembling-machine-1 | 0.5 | 1 | 50 | 3 electronic-circuit, 5 iron-gear-wheel, 9 iron-plate
automation-science-pack | 5 | 1 | 200 | 1 copper-plate, 1 iron-gear-wheel
logistic-science-pack | 6 | 1 | 200 | 1 inserter, 1 transport-belt
firearm-magazine | 1 | 1 | 200 | 4 iron-plate
stone-furnace | 0.5 | 1 | 50 | 5 stone
"""


def test_recipes_equal_the_table_of_the_rules() -> None:
    rows = [line.split(" | ") for line in RECIPE_TABLE.strip().splitlines()]
    assert [row[0] for row in rows] == list(RECIPES)
    for product, seconds, per_craft, stack, ingredients in rows:
        recipe = RECIPES[product]
        needs = [entry.split() for entry in ingredients.split(", ")]
        assert recipe.product == product
        assert recipe.time_tenths_s == float(seconds) * 10
        assert (recipe.products_per_craft, recipe.stack_size) == (int(per_craft), int(stack))
        assert sorted(recipe.ingredients) == sorted((item, int(n)) for n, item in needs)


@pytest.mark.parametrize(
    ("product", "ticks"),
    [("iron-gear-wheel", 60), ("splitter", 120), ("logistic-science-pack", 720)],
)
def test_a_craft_takes_twice_its_time_in_an_assembling_machine_1(product: str, ticks: int) -> None:
    assert RECIPES[product].craft_ticks == ticks


def test_every_craft_time_is_a_whole_number_of_ticks() -> None:
    for recipe in RECIPES.values():
        assert recipe.craft_ticks * 10 == TICKS_PER_S * recipe.time_tenths_s * 2


@pytest.mark.parametrize(
    ("product", "amount", "limit"),
    [
        # Fast recipes hold three crafts' worth in an assembling machine 1, slow ones two (R38).
        ("iron-gear-wheel", 2, 6),
        ("electronic-circuit", 3, 9),
        ("underground-belt", 10, 20),
        ("automation-science-pack", 1, 2),
        ("logistic-science-pack", 1, 2),
    ],
)
def test_arms_keep_two_or_three_crafts_of_an_ingredient(
    product: str, amount: int, limit: int
) -> None:
    assert RECIPES[product].ingredient_limit(amount) == limit


def test_items_are_all_names_of_recipes_once_and_sorted() -> None:
    assert list(ITEMS) == sorted(set(ITEMS))
    assert {"iron-plate", "copper-plate", "stone", *RECIPES} == set(ITEMS)


def test_figures_of_belts_and_arms_equal_the_rules() -> None:
    assert TICKS_PER_S * BELT_SPEED_PER_TICK / BELT_ITEM_GAP == 7.5  # R12: items/s per lane
    assert (ROTATION_PER_TICK, EXTENSION_PER_TICK) == (140_000, 8_960)  # R20
    assert CHEST_CYCLE_TICKS == 70
    assert MACHINE_SIZE == 3
