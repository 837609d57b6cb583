"""Layout JSON: round trips of the case files, and what each error says."""

import json
from pathlib import Path
from typing import Any

import pytest

from envs.catalogue import RECIPES
from envs.errors import UserError
from envs.layout import (
    DIRECTION_VECTORS,
    KINDS,
    Entity,
    Layout,
    LayoutError,
    validate,
)

DATA = Path(__file__).parents[1] / "data"
CASES = [
    case
    for name in ("cases_public.json", "layouts_public.json")
    for case in json.loads((DATA / name).read_text())
]
FULL_NAMES = {"inserter": "inserter", "asm": "assembling-machine-1"}


def is_supported(case: dict[str, Any]) -> bool:
    return all(
        entity["k"] in KINDS
        and entity.get("t", FULL_NAMES.get(entity["k"])) == FULL_NAMES.get(entity["k"])
        for entity in case["entities"]
    )


def with_entity(**fields: Any) -> dict[str, Any]:
    return {"entities": [fields]}


def message_of(obj: Any) -> str:
    with pytest.raises(LayoutError) as caught:
        layout_from_json(obj)
    assert isinstance(caught.value, UserError)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_supported_cases_survive_a_round_trip() -> None:
    supported = [case for case in CASES if is_supported(case)]
    assert len(supported) > 20
    for case in supported:
        layout = layout_from_json(case)
        written = json.loads(json.dumps(layout_to_json(layout)))
        assert layout_from_json(written) == layout
        assert (written["width"], written["height"]) == (
            case.get("width", 12),
            case.get("height", 12),
        )
        for entry, given in zip(written["entities"], case["entities"], strict=True):
            assert {key: given[key] for key in given if key != "t"}.items() <= entry.items()


def test_cases_with_entities_of_later_versions_are_refused_by_name() -> None:
    others = [case for case in CASES if not is_supported(case)]
    assert others
    for case in others:
        message = message_of(case)
        assert "this version knows" in message


def test_the_grid_is_12_by_12_where_no_size_is_given() -> None:
    layout = layout_from_json({"entities": []})
    assert (layout.width, layout.height) == (12, 12)
    assert layout_from_json({"entities": [], "width": 3}) == Layout(3, 12, ())


def test_unknown_fields_are_ignored() -> None:
    obj = {"name": "x", "entities": [{"k": "belt", "x": 1, "y": 2, "d": "S", "color": "red"}]}
    assert layout_from_json(obj).entities == (Entity("belt", 1, 2, 2),)


def test_machines_may_lack_a_recipe_and_default_names_may_be_written() -> None:
    machines = [{"k": "asm", "x": 0, "y": 0}, {"k": "asm", "x": 3, "y": 0, "recipe": None}]
    arm = {"k": "inserter", "x": 0, "y": 5, "d": "N", "t": "inserter"}
    machines[0]["t"] = "assembling-machine-1"
    layout = layout_from_json({"entities": [*machines, arm]})
    assert [entity.recipe for entity in layout.entities] == [None, None, None]


def test_directions_are_north_east_south_west_with_y_down() -> None:
    belts = [{"k": "belt", "x": i, "y": 0, "d": name} for i, name in enumerate("NESW")]
    layout = layout_from_json({"entities": belts})
    assert [entity.direction for entity in layout.entities] == [0, 1, 2, 3]
    assert DIRECTION_VECTORS == ((0, -1), (1, 0), (0, 1), (-1, 0))


@pytest.mark.parametrize(
    ("obj", "parts"),
    [
        ([], ["a JSON object", "'entities'"]),
        ({}, ["a list named 'entities'"]),
        ({"entities": {}}, ["a list named 'entities'"]),
        ({"entities": [], "width": 2.5}, ["width is 2.5", "whole number"]),
        ({"entities": [], "height": True}, ["height is True", "whole number"]),
        ({"entities": [], "height": 0}, ["12 x 0", "from 1 to 1000"]),
        ({"entities": [5]}, ["an entity is a JSON object", "5"]),
        (with_entity(k="splitter", x=0, y=0, d="N"), ["'splitter'", ", ".join(KINDS)]),
        (with_entity(k=["belt"], x=0, y=0, d="N"), ["['belt']", ", ".join(KINDS)]),
        (with_entity(x=0, y=0, d="N"), ["None", ", ".join(KINDS)]),
        (with_entity(k="belt", x="0", y=0, d="N"), ["belt", "x and y must be whole numbers"]),
        (with_entity(k="belt", x=0, d="N"), ["belt", "x and y must be whole numbers"]),
        (with_entity(k="belt", x=0, y=0, d="n"), ["'n'", "one of N, E, S, W"]),
        (with_entity(k="belt", x=0, y=0, d="NE"), ["'NE'", "one of N, E, S, W"]),
        (with_entity(k="belt", x=0, y=0, d=1), ["one of N, E, S, W"]),
        (with_entity(k="belt", x=0, y=0), ["one of N, E, S, W"]),
        (with_entity(k="inserter", x=0, y=0, d="N", t="fast"), ["'fast'", "knows inserter"]),
        (with_entity(k="asm", x=0, y=0, t="assembling-machine-3"), ["knows assembling-machine-1"]),
        (with_entity(k="asm", x=0, y=0, recipe="iron-plate"), ["'iron-plate'", *RECIPES]),
        (with_entity(k="asm", x=0, y=0, recipe=["pipe"]), ["['pipe']", "known are"]),
        (with_entity(k="sink", x=0, y=0, d="E", item=3), ["item must be an item name or null"]),
        (with_entity(k="source", x=0, y=0, d="E", left=[]), ["left must be an item name or null"]),
        (with_entity(k="asm", x=10, y=4), ["asm at (10, 4)", "12 x 12", "move it or enlarge"]),
        (with_entity(k="belt", x=-1, y=4, d="N"), ["belt at (-1, 4)", "leaves the grid"]),
        (
            {
                "entities": [
                    {"k": "asm", "x": 2, "y": 2, "recipe": "pipe"},
                    {"k": "belt", "x": 4, "y": 4, "d": "N"},
                ]
            },
            ["belt at (4, 4)", "overlaps the asm at (2, 2)", "remove one"],
        ),
    ],
)
def test_an_invalid_layout_is_refused_with_what_is_wrong_and_allowed(
    obj: Any, parts: list[str]
) -> None:
    message = message_of(obj)
    assert [part for part in parts if part not in message] == []


def test_validate_accepts_touching_entities_and_the_edges() -> None:
    entities = (Entity("asm", 0, 0), Entity("asm", 3, 0), Entity("belt", 5, 3, 0))
    validate(Layout(6, 4, entities))
    with pytest.raises(LayoutError, match="leaves the grid of 5 x 4"):
        validate(Layout(5, 4, entities))


def test_reading_a_file_gives_its_layout(tmp_path: Path) -> None:
    layout = Layout(5, 4, (Entity("sink", 1, 2, 3, item="pipe"),))
    path = tmp_path / "layout.json"
    path.write_text(json.dumps(layout_to_json(layout)))
    assert read_layout(path) == layout


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (None, "cannot read"),
        (b"0eNq1mN", "is not JSON"),
        (b"\xff\xfe\x00layout", "is not JSON"),
        (b"[1, 2]", "a list named 'entities'"),
    ],
)
def test_a_file_that_holds_no_layout_is_refused(
    tmp_path: Path, content: bytes | None, part: str
) -> None:
    path = tmp_path / "layout.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LayoutError, match=part):
        read_layout(path)
