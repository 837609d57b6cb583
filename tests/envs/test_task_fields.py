"""Fields of a task file: what they may hold, their defaults, and what is said of others."""

from fractions import Fraction
from typing import Any

import pytest
from task_examples import GEARS, SINK, SOURCE, source, spec

from envs.families import LARGE_MULTIPLE, MULTIPLE, SINGLE
from envs.layout import SOUTH
from envs.task_fields import Faults, Fields, read_spec
from envs.task_spec import spec_from_json, spec_to_json


def faults_of(**changes: Any) -> list[str]:
    faults = Faults()
    read_spec(Fields({**GEARS, **changes}, faults))
    return list(faults.all())


def without(key: str) -> list[str]:
    faults = Faults()
    read_spec(Fields({name: GEARS[name] for name in GEARS if name != key}, faults))
    return list(faults.all())


def test_size_blocked_cells_limit_and_family_have_defaults() -> None:
    made = spec()
    assert (made.width, made.height, made.blocked, made.family) == (12, 12, (), "user")
    assert made.placement_limit == SINGLE


def test_the_default_limit_grows_with_the_recipes() -> None:
    chain = ["copper-cable", "electronic-circuit", "iron-gear-wheel", "inserter"]
    limits = [spec(recipes=chain[:count]).placement_limit for count in range(1, 5)]
    assert limits == [SINGLE, MULTIPLE, MULTIPLE, LARGE_MULTIPLE]


def test_blocked_cells_are_sorted_and_stand_once() -> None:
    assert spec(blocked=[[3, 1], [0, 9], [3, 1]]).blocked == ((0, 9), (3, 1))


@pytest.mark.parametrize(
    ("written", "rate"),
    [
        ("15/16", Fraction(15, 16)),
        (" 15 / 16 ", Fraction(15, 16)),
        (0.1, Fraction(1, 10)),
        ("0.25", Fraction(1, 4)),
        (2, Fraction(2)),
        (1e-05, Fraction(1, 100_000)),
        ("0.33333333333", Fraction(1, 3)),
        (2 / 3, Fraction(2, 3)),
    ],
)
def test_a_rate_is_exactly_what_is_written_or_the_simple_fraction_nearby(
    written: object, rate: Fraction
) -> None:
    assert spec(target_rate=written).target_rate == rate


@pytest.mark.parametrize(
    "written",
    [
        *(None, True, "fast", "1/0", "1/2/3", "9" * 5000, "1e999999999", 1e300),
        *(float("nan"), float("inf"), 10**40, [1], "-", ""),
    ],
)
def test_other_rates_are_refused(written: object) -> None:
    (fault,) = faults_of(target_rate=written)
    assert fault.startswith("target_rate: got ")
    assert len(fault) < 200


def test_an_item_is_for_both_lanes_and_left_or_right_for_one() -> None:
    both = spec(ports=[source("iron-plate"), SINK]).ports[0]
    assert (both.left, both.right) == ("iron-plate", "iron-plate")
    one = spec(ports=[source(left="iron-plate"), SINK]).ports[0]
    assert (one.left, one.right) == ("iron-plate", None)
    null = spec(ports=[source(left=None, right="iron-plate"), SINK]).ports[0]
    assert (null.left, null.right) == (None, "iron-plate")


def test_a_sink_takes_the_target_unless_it_says_otherwise() -> None:
    assert spec().sink.left == spec().sink.right == "iron-gear-wheel"
    assert spec(ports=[SOURCE, {**SINK, "item": "pipe"}]).sink.left == "pipe"


def test_the_json_form_of_a_task_reads_back_as_the_task() -> None:
    made = spec(ports=[source(left="iron-plate"), SINK], blocked=[[1, 1]], placement_limit=30)
    assert read_spec(Fields(spec_to_json(made), Faults())) == made
    assert spec_from_json(spec_to_json(made)) == made


def test_the_short_key_of_held_out_files_is_a_direction() -> None:
    turned = {"x": 3, "y": 0, "d": "S", "role": "source", "item": "iron-plate"}
    assert spec(ports=[turned, SINK]).ports[0].direction == SOUTH


@pytest.mark.parametrize("key", ["ports", "recipes", "target_item", "target_rate"])
def test_fields_without_default_have_to_be_given(key: str) -> None:
    (fault,) = without(key)
    assert fault.startswith(f"{key} is missing; give ")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"width": "12"}, "width: got '12'; give a whole number"),
        ({"height": True}, "height: got True; give a whole number"),
        ({"height": 10**30}, "height: got 1000"),
        ({"blocked": [[1, 2, 3]]}, "blocked: got a list; give a list of cells such as [3, 0]"),
        ({"blocked": [[1, 2.0]]}, "blocked: got a list; give"),
        ({"recipes": "pipe"}, "recipes: got 'pipe'; give a list of recipe names"),
        ({"recipes": [1]}, "recipes: got a list; give a list of recipe names"),
        ({"target_item": 3}, "target_item: got 3; give an item name"),
        ({"family": "a\nb"}, "family: got 'a\\nb'; give a name"),
        ({"targt_rate": 3}, "targt_rate is no key; did you mean target_rate?"),
        ({"ports": [SOURCE, 7]}, "ports[1]: got 7; give x, y, direction, role and items"),
        ({"ports": [source(x="a")]}, "ports[0].x: got 'a'; give a whole number"),
        ({"ports": [source(direction="n")]}, "ports[0].direction: got 'n'; give one of N, E, S, W"),
        ({"ports": [source(role="out")]}, "ports[0].role: got 'out'; give one of source, sink"),
        ({"ports": [source(items="x")]}, "ports[0].items is no key; did you mean item?"),
        ({"ports": [source(left=4)]}, "ports[0].left: got 4; give an item name"),
        (
            {"ports": [source("iron-plate", right="pipe")]},
            "ports[0].item: got 'iron-plate'; give either item, for both lanes, or right",
        ),
    ],
)
def test_a_fault_says_what_was_got_and_what_to_give(changes: dict[str, Any], fault: str) -> None:
    (found,) = faults_of(**changes)
    assert found.startswith(fault)


def test_all_faults_are_told_at_once() -> None:
    assert len(faults_of(width=[], height="x", ports=[{}, 3], recipes=[[]], colour=1)) == 9
