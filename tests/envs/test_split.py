"""The split: a canonical hash and strata, equal for symmetric tasks, blind to the target."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from random_drafts import random_draft

from envs.families import FAMILIES
from envs.geometry import NUM_SYMMETRIES, transform_spec
from envs.heldout import load_heldout
from envs.layout import EAST, NORTH, SOUTH
from envs.split import (
    HELDOUT_ONE_IN,
    HELDOUT_STRATA_ONE_IN,
    canonical_hash,
    in_heldout_stratum,
    is_heldout,
    stratum,
)
from envs.task_spec import Port, TaskSpec

SOURCE = Port(0, 1, EAST, False, "iron-plate", None)
SINK = Port(7, 3, EAST, True, "pipe", "pipe")
SPEC = TaskSpec(
    width=8,
    height=8,
    blocked=((1, 2), (3, 0)),
    ports=(SOURCE, SINK),
    recipes=("pipe",),
    target_item="pipe",
    target_rate=Fraction(6, 7),
    placement_limit=20,
    family="pipe",
)


def specs_of(name: str, amount: int) -> Iterator[TaskSpec]:
    """Random drafts of a family as tasks without target."""
    family = FAMILIES[name]
    rng = np.random.default_rng(3)
    for _ in range(amount):
        draft = random_draft(rng, 12, 12, family, 0, 6)
        if draft is not None:
            yield replace(
                SPEC,
                width=12,
                height=12,
                blocked=draft.blocked,
                ports=draft.ports,
                recipes=family.recipes,
                target_item=family.product,
                family=name,
            )


@cache
def drafted_strata(name: str) -> Counter[tuple[str, bool]]:
    """(stratum, whether it is held out) of random drafts of a family."""
    return Counter((stratum(spec), in_heldout_stratum(spec)) for spec in specs_of(name, 400))


@pytest.mark.parametrize("symmetry", range(NUM_SYMMETRIES))
def test_hash_is_equal_for_all_symmetries(symmetry: int) -> None:
    assert canonical_hash(transform_spec(SPEC, symmetry)) == canonical_hash(SPEC)


def test_hash_ignores_the_order_of_ports_and_of_recipes() -> None:
    assert canonical_hash(replace(SPEC, ports=(SINK, SOURCE))) == canonical_hash(SPEC)
    two = [
        replace(SPEC, recipes=names) for names in (("pipe", "iron-stick"), ("iron-stick", "pipe"))
    ]
    assert canonical_hash(two[0]) == canonical_hash(two[1])


@pytest.mark.parametrize(
    "changes",
    [
        {"target_rate": Fraction(1)},
        {"placement_limit": 21},
        {"family": "other"},
    ],
)
def test_split_ignores_target_limit_and_family(changes: dict) -> None:
    assert canonical_hash(replace(SPEC, **changes)) == canonical_hash(SPEC)
    assert stratum(replace(SPEC, **changes)) == stratum(SPEC)


@pytest.mark.parametrize(
    "changes",
    [
        {"ports": (replace(SOURCE, y=2), SINK)},
        {"ports": (replace(SOURCE, direction=SOUTH), SINK)},
        {"ports": (replace(SOURCE, right="iron-plate"), SINK)},
        {"ports": (replace(SOURCE, left=None, right="iron-plate"), SINK)},
        {"ports": (SOURCE, replace(SINK, direction=NORTH))},
        {"recipes": ("iron-stick",)},
        {"blocked": ((1, 2),)},
        {"blocked": ((1, 2), (3, 1))},
        {"height": 9},
    ],
)
def test_hash_sees_ports_recipes_blocked_cells_and_size(changes: dict) -> None:
    assert canonical_hash(replace(SPEC, **changes)) != canonical_hash(SPEC)


def test_hash_is_the_same_in_every_process_and_version() -> None:
    pinned = "1354477dd7801514ab05e061085e497b0e6478beb0ea5c6d66bb090328449b04"
    assert canonical_hash(SPEC) == pinned


@pytest.mark.parametrize(
    ("source", "sink", "relation"),
    [
        ((0, 3), (0, 6), "same"),
        ((0, 3), (4, 0), "adjacent"),
        ((0, 3), (4, 7), "adjacent"),
        ((0, 3), (7, 5), "opposite"),
        ((4, 0), (2, 7), "opposite"),
        # Corners lie on two borders; the nearest relation wins.
        ((0, 0), (0, 5), "same"),
        ((0, 0), (5, 0), "same"),
        ((0, 0), (7, 5), "adjacent"),
        ((0, 0), (0, 7), "same"),
        ((0, 0), (7, 7), "adjacent"),
        ((3, 3), (0, 7), "inside"),
        ((0, 7), (3, 3), "inside"),
        ((2, 2), (3, 3), "inside"),
        ((1, 3), (0, 3), "inside"),
    ],
)
def test_stratum_says_how_the_source_lies_to_the_sink(
    source: tuple[int, int], sink: tuple[int, int], relation: str
) -> None:
    ports = (
        replace(SOURCE, x=source[0], y=source[1]),
        replace(SINK, x=sink[0], y=sink[1]),
    )
    assert stratum(replace(SPEC, ports=ports)) == f"pipe {relation}"


def test_stratum_lists_all_sources_and_recipes_in_a_fixed_order() -> None:
    beside, across = Port(7, 6, NORTH, False, "a", "a"), Port(0, 2, EAST, False, "b", None)
    found = {
        stratum(replace(SPEC, ports=ports, recipes=recipes))
        for ports in ((beside, SINK, across), (across, beside, SINK))
        for recipes in (("pipe", "iron-stick"), ("iron-stick", "pipe"))
    }
    assert found == {"iron-stick+pipe opposite+same"}


def test_stratum_and_split_are_equal_for_all_symmetries() -> None:
    for name in FAMILIES:
        for spec in specs_of(name, 12):
            turned = [transform_spec(spec, symmetry) for symmetry in range(NUM_SYMMETRIES)]
            assert {stratum(other) for other in turned} == {stratum(spec)}
            assert {is_heldout(other) for other in turned} == {is_heldout(spec)}


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_has_strata_to_train_on(name: str) -> None:
    drafts = drafted_strata(name)
    heldout = sum(count for (_, is_out), count in drafts.items() if is_out)
    assert heldout / drafts.total() < 0.6
    assert any(not is_out for _, is_out in drafts)


def test_about_one_stratum_in_six_is_held_out() -> None:
    strata = {entry for name in FAMILIES for entry in drafted_strata(name)}
    share = sum(is_out for _, is_out in strata) / len(strata)
    assert 0.5 / HELDOUT_STRATA_ONE_IN < share < 2 / HELDOUT_STRATA_ONE_IN
    families = [name for name in FAMILIES if any(out for _, out in drafted_strata(name))]
    assert len(families) > len(FAMILIES) / 2


def test_tasks_of_held_out_strata_are_all_held_out() -> None:
    specs = [spec for name in FAMILIES for spec in specs_of(name, 20)]
    inside = [spec for spec in specs if in_heldout_stratum(spec)]
    assert len(inside) > 20
    assert all(is_heldout(spec) for spec in inside)


def test_one_geometry_in_eight_of_the_others_is_held_out() -> None:
    trained = replace(SPEC, ports=(SOURCE, replace(SINK, x=3, y=0)))
    assert not in_heldout_stratum(trained)
    blocked = [((x, y), (z, 7)) for x in range(1, 7) for y in range(4, 7) for z in range(8)]
    share = sum(is_heldout(replace(trained, blocked=cells)) for cells in blocked) / len(blocked)
    assert 0.5 / HELDOUT_ONE_IN < share < 2 / HELDOUT_ONE_IN


@pytest.mark.parametrize("name", ["heldout-v1", "heldout-hard-v1"])
def test_committed_sets_hold_tasks_of_held_out_strata_and_others(name: str) -> None:
    inside = [in_heldout_stratum(solved.spec) for solved in load_heldout(name).tasks]
    assert 0.3 < sum(inside) / len(inside) < 0.7
