"""The page of a design shows what stands when, what everything does, and strings to paste."""

import json
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from page_reader import Page, read_page

from envs.blueprint.exporting import export_blueprint
from envs.blueprint.power import plan_power
from envs.blueprint.text import decode_text
from envs.heldout import load_heldout
from envs.layout_input import Loaded
from envs.task_spec import layout_of
from envs.turns import belts_by_tile, turn_of
from factorio_rl.design_answer import DesignAnswer
from factorio_rl.design_page import design_page
from factorio_rl.design_page_plan import plan_svg
from factorio_rl.design_page_steps import build_steps
from factorio_rl.verify_answer import answer


@pytest.fixture(scope="module")
def design() -> DesignAnswer:
    """A reference of the quickstart set that has turns."""
    task = max(load_heldout("quickstart").tasks[:16], key=lambda one: len(one.placements))
    layout = layout_of(task.spec, task.placements)
    return DesignAnswer(
        name="mine",
        spec=task.spec,
        placements=tuple(task.placements),
        target_is_bound=False,
        report=answer(Loaded("mine", layout), 100_000),
        blueprints={game: export_blueprint(layout, game).text for game in ("2.0", "1.1")},
        attempts=37,
        seconds=4.0,
        agent="an agent",
        reached=True,
        limited_by="It is the target.",
    )


def read(design: DesignAnswer) -> Page:
    return read_page(design_page(design))


def data_of(page: Page, anchor: str) -> object:
    (place,) = [
        number
        for number, (_, attributes) in enumerate(one for one in page.tags if one[0] == "script")
        if attributes.get("id") == anchor
    ]
    return json.loads(page.scripts[place])


def test_the_script_gets_one_step_an_entity_in_build_order(design: DesignAnswer) -> None:
    steps = data_of(read(design), "steps")
    layout = layout_of(design.spec, design.placements)
    poles = plan_power(layout).poles
    assert isinstance(steps, list)
    assert len(steps) == len(design.placements) + len(poles)
    places = [(step["x"], step["y"]) for step in steps[: len(design.placements)]]
    assert places == [(one.x, one.y) for one in layout.entities[len(design.spec.ports) :]]


def test_steps_say_what_is_put_where_and_how(design: DesignAnswer) -> None:
    words = [step.text for step in build_steps(design.spec, design.placements, ())]
    assert any(re.fullmatch(r"transport-belt at \(\d+, \d+\) facing \w+", one) for one in words)
    arm = r"inserter at \((\d+), (\d+)\), moves east: from \((\d+), (\d+)\) to \((\d+), (\d+)\)"
    arms = [found for one in words if (found := re.fullmatch(arm, one))]
    for found in arms:
        x, y, pick_x, pick_y, drop_x, drop_y = map(int, found.groups())
        assert (pick_x, drop_x, pick_y, drop_y) == (x - 1, x + 1, y, y)
    machine = r"assembling-machine-1 at \(\d+, \d+\) to \(\d+, \d+\), set to [\w-]+"
    assert any(re.fullmatch(machine, one) for one in words)


def seen_at(svg: str, step: int) -> list[str]:
    """The pieces of a plan that are seen at a step."""
    pieces = re.findall(r'<g data-from="(\d+)" data-to="(\d+)"[^>]*>(.*?)</g>', svg)
    return [body for first, last, body in pieces if int(first) <= step <= int(last)]


def test_each_step_shows_the_plan_of_what_stands_then(design: DesignAnswer) -> None:
    power = plan_power(layout_of(design.spec, design.placements))
    svg = plan_svg(design.spec, design.placements, power)
    for step in range(len(design.placements) + 1):
        bare = replace(power, poles=(), wires=())
        alone = plan_svg(design.spec, design.placements[:step], bare)
        assert Counter(seen_at(svg, step)) == Counter(seen_at(alone, step)), step


def test_a_belt_becomes_a_turn_when_its_feeder_stands(design: DesignAnswer) -> None:
    end = layout_of(design.spec, design.placements)
    belts = belts_by_tile(end)
    turned = [tile for tile, belt in belts.items() if belt.kind == "belt" and turn_of(belt, belts)]
    assert turned
    backwards = tuple(reversed(design.placements))  # belts before what feeds them
    svg = plan_svg(design.spec, backwards, replace(plan_power(end), poles=(), wires=()))
    spans = re.findall(r'data-from="(\d+)" data-to="(\d+)"', svg)
    assert any(int(last) < len(backwards) for _, last in spans)


def test_without_a_script_the_finished_design_is_seen(design: DesignAnswer) -> None:
    svg = plan_svg(design.spec, design.placements, plan_power(design.report.loaded.layout))
    end = len(
        build_steps(design.spec, design.placements, plan_power(design.report.loaded.layout).poles)
    )
    shown = re.findall(r'<g data-from="\d+" data-to="\d+">(.*?)</g>', svg)
    assert shown == seen_at(svg, end)


def test_every_machine_and_inserter_has_its_row(design: DesignAnswer) -> None:
    rows = [attributes for tag, attributes in read(design).tags if tag == "tr"]
    places = {(int(row["data-x"] or 0), int(row["data-y"] or 0)) for row in rows if "data-x" in row}
    diagnosis = design.report.diagnosis
    assert {(one.x, one.y) for one in (*diagnosis.machines, *diagnosis.inserters)} <= places
    assert {(port.x, port.y) for port in design.spec.ports} <= places


def test_materials_are_those_of_the_blueprint(design: DesignAnswer) -> None:
    page = read(design)
    entities = decode_text(design.blueprints["2.0"])["blueprint"]["entities"]
    cells = page.cells[-1 - page.cells[::-1].index("Materials") :]  # the first is a link to it
    for name, count in Counter(one["name"] for one in entities).items():
        assert cells[cells.index(name) + 1] == str(count)


def test_both_strings_can_be_copied(design: DesignAnswer) -> None:
    page = read(design)
    assert set(design.blueprints.values()) <= set(page.cells)
    boxes = {attributes.get("id") for tag, attributes in page.tags if tag == "textarea"}
    copied = {attributes["data-copy"] for _, attributes in page.tags if "data-copy" in attributes}
    assert boxes == copied
    assert len(boxes) == 2


def test_the_head_says_what_was_asked_and_reached(design: DesignAnswer) -> None:
    text = read(design).text
    assert f"exactly {design.spec.target_rate} items/s" in text
    assert "which is reached" in text
    assert "37" in text
    asked = replace(design.spec, target_rate=2 * design.spec.target_rate)
    missed = read(replace(design, spec=asked, reached=False, limited_by="Iron is short.")).text
    assert "which is not reached" in missed
    assert "50.0 %" in missed
    assert "Iron is short." in missed
    assert "no rate was asked for" in read(replace(design, target_is_bound=True)).text


def test_a_design_that_delivers_nothing_has_a_page_too(design: DesignAnswer) -> None:
    layout = layout_of(design.spec, design.placements[:3])
    poor = replace(
        design,
        placements=design.placements[:3],
        report=answer(Loaded("mine", layout), 100_000),
        blueprints={"2.0": export_blueprint(layout).text},
        reached=False,
    )
    assert poor.rate == Fraction(0)
    assert "not reached" in read(poor).text


def test_hostile_names_stay_text(design: DesignAnswer) -> None:
    bad = "<img src=x onerror=alert(1)>\"'</script>"
    page = read(replace(design, name=bad, agent=bad, limited_by=bad, blueprints={bad: bad}))
    assert all("onerror" not in attributes for _, attributes in page.tags)
    assert page.text.count("<img src=x") == 5
