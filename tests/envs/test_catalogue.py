"""The catalogue against the tables of `docs/rules.md` (R1, R20, R37, R38, R40)."""

from fractions import Fraction
from pathlib import Path

import pytest

from envs.catalogue import (
    ARMS,
    BELT_ITEM_GAP,
    BELT_SPEED_PER_TICK,
    CHEST_CYCLE_TICKS,
    ITEMS,
    MACHINE_SIZE,
    MACHINES,
    RECIPES,
    SMELTING,
    TASK_MACHINE,
    TICKS_PER_S,
)

RULES = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")


def table(header: str) -> list[list[str]]:
    """The rows of the table of the rules whose header begins so."""
    lines = RULES.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith(header)) + 2
    rows = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


RECIPE_ROWS = table("| product |")
SMELTED = "*furnace:* "


def test_r37_recipes_equal_the_table_of_the_rules() -> None:
    assembled = [row[0] for row in RECIPE_ROWS if not row[0].startswith(SMELTED)]
    smelted = [row[0].removeprefix(SMELTED) for row in RECIPE_ROWS if row[0].startswith(SMELTED)]
    assert (assembled, smelted) == (list(RECIPES), list(SMELTING))
    for name, seconds, per_craft, stack, ingredients in RECIPE_ROWS:
        product = name.removeprefix(SMELTED)
        recipe = (SMELTING if name.startswith(SMELTED) else RECIPES)[product]
        needs = [entry.split() for entry in ingredients.split(", ")]
        assert recipe.product == product
        assert recipe.time_tenths_s == float(seconds) * 10
        assert (recipe.products_per_craft, recipe.stack_size) == (int(per_craft), int(stack))
        assert sorted(recipe.ingredients) == sorted((item, int(n)) for n, item in needs)


def test_r40_stop_levels_are_stack_sizes() -> None:
    stacks = {row[0].removeprefix(SMELTED): int(row[3]) for row in RECIPE_ROWS}
    assert {name: r.stack_size for name, r in (RECIPES | SMELTING).items()} == stacks


def test_r20_arm_constants_equal_the_table_of_the_rules() -> None:
    rows = table("| `t` | reach r |")
    found = {}
    for name, reach, rotation, extension, _ in rows:
        figures = [int(cell.replace(",", "")) for cell in (reach, rotation, extension)]
        found[name.strip("`")] = tuple(figures)
    short = {"burner-inserter": "burner", "long-handed-inserter": "long", "fast-inserter": "fast"}
    assert found == {
        short.get(name, name): (arm.reach_tiles, arm.rotation_per_tick, arm.extension_per_tick)
        for name, arm in ARMS.items()
    }


@pytest.mark.parametrize(
    ("prototype", "speed", "size"),
    [
        ("assembling-machine-1", Fraction(1, 2), 3),
        ("assembling-machine-2", Fraction(3, 4), 3),
        ("assembling-machine-3", Fraction(5, 4), 3),
        ("stone-furnace", Fraction(1), 2),
        ("steel-furnace", Fraction(2), 2),
        ("electric-furnace", Fraction(2), 3),
    ],
)
def test_r37_craft_times_are_whole_ticks_at_the_machines_speed(
    prototype: str, speed: Fraction, size: int
) -> None:
    machine = MACHINES[prototype]
    assert machine.size == size
    for recipe in (SMELTING if machine.smelts else RECIPES).values():
        ticks = TICKS_PER_S * Fraction(recipe.time_tenths_s, 10) / speed
        assert recipe.craft_ticks(machine) == ticks


@pytest.mark.parametrize(
    ("prototype", "product", "limits"),
    [
        # Fast recipes hold three crafts' worth in an assembling machine 1, slow ones two (R38).
        ("assembling-machine-1", "iron-gear-wheel", [6]),
        ("assembling-machine-1", "electronic-circuit", [3, 9]),
        ("assembling-machine-1", "underground-belt", [20, 10]),
        ("assembling-machine-1", "automation-science-pack", [2, 2]),
        ("assembling-machine-2", "iron-gear-wheel", [6]),
        ("assembling-machine-3", "iron-gear-wheel", [8]),
        ("assembling-machine-3", "firearm-magazine", [12]),
        ("stone-furnace", "iron-plate", [2]),
        ("electric-furnace", "copper-plate", [2]),
        ("stone-furnace", "stone-brick", [4]),
        ("steel-furnace", "steel-plate", [10]),
    ],
)
def test_r38_arms_keep_a_few_crafts_of_each_ingredient(
    prototype: str, product: str, limits: list[int]
) -> None:
    machine = MACHINES[prototype]
    recipe = (SMELTING if machine.smelts else RECIPES)[product]
    assert [recipe.ingredient_limit(n, machine) for _, n in recipe.ingredients] == limits


def test_items_are_all_names_of_recipes_once_and_sorted() -> None:
    assert list(ITEMS) == sorted(set(ITEMS))
    raw = {"iron-ore", "copper-ore", "stone"}
    assert {*raw, *RECIPES, *SMELTING} == set(ITEMS)


def test_r1_figures_of_belts_and_swings_equal_the_rules() -> None:
    assert TICKS_PER_S == 60
    assert TICKS_PER_S * BELT_SPEED_PER_TICK / BELT_ITEM_GAP == 7.5  # R12: items/s per lane
    assert CHEST_CYCLE_TICKS == 70
    assert MACHINE_SIZE == TASK_MACHINE.size == 3
