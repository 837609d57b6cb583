"""Blueprints as layouts: forms, positions, versions, real ones, and hostile ones."""

import copy
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from blueprint_examples import (
    DATA,
    REAL,
    VERSION_1_1,
    VERSION_2_0,
    asm,
    blueprint,
    entity,
    picture,
    real,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envs.blueprint.importing import import_blueprint
from envs.blueprint.ports import InputPort, OutputPort
from envs.blueprint.text import BlueprintError, decode_text
from envs.errors import UserError
from envs.layout import MAX_SIZE, Layout, validate
from envs.layout_json import layout_from_json
from envs.verifier import verify

CASES = json.loads((DATA / "cases_public.json").read_text())
GEARS = picture(
    """
    >>>>....
    ..s.....
    .A......
    ....e>>>
    ........
    """,
    A=asm("iron-gear-wheel"),
)
NAN, INFINITY = float("nan"), float("inf")


def message_of(obj: Any, **options: Any) -> str:
    with pytest.raises(BlueprintError) as caught:
        import_blueprint(obj, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 600
    return message


@pytest.mark.parametrize(
    ("name", "item", "rate"),
    [
        ("beltFac1", "transport-belt", Fraction(6, 7)),
        ("beltFac2", "transport-belt", Fraction(6, 7)),
        ("circuitFac2", "electronic-circuit", Fraction(2, 7)),
    ],
)
def test_real_blueprints_have_their_rates(name: str, item: str, rate: Fraction) -> None:
    found = import_blueprint(real(name))
    assert (found.label, found.unsupported, found.unknown_sinks) == (name, (), frozenset())
    result = verify(found.layout)
    assert [(one.item, one.rate) for one in result.rates] == [(item, rate)]


def named_ports(layout: Layout, left: int, top: int) -> dict[str, list[Any]]:
    """The ports of a layout as a user names them; (left, top) is its first occupied tile."""
    inputs, outputs = [], []
    for one in layout.entities:
        place = one.x - left, one.y - top
        if one.kind == "source":
            inputs.append(InputPort(*place, one.left, "left"))
            inputs.append(InputPort(*place, one.right, "right"))
        elif one.kind == "chest_src":
            inputs.append(InputPort(*place, one.item))
        elif one.kind in ("sink", "chest_sink") and one.item:
            outputs.append(OutputPort(*place, one.item))
    return {"inputs": inputs, "outputs": outputs}


# Where a blueprint says less than the layout: an end or a start that the layout leaves unused, and
# two belts face to face.
OPEN_ENDS = {
    "sideload_single",
    "head_on",
    "pick_dead_end_near_lane",
    "pick_dead_end_far_lane",
    "inserter_to_inserter",
    "c2c_inserter",
    "c2c_fast",
    "c2c_burner",
}


@pytest.mark.parametrize("game", ["blueprint_1_1", "blueprint_2_0"])
@pytest.mark.parametrize(
    "case", [case for case in CASES if case["name"] not in OPEN_ENDS], ids=lambda case: case["name"]
)
def test_r50_a_case_is_read_back_from_its_blueprint(case: dict[str, Any], game: str) -> None:
    layout = layout_from_json(case)
    left = min(one.x for one in layout.entities)
    top = min(one.y for one in layout.entities)
    ports = named_ports(layout, left, top)
    found = import_blueprint(decode_text(case[game]), **ports)
    moved = {replace(one, x=one.x - left, y=one.y - top) for one in layout.entities}
    assert set(found.layout.entities) == moved
    assert found.unsupported == ()


def test_the_top_left_of_all_that_moves_items_is_the_origin() -> None:
    moved = copy.deepcopy(GEARS)
    for one in moved["blueprint"]["entities"]:
        one["position"]["x"] -= 1234
        one["position"]["y"] -= 99
    pole = entity("medium-electric-pole", -1250, -120)
    moved["blueprint"]["entities"].append(pole)
    found, expected = import_blueprint(moved), import_blueprint(GEARS)
    assert found.layout == expected.layout
    assert (found.layout.width, found.layout.height) == (8, 5)
    assert found.ignored == ("1 medium-electric-pole",)


def test_a_bare_blueprint_is_read_too() -> None:
    assert import_blueprint(GEARS["blueprint"]) == import_blueprint(GEARS)
    unnamed = {name: value for name, value in GEARS["blueprint"].items() if name != "item"}
    assert import_blueprint(unnamed) == import_blueprint(GEARS)


def in_quarters(obj: dict[str, Any], units: int, version: int | None) -> dict[str, Any]:
    """A 2.0 blueprint with directions in other units."""
    obj = copy.deepcopy(obj)
    for one in obj["blueprint"]["entities"]:
        one["direction"] = one["direction"] * units // 16
    obj["blueprint"].pop("version")
    return obj if version is None else {"blueprint": {**obj["blueprint"], "version": version}}


@pytest.mark.parametrize(
    ("units", "version"),
    [(8, VERSION_1_1), (16, VERSION_2_0), (16, VERSION_2_0 + (1 << 32)), (16, None), (16, 0)],
)
def test_r50_directions_are_read_by_version(units: int, version: int | None) -> None:
    assert import_blueprint(in_quarters(GEARS, units, version)) == import_blueprint(GEARS)


def test_without_a_version_directions_must_tell_the_game() -> None:
    assert "tell 1.1 from 2.0" in message_of(
        blueprint(entity("transport-belt", 0, 0, 1), version=None)
    )
    mixed = blueprint(
        {**entity("transport-belt", 0, 0), "direction": 2},
        {**entity("transport-belt", 1, 0), "direction": 8},
        version=None,
    )
    assert "tell 1.1 from 2.0" in message_of(mixed)
    east = {**entity("transport-belt", 0, 0), "direction": 2}
    next_one = {**entity("transport-belt", 1, 0), "direction": 2}
    obj = blueprint(east, next_one, version=None)
    found = import_blueprint(obj, inputs=[InputPort(0, 0, "stone")])
    assert [one.direction for one in found.layout.entities] == [1, 1]


def test_a_direction_of_the_other_game_is_refused() -> None:
    assert "version 1.1 it is one of 0, 2, 4 and 6" in message_of(
        blueprint(entity("transport-belt", 0, 0, 2), version=VERSION_1_1)
    )
    assert "version 2.0 it is one of 0, 4, 8 and 12" in message_of(
        blueprint({**entity("transport-belt", 0, 0), "direction": 2})
    )


def book(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"blueprint_book": {"label": "mall", "blueprints": list(entries)}}


def test_a_book_is_chosen_from_by_position() -> None:
    planner = {"deconstruction_planner": {"label": "trees"}}
    inner = book(planner, GEARS)
    whole = book({"blueprint": {"label": "a\nb", "entities": []}}, inner, {"upgrade_planner": {}})
    assert import_blueprint(whole, index=[2, 2]) == import_blueprint(GEARS)
    message = message_of(whole)
    assert "3 entries, no choice was made; choose one with --index" in message
    assert r"1 blueprint 'a\nb', 2 blueprint book 'mall', 3 upgrade planner" in message
    assert "3 entries, no entry 4" in message_of(whole, index=[4])
    assert "no entry -1" in message_of(whole, index=[-1])
    assert "deconstruction planner" in message_of(whole, index=[2, 1])
    assert "upgrade planner" in message_of(whole, index=[3])
    assert "not a book" in message_of(whole, index=[2, 2, 1])
    assert "empty" in message_of(book())
    assert import_blueprint(book(GEARS)) == import_blueprint(GEARS)


def test_a_label_stays_on_one_line() -> None:
    labelled = {"blueprint": {**GEARS["blueprint"], "label": "gears\n\x1b[31m\ud800 and more"}}
    assert import_blueprint(labelled).label == "gears  [31m  and more"


@pytest.mark.parametrize(
    ("obj", "said"),
    [
        ({}, "neither"),
        ({"blueprint": 3}, "neither"),
        ({"blueprint": {}}, "holds no entities"),
        ({"blueprint": {"entities": []}}, "holds no entities"),
        ({"blueprint": {"entities": [{}] * 100_001}}, "at most 100,000 are read"),
        ({"blueprint": {"entities": [3]}}, "with a name"),
        ({"blueprint": {"entities": [{"name": 3}]}}, "with a name"),
        ({"blueprint": {"entities": [{"name": "inserter"}]}}, "no position"),
        (blueprint({"name": "inserter", "position": [0, 0]}), "no position"),
        (blueprint({"name": "inserter", "position": {"x": True, "y": 0.5}}), "no position"),
        (blueprint({"name": "inserter", "position": {"x": "0", "y": 0.5}}), "no position"),
        (blueprint({"name": "inserter", "position": {"x": NAN, "y": 0.5}}), "is at nan"),
        (blueprint({"name": "inserter", "position": {"x": -INFINITY, "y": 0.5}}), "is at -inf"),
        (blueprint({"name": "inserter", "position": {"x": 10**400, "y": 0.5}}), "coordinates"),
        (blueprint({"name": "inserter", "position": {"x": 1, "y": 0.5}}), "not on the grid"),
        (blueprint({**entity("inserter", 0, 0), "direction": 1}), "has direction 1"),
        (blueprint({**entity("inserter", 0, 0), "direction": -4}), "has direction -4"),
        (blueprint({**entity("inserter", 0, 0), "direction": "4"}), "has direction '4'"),
        (blueprint({**entity("inserter", 0, 0), "direction": True}), "has direction True"),
        (blueprint({**entity("inserter", 0, 0), "direction": 4.0}), "has direction 4.0"),
        (blueprint(entity("inserter", 0, 0), entity("inserter", 0, 0)), "overlap at tile (0, 0)"),
        (
            blueprint(entity("assembling-machine-1", 0, 0), entity("stone-furnace", 2, 2)),
            "overlap at tile (2, 2)",
        ),
        (blueprint(entity("inserter", 0, 0), entity("inserter", MAX_SIZE, 0)), "spans 1001 x 1"),
        (blueprint(entity("inserter", 0, 0), version="2.0"), "version is '2.0'"),
        (blueprint(entity("inserter", 0, 0), version=-1), "version is -1"),
        (blueprint(entity("inserter", 0, 0), version=1 << 64), "version is"),
        (blueprint(entity("medium-electric-pole", 0, 0)), "nothing that moves or makes"),
        (blueprint(entity("x" * 10**6, 0, 0), {"name": "\n", "position": {}}), "no position"),
    ],
)
def test_a_broken_blueprint_is_one_line(obj: dict[str, Any], said: str) -> None:
    assert said in message_of(obj)


def test_overlapping_poles_and_trains_are_of_no_account() -> None:
    entities = [
        {"name": "locomotive", "position": {"x": 3.17, "y": -40.02}, "orientation": 0.25},
        entity("medium-electric-pole", 0, 0),
        {"name": "curved-rail", "position": {"x": 300, "y": 300}, "direction": 3},
    ]
    found = import_blueprint(blueprint(*GEARS["blueprint"]["entities"], *entities))
    assert found.ignored == ("1 medium-electric-pole", "1 curved-rail", "1 locomotive")
    assert found.layout == import_blueprint(GEARS).layout


def test_what_stands_still_is_said() -> None:
    told = import_blueprint(picture("e..A..", A=asm())).inferred
    assert "inserter (0, 0): stands still, it has nothing to take from or fill" in told
    assert "machine (3, 0): makes nothing, it has no recipe or gets no items" in told
    assert any(sentence.startswith("no output was found") for sentence in told)


NAMES = (
    "splitter underground-belt beacon loader curved-rail steel-chest stone-furnace bulk-inserter"
)
JUNK = st.sampled_from(
    (None, True, -1, 0, 7, 2**70, 1.5, NAN, INFINITY, "", "\n", [], [0], {}, {"x": 0.5, "y": 0.5})
) | st.sampled_from(NAMES.split())


def mutate(draw: st.DrawFn, value: Any, depth: int = 0) -> Any:
    """A JSON value with one place changed, mostly deep inside."""
    if depth > 1 and draw(st.integers(0, 3)) == 0:
        return draw(JUNK)
    if isinstance(value, dict) and value:
        key = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 9)) == 0:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: mutate(draw, value[key], depth + 1)}
    if isinstance(value, list) and value:
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], mutate(draw, value[place], depth + 1), *value[place + 1 :]]
    return draw(JUNK)


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    value = json.loads(draw(st.sampled_from(sorted(REAL.values(), key=Path))).read_text())
    for _ in range(draw(st.integers(1, 4))):
        value = mutate(draw, value)
    return value


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_any_change_to_a_blueprint_is_read_or_refused(obj: Any) -> None:
    if not isinstance(obj, dict):
        return
    try:
        found = import_blueprint(obj)
    except UserError as error:
        told, found = str(error), None
    if found is None:
        assert "\n" not in told
        return
    validate(found.layout)
    assert all("\n" not in sentence for sentence in found.inferred)
    sinks = {(one.x, one.y) for one in found.layout.entities if "sink" in one.kind}
    assert found.unknown_sinks <= sinks


def test_a_chest_that_nothing_touches_is_listed() -> None:
    obj = blueprint(*GEARS["blueprint"]["entities"], entity("iron-chest", 0, 9))
    assert import_blueprint(obj).ignored == ("1 iron-chest",)


def test_a_chest_with_blocked_slots_is_not_simulated() -> None:
    inserter = entity("inserter", 1, 0, direction=3)
    found = import_blueprint(
        blueprint(entity("iron-chest", 0, 0), inserter, entity("iron-chest", 2, 0, bar=0)),
        inputs=[InputPort(0, 0, "iron-plate")],
    )
    assert [(one.name, one.x, one.y) for one in found.unsupported] == [("iron-chest", 2, 0)]
