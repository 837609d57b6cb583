"""The command `export` prints a blueprint string or writes it, and says what is missing."""

import argparse
import json
from pathlib import Path

import pytest

from envs.blueprint.text import decode_text
from envs.errors import UserError
from envs.layout import EAST, Entity, Layout
from envs.layout_json import layout_to_json
from factorio_rl.export_command import add_parser

BELT = Layout(2, 1, (Entity("belt", 0, 0, EAST), Entity("sink", 1, 0, EAST, item="iron-plate")))
PACKED = Layout(
    21, 21, tuple(Entity("asm", x, y) for x in range(0, 21, 3) for y in range(0, 21, 3))
)


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    options = parser.parse_args(["export", *arguments])
    return options.run(options)


def saved(layout: Layout, folder: Path) -> str:
    path = folder / "layout.json"
    path.write_text(json.dumps(layout_to_json(layout)))
    return str(path)


def test_the_string_is_all_of_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(saved(BELT, tmp_path)) == 0
    printed = capsys.readouterr()
    assert printed.out.count("\n") == 1
    assert decode_text(printed.out)["blueprint"]["version"] >> 48 == 2
    assert printed.err == ""


def test_game_label_and_file_are_choices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "belt.txt"
    assert run(saved(BELT, tmp_path), "--game", "1.1", "--label", "a belt", "--out", str(out)) == 0
    blueprint = decode_text(out.read_text())["blueprint"]
    assert blueprint["version"] >> 48 == 1
    assert blueprint["label"] == "a belt"
    assert capsys.readouterr().out == f"wrote {out}\n"


def test_missing_power_is_said_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(saved(PACKED, tmp_path)) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("note: UNPOWERED")
    assert printed.out.startswith("0")


@pytest.mark.parametrize("out", ["", "missing/belt.txt"])
def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path, out: str) -> None:
    with pytest.raises(UserError, match=r"cannot write .*; give a path") as raised:
        run(saved(BELT, tmp_path), "--out", str(tmp_path / out))
    assert "\n" not in str(raised.value)


def test_a_layout_that_is_missing_or_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read"):
        run(str(tmp_path / "none.json"))
    with pytest.raises(UserError, match="no entities"):
        run(saved(Layout(3, 3, ()), tmp_path))


def test_a_blueprint_is_refused_since_settings_would_be_lost() -> None:
    real = Path(__file__).parents[1] / "data" / "blueprints" / "beltFac1.json"
    with pytest.raises(UserError, match="is a blueprint already"):
        run(str(real))
