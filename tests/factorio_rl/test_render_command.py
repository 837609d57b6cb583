"""`render` draws text or a picture with the rates below."""

import json
from pathlib import Path

import pytest

from factorio_rl.cli import main

DATA = Path(__file__).parents[1] / "data"
CASES = json.loads((DATA / "cases_public.json").read_text())


@pytest.fixture
def gear_file(tmp_path: Path) -> Path:
    path = tmp_path / "gear.json"
    gear = next(case for case in CASES if case["name"] == "asm_gear_1in_1out")
    path.write_text(json.dumps(gear))
    return path


def rendered(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["render", *map(str, arguments)]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out


def test_text_shows_the_layout_and_its_rate(
    gear_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = rendered(capsys, gear_file)
    assert "15/32" in text
    assert len(text.splitlines()) >= 12


def test_a_picture_is_written(
    gear_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "gear.png"
    assert rendered(capsys, gear_file, "--png", picture) == f"wrote {picture}\n"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_blueprint_is_drawn_with_its_ports(capsys: pytest.CaptureFixture[str]) -> None:
    blueprint = DATA / "blueprints" / "circuitFac2.json"
    assert "2/7" in rendered(capsys, blueprint)
    none = rendered(capsys, blueprint, "--input", "0,0=stone", "--input", "0,3=stone")
    assert "2/7" not in none
