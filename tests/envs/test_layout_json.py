"""Layout JSON: round trips of the case files, and what each error says (R3, R4)."""

import json
from pathlib import Path
from typing import Any

import pytest

from envs.catalogue import RECIPES, SMELTING
from envs.errors import UserError
from envs.layout import ITEM_FIELDS, KINDS, MACHINE_KINDS, PROTOTYPES, Entity, Layout, LayoutError
from envs.layout_json import ARM_TYPES, layout_from_json, layout_to_json

DATA = Path(__file__).parents[1] / "data"
CASES = [
    case
    for name in ("cases_public.json", "layouts_public.json")
    for case in json.loads((DATA / name).read_text())
]


def with_entity(**fields: Any) -> dict[str, Any]:
    return {"entities": [fields]}


def message_of(obj: Any) -> str:
    with pytest.raises(LayoutError) as caught:
        layout_from_json(obj)
    assert isinstance(caught.value, UserError)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_r3_every_case_survives_a_round_trip() -> None:
    assert len(CASES) == 118
    for case in CASES:
        layout = layout_from_json(case)
        written = json.loads(json.dumps(layout_to_json(layout)))
        assert layout_from_json(written) == layout
        size = written["width"], written["height"]
        assert size == (case.get("width", 12), case.get("height", 12))
        for entry, given in zip(written["entities"], case["entities"], strict=True):
            entry.setdefault("t", given.get("t"))
            assert given.items() <= entry.items()


def test_r3_the_grid_is_12_by_12_where_no_size_is_given() -> None:
    layout = layout_from_json({"entities": []})
    assert (layout.width, layout.height) == (12, 12)
    assert layout_from_json({"entities": [], "width": 3}) == Layout(3, 12, ())


def test_r3_unknown_fields_are_ignored() -> None:
    obj = {"name": "x", "entities": [{"k": "belt", "x": 1, "y": 2, "d": "S", "color": "red"}]}
    assert layout_from_json(obj).entities == (Entity("belt", 1, 2, 2),)


def test_r3_fields_of_other_kinds_are_ignored() -> None:
    fields = {"recipe": "pipe", "left": 3, "t": "fast", "item": []}
    obj = with_entity(k="belt", x=0, y=0, d="N", **fields)
    assert layout_from_json(obj).entities == (Entity("belt", 0, 0, 0),)


def test_r3_types_have_defaults_short_names_and_full_names() -> None:
    for short, full in ARM_TYPES.items():
        for name in (short, full):
            layout = layout_from_json(with_entity(k="inserter", x=0, y=0, d="N", t=name))
            assert layout.entities == (Entity("inserter", 0, 0, 0, prototype=full),)
            assert layout_to_json(layout)["entities"][0]["t"] == short
    for kind in ("inserter", *MACHINE_KINDS):
        default = layout_from_json(with_entity(k=kind, x=0, y=0, d="N"))
        named = layout_from_json(with_entity(k=kind, x=0, y=0, d="N", t=PROTOTYPES[kind][0]))
        assert default == named


def test_r3_machines_may_lack_a_recipe() -> None:
    for kind in MACHINE_KINDS:
        for fields in ({}, {"recipe": None}):
            assert layout_from_json(with_entity(k=kind, x=0, y=0, **fields)).entities == (
                Entity(kind, 0, 0),
            )


def test_r3_lanes_and_items_may_be_null_or_missing() -> None:
    for kind, names in ITEM_FIELDS.items():
        bare = layout_from_json(with_entity(k=kind, x=0, y=0, d="E"))
        nulls = layout_from_json(with_entity(k=kind, x=0, y=0, d="E", **dict.fromkeys(names)))
        assert bare == nulls
        assert layout_from_json(layout_to_json(bare)) == bare


def test_r5_directions_are_given_by_letter() -> None:
    belts = [{"k": "belt", "x": i, "y": 0, "d": name} for i, name in enumerate("NESW")]
    layout = layout_from_json({"entities": belts})
    assert [entity.direction for entity in layout.entities] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("obj", "parts"),
    [
        ([], ["a JSON object", "'entities'"]),
        ({}, ["a list named 'entities'"]),
        ({"entities": {}}, ["a list named 'entities'"]),
        ({"entities": [], "width": 2.5}, ["width is 2.5", "whole number"]),
        ({"entities": [], "height": True}, ["height is True", "whole number"]),
        ({"entities": [], "height": 0}, ["12 x 0", "from 1 to 1000"]),
        ({"entities": [], "width": float("nan")}, ["width is nan", "whole number"]),
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
        (with_entity(k="inserter", x=0, y=0, d="N", t="slow"), ["'slow'", "fast-inserter"]),
        (with_entity(k="inserter", x=0, y=0, d="N", t=5), ["t must be one of", "fast-inserter"]),
        (with_entity(k="asm", x=0, y=0, t="stone-furnace"), ["known are assembling-machine-1"]),
        (with_entity(k="asm", x=0, y=0, recipe="iron-plate"), ["'iron-plate'", *RECIPES]),
        (with_entity(k="furnace", x=0, y=0, recipe="pipe"), ["'pipe'", *SMELTING]),
        (with_entity(k="asm", x=0, y=1, recipe=["pipe"]), ["asm at (0, 1): recipe must be null"]),
        (with_entity(k="sink", x=0, y=0, d="E", item=3), ["item must be null or a name"]),
        (with_entity(k="sink", x=0, y=0, d="E", item=""), ["item must be null or a name"]),
        (with_entity(k="sink", x=0, y=0, d="E", item="a\nb"), ["printable characters"]),
        (with_entity(k="source", x=0, y=0, d="E", left=[]), ["left must be null or a name"]),
        (with_entity(k="chest_src", x=0, y=0, item="x" * 101), ["of at most 100"]),
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
def test_r4_an_invalid_layout_is_refused_with_what_is_wrong_and_allowed(
    obj: Any, parts: list[str]
) -> None:
    message = message_of(obj)
    assert [part for part in parts if part not in message] == []
