"""Families: recipe chains in order, machines for every stage, sizes that the arrays can hold."""

from fractions import Fraction

import pytest

from envs.actions import NUM_ROTATIONS
from envs.catalogue import RECIPES
from envs.families import FAMILIES, MAX_SOURCES, Family, Link
from envs.task_spec import TaskSpec
from envs.types import MAX_ITEM_SLOTS

MAX_MACHINES = 4
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


@every_family
def test_stages_come_before_those_that_use_their_product(family: Family) -> None:
    assert FAMILIES[family.name] is family
    assert len(set(family.recipes)) == len(family.recipes)
    for number, name in enumerate(family.recipes[:-1]):
        users = [
            later
            for later, other in enumerate(family.recipes)
            if name in dict(RECIPES[other].ingredients)
        ]
        assert users
        assert min(users) > number


@every_family
def test_every_stage_has_machines_and_chains_have_a_link(family: Family) -> None:
    assert family.machines
    for counts in family.machines:
        assert len(counts) == len(family.recipes)
        assert min(counts) >= 1
        assert sum(counts) <= MAX_MACHINES
    assert (family.link is None) == (len(family.recipes) == 1)


@every_family
def test_tasks_fit_into_the_arrays(family: Family) -> None:
    assert family.num_items <= MAX_ITEM_SLOTS
    assert len(family.recipes) <= NUM_ROTATIONS
    assert 2 <= family.max_ports <= MAX_SOURCES + 1
    spec = TaskSpec(8, 8, (), (), family.recipes, family.product, Fraction(1), 9, family.name)
    assert len(spec.items) == family.num_items
    assert set(spec.items) == {*family.raw_items, *family.recipes}


def test_raw_items_and_ports_by_hand() -> None:
    inserter = FAMILIES["inserter-from-plates"]
    assert inserter.product == "inserter"
    assert inserter.raw_items == ("copper-plate", "iron-plate")
    assert inserter.num_items == 6
    # Iron for three stages and copper for one would be four sources; there are at most three.
    assert inserter.max_ports == 4
    assert FAMILIES["gear"].raw_items == ("iron-plate",)
    assert FAMILIES["gear"].max_ports == 2
    belt = FAMILIES["belt-own-gear-direct"]
    assert belt.raw_items == ("iron-plate",)
    assert belt.max_ports == 3
    science = FAMILIES["logistic-science-own-belt"]
    assert science.raw_items == ("iron-plate", "inserter")


def test_modules_of_all_kinds_are_there() -> None:
    families = FAMILIES.values()
    assert {family.link for family in families} == {None, Link.DIRECT, Link.BELT}
    assert {len(family.recipes) for family in families} == {1, 2, 3, 4}
    assert any(family.inner_ports and len(family.recipes) > 1 for family in families)
    assert any(max(counts) == 3 for family in families for counts in family.machines)
    products = {family.product for family in families}
    assert products >= {"iron-gear-wheel", "copper-cable", "pipe", "iron-stick", "inserter"}
    assert products >= {"electronic-circuit", "transport-belt", "automation-science-pack"}
