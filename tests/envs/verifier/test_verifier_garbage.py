"""Generated garbage: every layout is either refused with a LayoutError or verified to the end."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_layouts import random_layout

from envs.catalogue import ITEMS, RECIPES, SMELTING
from envs.layout import (
    DIRECTED_KINDS,
    ITEM_FIELDS,
    KINDS,
    PROTOTYPES,
    Entity,
    Layout,
    LayoutError,
)
from envs.layout_json import ARM_TYPES, layout_from_json, layout_to_json
from envs.verifier import Verified, score_rate, verify

CAP = 20_000

FAST = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

items = st.sampled_from([*ITEMS[:6], "iron-ore", "wood", "Ω", None])


RECIPE_NAMES = {"asm": [*list(RECIPES)[:6], None], "furnace": [*SMELTING, None]}


def entities(size: int) -> st.SearchStrategy[Entity]:
    """Entities at most one tile off a grid; each field that the kind has holds anything."""

    def of_kind(kind: str) -> st.SearchStrategy[Entity]:
        fields: dict[str, st.SearchStrategy[Any]] = {}
        if kind in DIRECTED_KINDS:
            fields["direction"] = st.integers(0, 3)
        if kind in RECIPE_NAMES:
            fields["recipe"] = st.sampled_from(RECIPE_NAMES[kind])
        fields |= dict.fromkeys(ITEM_FIELDS.get(kind, ()), items)
        fields["prototype"] = st.sampled_from(PROTOTYPES[kind])
        places = st.integers(0, size - (size > 3))
        return st.builds(Entity, st.just(kind), places, places, **fields)

    weights = [*KINDS, "belt", "belt", "belt", "inserter", "inserter", "source", "chest_src"]
    return st.sampled_from(weights).flatmap(of_kind)


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Layouts of 1 to 8 tiles a side; entities that overlap are mostly left out."""
    size = draw(st.integers(1, 8))
    listed = draw(st.lists(entities(size), max_size=size * size))
    kept, taken = [], set[tuple[int, int]]()
    for entity in listed:
        if not taken & set(entity.tiles()) or draw(st.integers(0, 30)) == 0:
            kept.append(entity)
            taken |= set(entity.tiles())
    return Layout(size, draw(st.sampled_from([size, size, 8])), tuple(kept))


T = TypeVar("T")


def or_refusal(use: Callable[[], T]) -> T | LayoutError:
    """What a call returns, or the error of one line with which it refuses."""
    try:
        return use()
    except LayoutError as error:
        refusal = error
    assert "\n" not in str(refusal)
    return refusal


def check(found: Verified) -> None:
    """What holds for every result."""
    assert 0 <= found.ticks <= CAP
    assert found.exact == (found.period_ticks is not None) == (found.transient_ticks is not None)
    for rate in found.rates:
        assert 0 <= rate.lower <= rate.rate <= rate.upper
        assert not found.exact or rate.lower == rate.upper


@FAST
@given(layouts())
def test_every_generated_layout_is_verified_or_refused(layout):
    found = or_refusal(lambda: verify(layout, CAP))
    if isinstance(found, LayoutError):
        return
    check(found)
    assert verify(layout_from_json(layout_to_json(layout)), CAP) == found


@FAST
@given(layouts())
def test_every_generated_layout_is_scored_or_refused(layout):
    try:
        score = score_rate(layout, CAP)
    except LayoutError:
        return
    assert score is None or score >= 0


def values() -> st.SearchStrategy[Any]:
    """Any JSON value, small ones."""
    leaves = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.sampled_from([*KINDS, *"NESW", *ARM_TYPES, *ITEMS[:3], "pipe", ""])
        | st.text(max_size=3)
    )
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=2), max_leaves=3)


def objects() -> st.SearchStrategy[dict[str, Any]]:
    """JSON objects that look like entities, with any field broken or missing."""
    fields = {
        "k": st.sampled_from(KINDS) | values(),
        "x": st.integers(-1, 6) | values(),
        "y": st.integers(-1, 6) | values(),
        "d": st.sampled_from("NESW") | values(),
        "t": st.none() | values(),
        "recipe": st.none() | values(),
        "item": items | values(),
        "left": items | values(),
        "right": items | values(),
    }
    return st.fixed_dictionaries({}, optional=fields)


@FAST
@given(
    st.fixed_dictionaries(
        {"entities": st.lists(objects(), max_size=4) | values()},
        optional={"width": st.integers(-1, 12) | values(), "height": values()},
    )
    | values()
)
def test_any_json_is_a_layout_or_refused_in_one_line(obj):
    layout = or_refusal(lambda: layout_from_json(obj))
    if not isinstance(layout, LayoutError):
        check(verify(layout, CAP))


@pytest.mark.parametrize("size", [1, 2, 3, 30, 60])
def test_garbage_of_any_size_ends(size):
    for seed in range(5):
        layout = random_layout(seed, size) if size > 3 else _tiny(seed, size)
        check(verify(layout, CAP))


def _tiny(seed: int, size: int) -> Layout:
    whole = random_layout(seed, 7)
    kept = [e for e in whole.entities if max(max(tile) for tile in e.tiles()) < size]
    return Layout(size, size, tuple(kept))


def test_a_grid_of_the_largest_size_is_verified():
    corners = [Entity("source", 0, 0, 1, left="iron-plate"), Entity("sink", 1, 0, 1)]
    corners += [Entity("belt", 999, 999, 2), Entity("inserter", 500, 500, 3)]
    found = verify(Layout(1000, 1000, tuple(corners)), CAP)
    assert [rate.rate for rate in found.rates] == [Fraction(15, 2)]
