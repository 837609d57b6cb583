"""What `verify` answers: its JSON and its text, for layouts and blueprints in every form."""

import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from envs.blueprint.text import encode_text
from envs.layout_json import layout_from_json
from envs.verifier import verify
from factorio_rl.cli import main

DATA = Path(__file__).parents[1] / "data"
CASES = json.loads((DATA / "cases_public.json").read_text())
BY_NAME = {case["name"]: case for case in CASES}
GEAR = BY_NAME["asm_gear_1in_1out"]
BLUEPRINTS = DATA / "blueprints"

EAST_1_1 = 2
"""East in the directions of 1.1."""

SPLITTER = {"name": "splitter", "position": {"x": 1.5, "y": 1}}

RATE_FIELDS = {"x", "y", "item", "rate", "items_per_s"}


def answered(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Standard output of a `verify` that succeeds and says nothing else."""
    assert main(["verify", *map(str, arguments)]) == 0
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return printed.out


def answered_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    printed = answered(capsys, "--json", *arguments)
    assert printed.count("\n") == 1
    return json.loads(printed)


@pytest.fixture
def gear_file(tmp_path: Path) -> Path:
    path = tmp_path / "gear.json"
    path.write_text(json.dumps(GEAR))
    return path


def test_json_has_the_documented_fields(
    gear_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = answered_json(capsys, gear_file)
    (rate,) = printed["rates"]
    assert rate == {
        "x": 9,
        "y": 8,
        "item": "iron-gear-wheel",
        "rate": "15/32",
        "items_per_s": 15 / 32,
    }
    assert printed["exact"] is True
    assert printed["transient_ticks"] == GEAR["transient_ticks"]
    assert printed["period_ticks"] == GEAR["period_ticks"]
    assert isinstance(printed["bottleneck"], str)
    assert printed["name"] == GEAR["name"]


def test_json_says_what_machines_and_inserters_do(
    gear_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = answered_json(capsys, gear_file)
    (machine,) = printed["machines"]
    assert (machine["type"], machine["recipe"]) == ("assembling-machine-1", "iron-gear-wheel")
    assert machine["crafts_per_s"] == machine["use"] == 15 / 32
    assert machine["waits"] == {"no iron-plate": 17 / 32}
    assert machine["missing"] == {"iron-plate": 17 / 32}
    assert [one["items_per_s"] for one in printed["inserters"]] == [15 / 16, 15 / 32]
    for one in (*printed["machines"], *printed["inserters"]):
        assert one["use"] + sum(one["waits"].values()) == 1
        assert {"x", "y", "type"} <= one.keys()
    for lane in printed["lanes"]:
        assert lane.keys() == {"x", "y", "lane", "items_per_s", "load", "stopped"}


def test_json_names_the_bottleneck_and_a_change_that_was_verified(
    gear_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = answered_json(capsys, gear_file)
    change = printed["change"]
    entities = [
        {**one, "t": "fast"} if (one["x"], one["y"]) == (change["x"], change["y"]) else one
        for one in GEAR["entities"]
    ]
    lifted = verify(layout_from_json({**GEAR, "entities": entities})).rates[0].rate
    assert change["what"] == "a fast-inserter there"
    assert (change["item"], change["rate"]) == ("iron-gear-wheel", "15/32")
    assert Fraction(change["lifted_rate"]) == lifted > Fraction(15, 32)
    assert f"from 15/32 to {lifted} items/s" in printed["bottleneck"]


def test_a_list_and_several_files_give_a_list_in_order(
    gear_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = tmp_path / "both.json"
    both.write_text(json.dumps([BY_NAME["c2c_fast"], BY_NAME["c2c_burner"]]))
    printed = answered_json(capsys, gear_file, both)
    assert [one["name"] for one in printed] == [GEAR["name"], "c2c_fast", "c2c_burner"]
    assert [one["rates"][0]["rate"] for one in printed] == ["15/32", "5/2", "15/19"]
    alone = tmp_path / "alone.json"
    alone.write_text(json.dumps([GEAR]))
    assert [one["name"] for one in answered_json(capsys, alone)] == [GEAR["name"]]


def test_every_public_case_has_its_rate(capsys: pytest.CaptureFixture[str]) -> None:
    printed = answered_json(capsys, DATA / "cases_public.json")
    for case, found in zip(CASES, printed, strict=True):
        rates = {(one["x"], one["y"], one["item"]): one["rate"] for one in found["rates"]}
        for expected in case["expect"]:
            place = expected["x"], expected["y"], expected["item"]
            assert Fraction(rates[place]) == Fraction(expected["rate"])
        assert (found["transient_ticks"], found["period_ticks"]) == (
            case["transient_ticks"],
            case["period_ticks"],
        )


def test_without_a_repeat_bounds_and_ticks_stand_beside_each_rate(
    gear_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = answered_json(capsys, "--tick-cap", 300, gear_file)
    assert printed["exact"] is False
    assert (printed["transient_ticks"], printed["period_ticks"]) == (None, None)
    (rate,) = printed["rates"]
    assert rate.keys() == RATE_FIELDS | {"lower", "upper", "ticks"}
    assert rate["ticks"] == 300
    assert Fraction(rate["lower"]) <= Fraction(rate["rate"]) <= Fraction(rate["upper"])
    text = answered(capsys, "--tick-cap", "1,0_0", gear_file)
    assert "not exact: no state recurred within 100 ticks" in text
    assert "may lie" in text
    assert "no exact rate was found" in text
    assert "0 to 1.2" in text


def test_text_shows_rate_period_use_reasons_and_bottleneck(
    gear_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = answered(capsys, gear_file).splitlines()
    assert lines[0] == "asm_gear_1in_1out: 12 x 12 tiles, 14 entities"
    assert any(
        line.split() == ["(9,", "8)", "iron-gear-wheel", "15/32", "0.46875"] for line in lines
    )
    period = (
        f"exact; transient {GEAR['transient_ticks']} ticks, period {GEAR['period_ticks']} ticks"
    )
    assert any(line.startswith(period) for line in lines)
    text = "\n".join(lines)
    assert "is limited by the inserter at (5, 6), busy 100 % of the time" in text
    assert "no iron-plate 53 %" in text
    assert "nothing to take 45 %" in text
    assert max(map(len, lines)) <= 132


def test_text_of_many_layouts_has_one_row_for_each_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = answered(capsys, DATA / "cases_public.json")
    rates = sum(len(verify(layout_from_json(case)).rates) for case in CASES)
    assert len(text.splitlines()) == 1 + rates
    assert all(case["name"] in text for case in CASES)


def test_a_layout_without_outputs_is_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for options in ([], ["--json"]):
        monkeypatch.setattr("sys.stdin", io.StringIO('{"name": "[red]no[/red]", "entities": []}'))
        text = answered(capsys, "-", *options)
        assert "[red]no[/red]" in text
        assert "the layout has no output with an item to count" in text


def test_long_tables_are_cut_and_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "many.json"
    entities = [{"k": "inserter", "x": x, "y": y, "d": "N"} for x in range(10) for y in range(10)]
    path.write_text(json.dumps({"entities": entities}))
    text = answered(capsys, path)
    assert "the first 40 of 100; --json gives all" in text
    assert text.count("takes no part") == 40
    assert len(answered_json(capsys, path)["inserters"]) == 100


def gear_blueprint(**second: Any) -> dict[str, Any]:
    """A 1.1 blueprint: belt, arm, gear machine, arm, belt; `second` changes the second belt."""
    entities: list[dict[str, Any]] = [
        {"name": "transport-belt", "position": {"x": x + 0.5, "y": 0.5}, "direction": EAST_1_1}
        for x in range(4)
    ]
    entities[1] |= second
    entities += [
        {"name": "inserter", "position": {"x": 2.5, "y": 1.5}, "direction": 0},
        {
            "name": "assembling-machine-1",
            "position": {"x": 2.5, "y": 3.5},
            "recipe": "iron-gear-wheel",
        },
        {"name": "inserter", "position": {"x": 4.5, "y": 3.5}, "direction": 6},
        {"name": "transport-belt", "position": {"x": 5.5, "y": 3.5}, "direction": EAST_1_1},
    ]
    numbered = [{**one, "entity_number": n} for n, one in enumerate(entities, 1)]
    return {"blueprint": {"item": "blueprint", "entities": numbered, "version": 281479278886912}}


@pytest.mark.parametrize(
    ("name", "rate"), [("beltFac1", "6/7"), ("beltFac2", "6/7"), ("circuitFac2", "2/7")]
)
def test_real_blueprints_have_their_rates_in_every_form(
    name: str,
    rate: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = BLUEPRINTS / f"{name}.json"
    string = encode_text(json.loads(path.read_text()))
    text_file = tmp_path / "blueprint.txt"
    text_file.write_text(string + "\n")
    for argument in (path, text_file, string, "-"):
        monkeypatch.setattr("sys.stdin", io.StringIO(string))
        printed = answered_json(capsys, argument)
        (output,) = printed["rates"]
        assert (output["rate"], printed["exact"]) == (rate, True)
        assert printed["name"] == name
        assert any("(inferred" in sentence for sentence in printed["inferred"])
        assert printed["unsupported"] == []


def test_text_says_what_was_inferred(capsys: pytest.CaptureFixture[str]) -> None:
    text = answered(capsys, BLUEPRINTS / "circuitFac2.json")
    assert "input (0, 0): iron-plate on both lanes (inferred" in text
    assert "output (12, 0): electronic-circuit (inferred)" in text


def test_ports_that_are_given_take_the_place_of_inferred_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    string = encode_text(gear_blueprint())
    near = answered_json(capsys, string, "--input", "0,0=iron-plate,right")
    assert near["rates"][0]["rate"] == "15/32"
    far = answered_json(capsys, string, "--input", "0,0=iron-plate,left")
    assert Fraction(far["rates"][0]["rate"]) < Fraction(15, 32)
    none = answered_json(capsys, string, "--input", "0,0=copper-plate")
    assert none["rates"][0]["rate"] == "0"
    assert "stuck on copper-plate" in none["bottleneck"]
    ended = answered_json(capsys, string, "--output", "5,3=iron-gear-wheel", "--output", "3,0")
    places = {(one["x"], one["y"]): one["item"] for one in ended["rates"]}
    assert places[5, 3] == "iron-gear-wheel"


def test_a_book_needs_an_index_and_counts_from_1(capsys: pytest.CaptureFixture[str]) -> None:
    parts = [gear_blueprint(), json.loads((BLUEPRINTS / "circuitFac2.json").read_text())]
    book = encode_text({"blueprint_book": {"blueprints": parts}})
    printed = answered_json(capsys, book, "--index", "2")
    assert printed["rates"][0]["item"] == "electronic-circuit"
    assert main(["verify", book]) == 2
    assert "--index" in capsys.readouterr().err


def test_what_is_not_simulated_makes_a_rate_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    string = encode_text(gear_blueprint(**SPLITTER))
    printed = answered_json(capsys, string)
    for rate in printed["rates"]:
        assert (rate["rate"], rate["items_per_s"], rate["unknown"]) == (None, None, True)
    assert (printed["transient_ticks"], printed["period_ticks"]) == (None, None)
    assert (printed["machines"], printed["inserters"], printed["change"]) == ([], [], None)
    (left_out,) = printed["unsupported"]
    assert (left_out["name"], left_out["x"], left_out["y"]) == ("splitter", 1, 0)
    text = answered(capsys, string)
    assert "not simulated: splitter at (1, 0)" in text
    row = next(line for line in text.splitlines() if line.startswith("(5, 3)"))
    assert row.split()[-1] == "unknown"
    assert "no output has a known rate" in text


def test_an_unknown_rate_has_no_bounds_either(capsys: pytest.CaptureFixture[str]) -> None:
    string = encode_text(gear_blueprint(**SPLITTER))
    printed = answered_json(capsys, string, "--tick-cap", 5)
    for rate in printed["rates"]:
        figures = {name: rate[name] for name in rate.keys() - {"x", "y", "item", "ticks"}}
        assert figures.pop("unknown") is True
        assert set(figures.values()) == {None}


def test_what_is_known_stays_known_beside_what_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    both = gear_blueprint()
    both["blueprint"]["entities"] += [
        {"name": name, "position": {"x": x, "y": y}, "direction": EAST_1_1}
        for name, x, y in (
            ("transport-belt", 0.5, 8.5),
            ("splitter", 1.5, 9),
            ("transport-belt", 2.5, 8.5),
        )
    ]
    printed = answered_json(capsys, encode_text(both))
    known = {(one["x"], one["y"]): one["rate"] for one in printed["rates"]}
    assert known == {(5, 3): "15/32", (2, 8): None}
    assert printed["bottleneck"].startswith("iron-gear-wheel at (5, 3) is limited by")
    text = answered(capsys, encode_text(both))
    assert "all other figures are exact" in text
    assert "not simulated: splitter at (1, 8)" in text


def test_a_picture_is_written_beside_the_answer(
    gear_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "use.png"
    assert main(["verify", str(gear_file), "--png", str(picture), "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["exact"] is True
    assert printed.err == f"wrote {picture}\n"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_same_is_printed_every_time(capsys: pytest.CaptureFixture[str]) -> None:
    first = answered(capsys, "--json", DATA / "layouts_public.json")
    assert answered(capsys, "--json", DATA / "layouts_public.json") == first


def test_slips_in_a_layout_are_pointed_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entities = [
        {"k": "source", "x": 0, "y": 0, "d": "E", "left": "iron-plte", "right": None},
        {"k": "sink", "x": 1, "y": 0, "d": "E", "item": "iron-plte"},
        {"k": "chest_src", "x": 0, "y": 1},
    ]
    path = tmp_path / "slips.json"
    path.write_text(json.dumps({"entities": entities}))
    notes = answered_json(capsys, path)["notes"]
    assert len(notes) == 3
    assert "did you mean iron-plate?" in notes[0]
    assert "chest_src at (0, 1) gives nothing" in notes[2]
    assert "did you mean iron-plate?" in answered(capsys, path)
