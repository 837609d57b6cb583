"""What a command line names as a layout: forms, names, and what cannot be read."""

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from envs.blueprint.ports import InputPort, OutputPort
from envs.blueprint.text import MAX_TEXT_BYTES, encode_text
from envs.errors import UserError
from envs.layout_input import load_inputs
from envs.layout_json import layout_from_json

DATA = Path(__file__).parents[1] / "data"
CASES = json.loads((DATA / "cases_public.json").read_text())
REAL = DATA / "blueprints" / "circuitFac2.json"
STRING = encode_text(json.loads(REAL.read_text()))
LAYOUT = {"entities": [{"k": "belt", "x": 1, "y": 2, "d": "N"}]}


def load(argument: object, stdin: str = "", **options: Any):
    return load_inputs(str(argument), stdin=io.StringIO(stdin), **options)


def message_of(argument: object, stdin: str = "", **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        load(argument, stdin, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 600
    return message


def written(folder: Path, content: str | bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_layout_is_called_by_its_name_or_file(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps(LAYOUT))
    (found,) = load(path)
    assert (found.name, found.imported) == (str(path), None)
    assert found.layout == layout_from_json(LAYOUT)
    (named,) = load("-", json.dumps({**LAYOUT, "name": "one belt"}))
    assert named.name == "one belt"
    (odd,) = load("-", json.dumps({**LAYOUT, "name": "a\nb"}))
    assert odd.name == "standard input"


def test_a_list_of_layouts_keeps_its_order() -> None:
    found = load(DATA / "cases_public.json")
    assert [one.name for one in found] == [case["name"] for case in CASES]
    assert [one.layout for one in found] == [layout_from_json(case) for case in CASES]
    unnamed = load("-", json.dumps([LAYOUT, LAYOUT]))
    assert [one.name for one in unnamed] == ["standard input[0]", "standard input[1]"]


@pytest.mark.parametrize("form", ["string", "file", "json", "bom", "stdin", "broken lines"])
def test_a_blueprint_is_read_in_every_form(form: str, tmp_path: Path) -> None:
    lines = "\n".join(STRING[start : start + 76] for start in range(0, len(STRING), 76))
    argument, stdin = {
        "string": (STRING, ""),
        "file": (written(tmp_path, STRING + "\n"), ""),
        "json": (REAL, ""),
        "bom": (written(tmp_path, b"\xef\xbb\xbf" + STRING.encode()), ""),
        "stdin": ("-", f"\n {STRING}"),
        "broken lines": (lines, ""),
    }[form]
    (found,) = load(argument, stdin)
    assert found.name == "circuitFac2"
    assert found.imported is not None
    assert found.layout == found.imported.layout
    assert len(found.layout.entities) == 17


def test_ports_and_index_reach_the_blueprint() -> None:
    book = {
        "blueprint_book": {"blueprints": [{"upgrade_planner": {}}, json.loads(REAL.read_text())]}
    }
    (found,) = load(
        "-",
        json.dumps(book),
        index=[2],
        inputs=[InputPort(0, 0, "stone")],
        outputs=[OutputPort(12, 0, "stone")],
    )
    items = {(one.x, one.y): (one.left, one.item) for one in found.layout.entities}
    assert items[0, 0] == ("stone", None)
    assert items[12, 0] == (None, "stone")


def test_ports_do_not_go_with_a_layout() -> None:
    for options in (
        {"index": [1]},
        {"inputs": [InputPort(0, 0, "stone")]},
        {"outputs": [OutputPort(0, 0)]},
    ):
        assert "names its sources and sinks itself" in message_of(
            "-", json.dumps(LAYOUT), **options
        )


def test_bytes_of_standard_input_are_read_as_utf_8() -> None:
    raw = b"\xef\xbb\xbf" + json.dumps({**LAYOUT, "name": "caf\u00e9"}, ensure_ascii=False).encode()
    stdin = io.TextIOWrapper(io.BytesIO(raw), encoding="latin-1")
    assert load_inputs("-", stdin=stdin)[0].name == "caf\u00e9"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("  \n", "is empty"),
        ("[]", "is an empty list"),
        ("hello", "begins with 'hello'"),
        ("{", "not JSON"),
        ("[1]", "[0]: a layout is a JSON object"),
        ('{"entities": 3}', "a list named 'entities'"),
        ('{"entities": [{"k": "belt", "x": 1, "y": 2, "d": "Q"}]}', "direction"),
        (json.dumps([LAYOUT, {"entities": [{"k": "wall"}]}]), "[1]: unknown entity kind 'wall'"),
        ('{"width": NaN, "entities": []}', "NaN"),
        ("[" * 99_999, "nested too deeply"),
        ('{"blueprint": {"entities": []}}', "holds no entities"),
        ("0abc", "not base64"),
        (STRING[:-20], "cut off"),
        (b"\xff\xfe0\x00e\x00", "is not UTF-8"),
        (b"{\x00\x00", "not JSON"),
        (
            json.dumps({"entities": [{"k": "belt", "x": "A" * 10**5}]}),
            "belt {'k': 'belt', 'x': 'AAA",
        ),
    ],
)
def test_a_file_that_holds_something_else_is_one_line(
    content: str | bytes, said: str, tmp_path: Path
) -> None:
    assert said in message_of(written(tmp_path, content))


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    assert "No such file" in message_of(tmp_path / "missing.json")
    assert "directory" in message_of(tmp_path)
    assert "cannot read" in message_of("a\nb" + "x" * 9_999)
    assert "cannot read" in message_of("a\0b")
    assert "cannot read" in message_of("")
    assert "cannot read" in message_of('{"entities": []}')


def test_a_large_file_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        os.truncate(file.fileno(), 100 * 2**20)
    assert "104,857,600 bytes; at most 16,777,216" in message_of(path)
    assert "more than" in message_of("-", "x" * (MAX_TEXT_BYTES + 1))
    assert "more than" in message_of("/dev/zero")


def test_a_damaged_string_on_the_command_line_is_named_as_one() -> None:
    assert message_of(STRING[:-20]).startswith("the blueprint string: ")
    assert message_of(STRING, index=[1]).startswith("the blueprint string: --index 1 asks")
