"""Checks of cells, names and recipe chains: what is refused, what is only warned of."""

from typing import Any

import pytest
from task_examples import SINK, SOURCE, source, spec

from envs.catalogue import RECIPES
from envs.task_checks import MAX_ITEMS, WARNING, chain, naming, numbers, placing
from envs.types import MAX_ITEM_SLOTS

CIRCUIT = {"target_item": "electronic-circuit"}


def test_item_slots_are_those_of_the_environment() -> None:
    assert MAX_ITEMS == MAX_ITEM_SLOTS


def test_a_sound_task_passes() -> None:
    made = spec()
    assert [*placing(made), *naming(made), *numbers(made), *chain(made)] == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 33}, "width is 33; give 4 to 32 cells"),
        ({"height": 12, "blocked": [[3, 12]]}, "blocked cell (3, 12) is outside the grid; x is 0"),
        ({"ports": [SOURCE, {**SINK, "x": -1}]}, "sink at (-1, 8) is outside the grid"),
        ({"blocked": [[0, 5]]}, "source at (0, 5) and blocked cell (0, 5) are on one cell"),
        (
            {"ports": [SOURCE, SINK, {**SOURCE, "x": 11, "y": 8}]},
            "sink at (11, 8) and source at (11, 8) are on one cell; move one",
        ),
        ({"ports": [SOURCE]}, "there are 0 ports with role sink; give exactly one"),
        ({"ports": [SOURCE, SINK, {**SINK, "y": 1}]}, "there are 2 ports with role sink"),
        ({"ports": [SINK]}, "there are 0 ports with role source; give 1 to 3"),
        (
            {"ports": [SINK, *({**SOURCE, "y": y} for y in range(4))]},
            "there are 4 ports with role source; give 1 to 3",
        ),
    ],
)
def test_cells_and_numbers_of_ports(changes: dict[str, Any], message: str) -> None:
    (found,) = placing(spec(**changes))
    assert found.startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"recipes": []}, "there are 0 recipes; give 1 to 4"),
        ({"recipes": list(RECIPES)[:5]}, "there are 5 recipes; give 1 to 4"),
        ({"recipes": ["iron-gear-weel"]}, "recipe 'iron-gear-weel' is not known to assembling"),
        ({"recipes": ["iron-plate"]}, "recipe 'iron-plate' is not known to assembling machines"),
        ({"recipes": ["iron-gear-wheel"] * 2}, "recipe iron-gear-wheel stands 2 times"),
        ({"target_item": "gears"}, "target_item 'gears' is no item; "),
        ({"ports": [source("iron-plat"), SINK]}, "source at (0, 5) has item 'iron-plat', which"),
        ({"ports": [source(), SINK]}, "source at (0, 5) gives no item; give item, or left or"),
        ({"ports": [SOURCE, {**SINK, "item": "pipe"}]}, "sink at (11, 8) has pipe; it takes the"),
        (
            {"ports": [SOURCE, {**SINK, "left": "iron-gear-wheel"}]},
            "sink at (11, 8) has iron-gear-wheel; it takes the",
        ),
    ],
)
def test_names(changes: dict[str, Any], message: str) -> None:
    (found,) = naming(spec(**changes))
    assert found.startswith(message)


def test_a_misspelt_name_is_told_the_nearest() -> None:
    (found,) = naming(spec(recipes=["iron-gear-weel"]))
    assert found.endswith("did you mean iron-gear-wheel?")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target_rate": 0}, "the rate is 0; give items per second above 0"),
        ({"target_rate": "-1/2"}, "the rate is -1/2; give items per second above 0"),
        ({"target_rate": 15.5}, "the rate is 15.5 items/s (31/2); a belt carries at most 15"),
        ({"placement_limit": 0}, "the placement limit is 0; give 1 or more"),
    ],
)
def test_numbers(changes: dict[str, Any], message: str) -> None:
    (found,) = numbers(spec(**changes))
    assert found.startswith(message)


def test_a_full_belt_may_be_asked_for() -> None:
    assert list(numbers(spec(target_rate=15))) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"recipes": ["pipe"]}, "the product, iron-gear-wheel, is not made by the recipes (pipe)"),
        (
            {"ports": [source(left="iron-plate", right="stone"), SINK]},
            "source at (0, 5) gives stone, which no recipe of the task uses or makes",
        ),
        (
            {**CIRCUIT, "recipes": ["electronic-circuit"]},
            "copper-cable is needed, and no source gives it and no recipe makes it; add the recipe",
        ),
        (
            {**CIRCUIT, "recipes": ["electronic-circuit", "copper-cable"]},
            "copper-plate is needed, and no source gives it and no recipe makes it; add a source",
        ),
        (
            {"recipes": ["iron-gear-wheel", "pipe"]},
            f"{WARNING}recipe pipe is of no use for iron-gear-wheel; drop it",
        ),
    ],
)
def test_chains(changes: dict[str, Any], message: str) -> None:
    (found,) = chain(spec(**changes))
    assert found.startswith(message)


def test_an_item_that_is_both_given_and_made_is_warned_of() -> None:
    ports = [source(left="iron-plate", right="copper-cable"), SINK]
    recipes = ["copper-cable", "electronic-circuit"]
    found = list(chain(spec(**CIRCUIT, recipes=recipes, ports=ports)))
    assert found == [
        f"{WARNING}a source gives copper-cable, so its recipe is not needed; drop one of them"
    ]


def test_more_items_than_slots_are_refused() -> None:
    recipes = ["assembling-machine-1", "splitter", "firearm-magazine", "logistic-science-pack"]
    found = list(chain(spec(recipes=recipes, target_item="splitter")))
    assert found[0].startswith("the recipes use and make 9 items: electronic-circuit,")
