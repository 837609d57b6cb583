"""What a design goes on from: layouts and blueprints on a task's grid, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_setup import SOLVED

from envs.blueprint.exporting import export_blueprint
from envs.layout import EAST, WEST, Entity, Layout
from envs.layout_json import layout_to_json
from envs.task_spec import Port, TaskSpec, layout_of
from factorio_rl.design_start import StartError, read_start

TASK = SOLVED[0]
SPEC = TASK.spec
PIECES = TASK.placements[:3]
LAYOUT = layout_of(SPEC, PIECES)


def saved(folder: Path, layout: Layout) -> str:
    path = folder / "start.json"
    path.write_text(json.dumps(layout_to_json(layout)))
    return str(path)


def refusal(folder: Path, *entities: Entity, spec: TaskSpec = SPEC) -> str:
    layout = Layout(9, 9, (*LAYOUT.entities, *entities))
    with pytest.raises(StartError) as caught:
        read_start(saved(folder, layout), spec, None)
    return str(caught.value)


def test_a_layout_gives_its_pieces_without_the_ports(tmp_path: Path) -> None:
    start = read_start(saved(tmp_path, LAYOUT), SPEC, None)
    assert start.placements == PIECES
    assert start.notes == ()


@pytest.mark.parametrize("game", ["2.0", "1.1"])
def test_a_blueprint_with_the_ports_finds_its_place(game: str) -> None:
    start = read_start(export_blueprint(LAYOUT, game).text, SPEC, None)
    assert sorted(map(repr, start.placements)) == sorted(map(repr, PIECES))
    assert any("pole" in note or "substation" in note for note in start.notes)
    assert "the start's top left is at (0, 0)" in start.notes


def test_a_blueprint_without_ports_needs_its_place() -> None:
    inserter = PIECES[1]
    alone = Layout(1, 1, (Entity("inserter", 0, 0, inserter.rotation),))
    text = export_blueprint(alone).text
    with pytest.raises(StartError, match=r"fits at \d+ places.*--start-at"):
        read_start(text, SPEC, None)
    assert read_start(text, SPEC, (2, 2)).placements == (inserter,)


def test_a_blueprint_that_fits_nowhere_is_refused_with_reasons() -> None:
    wide = Layout(8, 1, tuple(Entity("belt", x, 0, EAST) for x in range(8)))
    with pytest.raises(StartError, match="fits nowhere") as caught:
        read_start(export_blueprint(wide).text, SPEC, None)
    assert "belt at (7, 0) leaves the grid of 7 x 7 cells" in str(caught.value)


@pytest.mark.parametrize(
    ("entity", "reason"),
    [
        (Entity("belt", 8, 0, EAST), "belt at (8, 0) leaves the grid of 7 x 7 cells"),
        (Entity("belt", 1, 2, EAST), "belt at (1, 2) stands on a blocked cell"),
        (Entity("inserter", 0, 6, WEST), "inserter at (0, 6) reaches out of the grid"),
        (Entity("inserter", 6, 1, WEST, prototype="fast-inserter"), "nothing that a design uses"),
        (Entity("chest_src", 6, 1), "wooden-chest at (6, 1) is nothing that a design uses"),
        (Entity("source", 6, 6, WEST, left="pipe"), "source at (6, 6) is no source of the task"),
    ],
)
def test_what_cannot_stand_there_is_refused(tmp_path: Path, entity: Entity, reason: str) -> None:
    assert reason in refusal(tmp_path, entity)


def test_another_recipe_and_all_other_reasons_are_named_at_once(tmp_path: Path) -> None:
    other = replace(SPEC, recipes=("iron-stick",), target_item="pipe")
    message = refusal(tmp_path, Entity("belt", 8, 0, EAST), spec=other)
    assert "has the recipe pipe; the task's are iron-stick" in message
    assert "leaves the grid" in message


def test_a_piece_on_a_port_is_refused_unless_it_is_the_port(tmp_path: Path) -> None:
    moved = replace(SPEC, ports=(replace(SPEC.ports[0], x=2, y=1), SPEC.ports[1]))
    assert "belt at (2, 0)" not in refusal(tmp_path, spec=moved)
    turned = Port(2, 1, EAST, False, "iron-plate", None)
    message = refusal(tmp_path, spec=replace(SPEC, ports=(turned, SPEC.ports[1])))
    assert "belt at (2, 1) stands on the source at (2, 1) to E" in message


def test_more_pieces_than_the_limit_leaves_room_for_are_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, spec=replace(SPEC, placement_limit=3))
    assert "it has 3 pieces, and the task's placement_limit is 3" in message


def test_a_layout_is_not_moved(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="--start-at is for blueprints"):
        read_start(saved(tmp_path, LAYOUT), SPEC, (1, 0))


def test_a_list_of_layouts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.json"
    path.write_text(json.dumps([layout_to_json(LAYOUT)]))
    with pytest.raises(StartError, match="list of 1 layouts; give one"):
        read_start(str(path), SPEC, None)
