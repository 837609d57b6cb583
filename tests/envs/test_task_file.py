"""Task files: YAML and JSON, one task or many, and what a file of another form is told."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
import yaml
from task_examples import GEARS, SINK, SOURCE

from envs import task_file
from envs.heldout import heldout_path
from envs.layout import EAST
from envs.solved import solved_from_json
from envs.task_file import TaskFileError, read_entries, read_task_file
from envs.task_problems import problems
from envs.task_spec import Port

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "task.yaml"


def written(tmp_path: Path, content: object, name: str = "task.yaml") -> Path:
    path = tmp_path / name
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def test_the_example_of_the_documentation_is_a_sound_task() -> None:
    (spec,) = read_task_file(EXAMPLE)
    assert problems(spec) == []
    assert spec.target_rate == Fraction(15, 16)
    assert spec.blocked == ((5, 0), (5, 1), (6, 11))
    assert spec.ports == (
        Port(0, 5, EAST, False, "iron-plate", "iron-plate"),
        Port(11, 8, EAST, True, "iron-gear-wheel", "iron-gear-wheel"),
    )


@pytest.mark.parametrize("name", ["task.yaml", "task.json"])
def test_one_task_and_a_list_and_tasks_by_key_are_read(tmp_path: Path, name: str) -> None:
    (alone,) = read_task_file(written(tmp_path, GEARS, name))
    assert read_task_file(written(tmp_path, [GEARS, GEARS], name)) == [alone, alone]
    assert read_task_file(written(tmp_path, {"tasks": [GEARS]}, name)) == [alone]
    assert read_task_file(written(tmp_path, yaml.safe_dump(GEARS))) == [alone]


def test_held_out_files_are_read_with_their_references() -> None:
    path = heldout_path("quickstart")
    expected = [solved_from_json(entry) for entry in json.loads(path.read_text())["tasks"]]
    entries = read_entries(path)
    assert [entry.spec for entry in entries] == [solved.spec for solved in expected]
    assert [entry.placements for entry in entries] == [solved.placements for solved in expected]


def test_tasks_are_called_by_their_name_or_number(tmp_path: Path) -> None:
    entries = read_entries(written(tmp_path, [{**GEARS, "name": "mine"}, GEARS]))
    assert [entry.name for entry in entries] == ["mine", "1"]


def test_faults_of_all_tasks_are_told_at_once(tmp_path: Path) -> None:
    tasks = [{**GEARS, "widht": 9}, GEARS, {**GEARS, "name": "b", "ports": 3, "target_rate": "x"}]
    with pytest.raises(TaskFileError) as caught:
        read_task_file(written(tmp_path, tasks))
    lines = str(caught.value).splitlines()
    assert len(lines) == 4
    assert lines[1].strip() == "task 0: widht is no key; did you mean width?"
    assert lines[2].strip() == "task b: ports: got 3; give a list of ports"
    assert lines[3].strip().startswith("task b: target_rate: got 'x'; give items per second")


def test_an_unknown_key_does_not_hide_the_task(tmp_path: Path) -> None:
    (entry,) = read_entries(written(tmp_path, {**GEARS, "widht": 9}))
    assert entry.faults
    assert entry.spec is not None


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "ports: [\nrecipes", "is no YAML: "),
        ("a.yaml", "width: 3\nwidth: 4", "stands twice, in lines 1 and 2"),
        ("a.json", '{"a": 1,\n}', r"is no JSON: .*line 2, column 1"),
        ("a.json", '{"a": 1, "a": 2}', "the key 'a' stands twice"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.yaml", "", "got None; give a task"),
        ("a.yaml", "[]", "got 0 tasks; give a task"),
        ("a.yaml", "text", "got 'text'; give a task"),
        ("a.yaml", "tasks: 3", "got 3; give a task"),
        ("a.yaml", "{tasks: [], other: 1}", "got 'other' beside tasks"),
    ],
)
def test_files_that_are_no_tasks_are_refused(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    with pytest.raises(TaskFileError, match=message):
        read_task_file(written(tmp_path, text, name))


def test_yaml_errors_name_the_line(tmp_path: Path) -> None:
    with pytest.raises(TaskFileError, match="line 2"):
        read_task_file(written(tmp_path, "width: 12\nheight: ]"))


def test_files_that_cannot_be_read_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TaskFileError, match=r"cannot be read \(No such file"):
        read_task_file(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9")
    with pytest.raises(TaskFileError, match="is not UTF-8 text"):
        read_task_file(tmp_path / "latin.yaml")
    monkeypatch.setattr(task_file, "MAX_BYTES", 10)
    with pytest.raises(TaskFileError, match="has more than 10 bytes"):
        read_task_file(written(tmp_path, GEARS))


def test_a_list_holds_tasks_only(tmp_path: Path) -> None:
    with pytest.raises(TaskFileError, match="task 1: got 7; a task is keys with values"):
        read_task_file(written(tmp_path, [{**GEARS, "ports": [SOURCE, SINK]}, 7]))


@pytest.mark.parametrize("rows", [7, [[0, 1]], [[0, 0, 0, 0]], [[1, 20, 0, 0]], [[0, 5, 5, 1]]])
def test_references_that_are_none_are_refused(tmp_path: Path, rows: object) -> None:
    solved = {"spec": GEARS, "placements": rows}
    with pytest.raises(TaskFileError, match=r"placements: give rows of \[kind, x, y, rotation\]"):
        read_task_file(written(tmp_path, {"tasks": [solved]}))
