"""What `verify` and `render` refuse: one line on standard error, exit code 2, nothing else."""

import base64
import io
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from envs.blueprint.text import MAX_TEXT_BYTES, encode_text
from factorio_rl.cli import main

DATA = Path(__file__).parents[1] / "data"
REAL = DATA / "blueprints" / "circuitFac2.json"
STRING = encode_text(json.loads(REAL.read_text()))
BELT = {"k": "belt", "x": 0, "y": 0, "d": "N"}


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line of a command that refuses its arguments."""
    assert main([str(one) for one in arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.endswith("\n")
    assert printed.err.count("\n") == 1
    assert len(printed.err) < 800
    return printed.err


def layout(*entities: dict[str, Any], **fields: Any) -> str:
    return json.dumps({"entities": list(entities), **fields})


def bomb() -> str:
    """A blueprint string of some 50 kB that unpacks to 50 MB."""
    packed = zlib.compress(b'{"blueprint": "' + b" " * 50_000_000 + b'"}', 9)
    return "0" + base64.b64encode(packed).decode()


BROKEN = {
    "empty": ("", "is empty"),
    "words": ("hello", "begins with 'hello'"),
    "cut JSON": ('{"entities": [', "not JSON"),
    "NaN": ('{"entities": [], "width": NaN}', "NaN"),
    "infinity": ('{"entities": [], "width": 1e999}', "too large"),
    "deep": ("[" * 100_000, "nested too deeply"),
    "long number": ('{"entities": [], "width": ' + "9" * 5_000 + "}", "too many digits"),
    "huge grid": (layout(width=10**9, height=10**9), "must be from 1 to"),
    "half tile": (layout({**BELT, "x": 0.5}), "whole numbers"),
    "negative": (layout({**BELT, "x": -1}), "leaves the grid"),
    "outside": (layout({**BELT, "y": 12}), "leaves the grid"),
    "overlap": (layout(BELT, {**BELT, "k": "chest_src"}), "overlaps"),
    "kind": (layout({**BELT, "k": "splitter"}), "unknown entity kind 'splitter'"),
    "direction": (layout({**BELT, "d": "up"}), "one of N, E, S, W"),
    "recipe": (layout({"k": "asm", "x": 0, "y": 0, "recipe": "rocket"}), "no recipe of"),
    "no layout": ('{"name": "x"}', "a list named 'entities'"),
    "number": ("[1, 2]", "a layout is a JSON object"),
    "empty list": ("[]", "an empty list"),
    "one of a list": (f"[{layout(BELT)}, {layout({**BELT, 'x': -1})}]", "[1]: "),
    "bad base64": ("0" + "!" * 40, "base64"),
    "cut string": (STRING[:200], "copy the whole string again"),
    "bomb": (bomb(), "unpacks to more than"),
    "other version": ("1" + STRING[1:], "begins with"),
    "empty blueprint": (encode_text({"blueprint": {"entities": []}}), ""),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_text_is_refused_in_one_line(
    text: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text)
    for command in ("verify", "render"):
        message = refused(capsys, command, path)
        assert said in message
        assert str(path) in message
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert "standard input" in refused(capsys, "verify", "-", "--json")


def test_bytes_that_are_no_text_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.bin"
    for content in (b"\x00", b"\xff\xfe\x00", bytes(range(256))):
        path.write_bytes(content)
        refused(capsys, "verify", path)


def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "none.json" in refused(capsys, "verify", tmp_path / "none.json")
    assert str(tmp_path) in refused(capsys, "verify", tmp_path)
    assert "line" in refused(capsys, "verify", "two\nlines")


def test_one_file_of_several_that_cannot_be_read_stops_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "none.json" in refused(capsys, "verify", REAL, tmp_path / "none.json")


def test_a_file_above_the_limit_is_refused_unread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(20_000_000)
    message = refused(capsys, "verify", path)
    assert f"at most {MAX_TEXT_BYTES:,}" in message
    assert "20,000,000 bytes" in message


def test_endless_input_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(" " * (MAX_TEXT_BYTES + 1)))
    assert "standard input has more than" in refused(capsys, "verify", "-")


PORTS = {
    "form": (["--input", "0;0"], "--input '0;0' is not x,y=item"),
    "lane": (["--input", "0,0=iron-plate,middle"], "left or right"),
    "item": (["--input", "0,0=iron-plat"], "did you mean iron-plate?"),
    "negative": (["--input=-1,0=iron-plate"], "is not x,y=item"),
    "nothing there": (["--input", "9,4=iron-plate"], "9,4"),
    "not a head": (["--input", "3,0=iron-plate"], "name the first tile"),
    "not a tail": (["--output", "9,4"], "9,4"),
    "output form": (["--output", "1"], "is not x,y"),
    "twice": (["--input", "0,0=iron-plate", "--input", "0,0=stone"], "twice"),
    "index": (["--index", "0"], "'0' is no position"),
    "index of one": (["--index", "2"], ""),
}


@pytest.mark.parametrize(("options", "said"), PORTS.values(), ids=PORTS.keys())
def test_a_wrong_port_is_refused(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("verify", "render"):
        assert said in refused(capsys, command, REAL, *options)


def test_ports_do_not_go_with_a_layout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "belt.json"
    path.write_text(layout(BELT))
    message = refused(capsys, "verify", path, "--output", "0,0")
    assert "names its sources and sinks itself" in message


OPTIONS = {
    "unknown": ["--frobnicate", str(REAL)],
    "no layout": [],
    "no cap": [str(REAL), "--tick-cap"],
    "cap 0": [str(REAL), "--tick-cap", "0"],
    "cap in words": [str(REAL), "--tick-cap", "many"],
    "large cap": [str(REAL), "--tick-cap", str(1 << 31)],
    "long cap": [str(REAL), "--tick-cap", "9" * 5_000],
    "long index": [str(REAL), "--index", "9" * 5_000],
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_a_wrong_option_is_refused(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "--help" in refused(capsys, "verify", *options)


def test_a_picture_needs_one_layout_and_a_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "out.png"
    cases = DATA / "cases_public.json"
    assert "--png draws one layout" in refused(capsys, "verify", cases, "--png", picture)
    assert "holds 28 layouts" in refused(capsys, "render", cases)
    for bad in (tmp_path / "none" / "out.png", tmp_path / "out.xyz", tmp_path):
        for command in ("verify", "render"):
            message = refused(capsys, command, REAL, "--png", bad)
            assert "give a path that ends in .png" in message
    assert not picture.exists()
