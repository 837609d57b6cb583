"""Brief tasks: what a player leaves out is worked out, and every fault is told at once."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs.families import FAMILIES
from envs.layout import EAST, NORTH, SOUTH, WEST
from envs.task_brief import is_brief, read_brief, recipes_for
from envs.task_fields import Faults, Fields
from envs.task_file import TaskEntry, TaskFileError, read_entries, read_task_file
from envs.task_problems import bound_of, errors_of, problems
from envs.task_spec import Port, TaskSpec

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
PLATES = {"edge": "west", "position": 5, "item": "iron-plate"}
COPPER = {"edge": "west", "position": 2, "item": "copper-plate"}
OUT = {"edge": "east", "position": 8}
GEARS: dict[str, Any] = {
    "product": "iron-gear-wheel",
    "rate": "15/16",
    "inputs": [PLATES],
    "output": OUT,
}


def entry(tmp_path: Path, **changes: Any) -> TaskEntry:
    """The entry of the gear task with some keys changed; None leaves a key out."""
    values = {key: value for key, value in {**GEARS, **changes}.items() if value is not None}
    path = tmp_path / "task.json"
    path.write_text(json.dumps(values))
    (found,) = read_entries(path)
    return found


def spec(tmp_path: Path, **changes: Any) -> TaskSpec:
    found = entry(tmp_path, **changes)
    assert found.spec is not None, found.faults
    assert found.faults == ()
    return found.spec


def test_a_brief_is_the_task_that_the_long_form_says(tmp_path: Path) -> None:
    long = {
        "blocked": [[5, 0]],
        "ports": [
            {"x": 0, "y": 5, "direction": "E", "role": "source", "item": "iron-plate"},
            {"x": 11, "y": 8, "direction": "E", "role": "sink"},
        ],
        "recipes": ["iron-gear-wheel"],
        "target_item": "iron-gear-wheel",
        "target_rate": "15/16",
    }
    path = tmp_path / "both.json"
    path.write_text(json.dumps([long, {**GEARS, "obstacles": [[5, 0]]}]))
    first, second = read_task_file(path)
    assert first == second


@pytest.mark.parametrize(
    ("edge", "cell", "inward", "outward"),
    [
        ("north", (3, 0), SOUTH, NORTH),
        ("east", (8, 3), WEST, EAST),
        ("south", (3, 6), NORTH, SOUTH),
        ("west", (0, 3), EAST, WEST),
    ],
)
def test_inputs_flow_inwards_and_the_output_outwards(
    tmp_path: Path, edge: str, cell: tuple[int, int], inward: int, outward: int
) -> None:
    place = {"edge": edge, "position": 3}
    gears = "iron-gear-wheel"
    task = spec(tmp_path, grid="9x7", inputs=[{**place, "item": "iron-plate"}], output=place)
    assert task.ports == (
        Port(*cell, inward, False, "iron-plate", "iron-plate"),
        Port(*cell, outward, True, gears, gears),
    )


def test_ports_inside_have_a_cell_and_a_direction(tmp_path: Path) -> None:
    place = {"x": 4, "y": 6, "direction": "N"}
    task = spec(tmp_path, inputs=[{**place, "right": "iron-plate"}], output={**place, "x": 7})
    assert task.ports[0] == Port(4, 6, NORTH, False, None, "iron-plate")
    assert (task.sink.x, task.sink.y, task.sink.direction) == (7, 6, NORTH)


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (2, Fraction(2)),
        (0.9375, Fraction(15, 16)),
        ("15/16", Fraction(15, 16)),
        ("90/min", Fraction(3, 2)),
        ("1.5 / s", Fraction(3, 2)),
        ("100/3/min", Fraction(5, 9)),
    ],
)
def test_rates_are_exact(tmp_path: Path, rate: object, expected: Fraction) -> None:
    found = entry(tmp_path, rate=rate)
    assert found.spec is not None
    assert found.spec.target_rate == expected
    assert not found.target_is_bound


def test_without_a_rate_the_target_is_the_bound(tmp_path: Path) -> None:
    found = entry(tmp_path, rate=None)
    assert found.target_is_bound
    assert found.spec is not None
    assert found.spec.target_rate == bound_of(found.spec) == Fraction(15, 2)
    assert problems(found.spec) == []


def test_a_task_without_rate_that_no_layout_solves_is_refused_for_that(tmp_path: Path) -> None:
    found = entry(tmp_path, rate=None, inputs=[COPPER])
    assert found.spec is not None
    (first, *_) = errors_of(problems(found.spec))
    assert first.startswith("iron-plate is needed, and no source gives it")
    short = entry(tmp_path, rate=None, limit=5)
    assert short.spec is not None
    (only,) = problems(short.spec)
    assert only.startswith("the placement limit is 5; a layout has at least 9 placements")


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_recipes_are_those_of_the_families_in_their_order(family: Any) -> None:
    assert recipes_for(family.product, set(family.raw_items)) == family.recipes


def test_what_an_input_gives_is_not_made(tmp_path: Path) -> None:
    circuit = {"product": "electronic-circuit", "rate": 0.5}
    own = spec(tmp_path, **circuit, inputs=[PLATES, COPPER])
    assert own.recipes == ("copper-cable", "electronic-circuit")
    assert own.placement_limit == 80
    given = spec(tmp_path, **circuit, inputs=[PLATES, {**COPPER, "item": "copper-cable"}])
    assert given.recipes == ("electronic-circuit",)
    assert given.placement_limit == 48


def test_recipes_that_are_named_are_taken(tmp_path: Path) -> None:
    assert spec(tmp_path, recipes=["iron-gear-wheel", "pipe"]).recipes == (
        "iron-gear-wheel",
        "pipe",
    )


@pytest.mark.parametrize(
    ("grid", "sides"),
    [(None, (12, 12)), ("9x7", (9, 7)), (" 10 x 8 ", (10, 8)), ([6, 5], (6, 5))],
)
def test_grids(tmp_path: Path, grid: object, sides: tuple[int, int]) -> None:
    task = spec(tmp_path, grid=grid)
    assert (task.width, task.height) == sides
    assert task.sink.x == sides[0] - 1


def test_obstacles_are_cells_and_rectangles_from_any_corner(tmp_path: Path) -> None:
    rectangle = {"from": [4, 2], "to": [3, 0]}
    task = spec(tmp_path, obstacles=[[9, 9], rectangle, [3, 1]])
    assert task.blocked == ((3, 0), (3, 1), (3, 2), (4, 0), (4, 1), (4, 2), (9, 9))


def test_a_start_lies_beside_the_task_file(tmp_path: Path) -> None:
    assert entry(tmp_path, start="half/built.json").start == tmp_path / "half" / "built.json"
    assert entry(tmp_path).start is None


FAULTS = [
    ({"product": "gear"}, "product: got 'gear'; it is no item: "),
    (
        {"product": "iron-plate"},
        "product: got 'iron-plate'; machines do not make it, so it can only be an ",
    ),
    ({"product": "iron-gear-whel"}, "it is no item: did you mean iron-gear-wheel?"),
    ({"product": None}, "product is missing; give the name of an item"),
    ({"rate": 0}, "rate: got 0; give items per second above 0, such as 1.5, 15/16 or 90/min"),
    ({"rate": "90/h"}, "rate: got '90/h'; give items per second"),
    ({"rate": "1/2147483647/min"}, "rate: got '1/2147483647/min'; give items"),
    ({"rate": "fast"}, "rate: got 'fast'; give items per second"),
    ({"grid": "12"}, "grid: got '12'; give width and height in cells, at most 32, such as 12x12"),
    ({"grid": "33x33"}, "grid: got '33x33'; give width and height in cells, at most 32, such"),
    ({"obstacles": [[1, 1]] * 1025}, "obstacles: got a list; give"),
    ({"limit": 10**12}, "limit: got 1000000000000; give a whole number, at most 2,147,483,647"),
    ({"grid": [12, 10**9]}, "grid: got a list; give width and height"),
    ({"inputs": None}, "inputs is missing; give a list of inputs"),
    ({"inputs": [3]}, "inputs[0]: got 3; give edge, position and item"),
    ({"inputs": [{**PLATES, "edge": "left"}]}, "inputs[0].edge: got 'left'; give one of north, "),
    ({"inputs": [{"edge": "west", "position": 5}]}, "inputs[0].item is missing; give the name"),
    ({"inputs": [{**PLATES, "left": "stone"}]}, "inputs[0].item: got 'iron-plate'; give either"),
    ({"inputs": [{**PLATES, "x": 3}]}, "inputs[0].edge is no key; known are x, y, direction"),
    ({"inputs": [{**PLATES, "positon": 3}]}, "inputs[0].positon is no key; did you mean position?"),
    ({"inputs": [{**PLATES, "item": "iron-gear-wheel"}]}, "inputs: one gives iron-gear-wheel, "),
    ({"output": None}, "output is missing; give edge and position"),
    ({"output": "east"}, "output: got 'east'; give edge and position"),
    ({"output": {**OUT, "item": "pipe"}}, "output.item is no key; known are edge, position"),
    ({"output": {"edge": "east"}}, "output.position is missing; give a whole number"),
    ({"obstacles": [[1, 2, 3]]}, "obstacles[0]: got a list; give a cell such as [3, 0]"),
    (
        {"obstacles": [{"from": [0, 0], "to": [10**6, 1]}]},
        "obstacles[0]: got an object; give a cell",
    ),
    ({"obstacles": 3}, "obstacles: got 3; give a list of cells"),
    ({"limit": "many"}, "limit: got 'many'; give a whole number"),
    ({"start": ""}, "start: got ''; give the path of a layout or blueprint file"),
    ({"prodct": "pipe"}, "prodct is no key; did you mean product?"),
    ({"recipe": ["pipe"]}, "recipe is no key; did you mean recipes?"),
    (
        {"product": "logistic-science-pack", "inputs": [PLATES, COPPER]},
        "product: logistic-science-pack takes 6 recipes from what comes in (copper-cable, ",
    ),
]


@pytest.mark.parametrize(("changes", "message"), FAULTS, ids=range(len(FAULTS)))
def test_faults_say_what_is_allowed(tmp_path: Path, changes: dict, message: str) -> None:
    found = entry(tmp_path, **changes).faults
    assert [fault for fault in found if message in fault], found
    assert all(fault.isprintable() and len(fault) < 400 for fault in found)


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_text("{product: pip, rat: 1, inputs: [{edge: west, item: 3}], output: 7, grid: x}")
    with pytest.raises(TaskFileError) as caught:
        read_task_file(path)
    lines = str(caught.value).splitlines()[1:]
    starts = ["rat is no key", "product", "grid", "inputs[0].position", "inputs[0].item", "output"]
    told = [line.strip().removeprefix("task 0: ") for line in lines]
    assert [text[: len(start)] for text, start in zip(told, starts, strict=True)] == starts


@pytest.mark.parametrize(
    ("keys", "brief"),
    [
        (("product",), True),
        (("product", "ports"), True),
        (("inputs", "name"), True),
        (("ports", "limit"), False),
        (("recipes", "name"), False),
        (("target_rate",), False),
        ((), False),
    ],
)
def test_the_form_is_told_by_the_keys(keys: tuple[str, ...], brief: bool) -> None:
    assert is_brief(dict.fromkeys(keys)) == brief


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_are_sound_tasks_for_the_trained_grid(path: Path) -> None:
    (found,) = read_entries(path)
    assert found.faults == ()
    assert found.spec is not None
    assert problems(found.spec) == []
    assert (found.spec.width, found.spec.height) == (12, 12)
    assert path.read_text().startswith("# ")


def test_the_examples_show_what_a_brief_can_say() -> None:
    assert len(EXAMPLES) >= 5
    entries = [read_entries(path)[0] for path in EXAMPLES]
    assert any(found.target_is_bound for found in entries)
    assert any(found.spec is not None and found.spec.blocked for found in entries)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.sampled_from(["", "west", "E", "iron-plate", "12x12", "1/min", "1/0", "\x00", "é" * 200]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["edge", "position", "item", "left", "x", "y", "direction", "from", "to"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*GEARS, "grid", "obstacles", "limit", "start"]), _JSON))
@settings(max_examples=150, deadline=None)
def test_any_values_get_an_answer_in_lines(changes: dict[str, Any]) -> None:
    values = {**GEARS, **changes}
    fields = Fields(values, Faults())
    brief = read_brief(fields)
    assert (brief.spec is None) == bool(fields.faults.values)
    found = [*fields.faults.all(), *(problems(brief.spec) if brief.spec else ())]
    assert all(fault.isprintable() and len(fault) < 600 for fault in found)


def test_a_key_with_nothing_behind_it_has_its_default(tmp_path: Path) -> None:
    path = tmp_path / "task.json"
    empty = dict.fromkeys(("grid", "obstacles", "limit", "name", "rate", "start"))
    path.write_text(json.dumps({**GEARS, **empty}))
    (found,) = read_entries(path)
    assert found.faults == ()
    path.write_text(json.dumps({key: GEARS[key] for key in ("product", "inputs", "output")}))
    assert read_entries(path)[0].spec == found.spec


@pytest.mark.parametrize("start", ["-", "0eN123"])
def test_a_start_is_a_path_whatever_it_looks_like(tmp_path: Path, start: str) -> None:
    assert entry(tmp_path, start=start).start == tmp_path / start
