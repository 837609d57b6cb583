"""The run directory: made, taken up again, or refused without a trace."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from factorio_rl import __version__
from factorio_rl.config import Config
from factorio_rl.config_file import load_config
from factorio_rl.initial_params import require_same_network
from factorio_rl.run_directory import RunDirectory, RunDirectoryError, task_identity

IDENTITY = task_identity("rules-1", "1", "heldout-hash", "pool-hash")


def changed(config: Config, section: str, **fields: Any) -> Config:
    part = getattr(config, section).model_copy(update=fields)
    return config.model_copy(update={section: part})


def contents(path: Path) -> dict[str, bytes | None]:
    return {
        str(entry.relative_to(path)): entry.read_bytes() if entry.is_file() else None
        for entry in path.rglob("*")
    }


@pytest.fixture
def directory(tmp_path: Path, config: Config) -> RunDirectory:
    """A directory with a run in it."""
    made = RunDirectory(tmp_path / "runs" / "tiny")
    made.open(config, IDENTITY)
    return made


@pytest.mark.parametrize("exists", [False, True])
def test_new_or_empty_directory_is_taken(tmp_path: Path, config: Config, exists: bool) -> None:
    path = tmp_path / "new" / "run"
    if exists:
        path.mkdir(parents=True)
    directory = RunDirectory(path)
    assert directory.saved_config() is None
    assert directory.open(config, IDENTITY) == []
    assert load_config(path / "config.yaml") == config
    assert json.loads((path / "identity.json").read_text()) == IDENTITY
    assert directory.evaluations.is_dir()
    assert directory.layouts.is_dir()


def test_same_settings_go_on_in_the_same_directory(directory: RunDirectory, config: Config) -> None:
    (directory.path / "metrics.jsonl").write_text("{}\n")
    before = contents(directory.path)
    assert directory.require_config() == config
    assert directory.open(config, IDENTITY) == []
    assert contents(directory.path) == before


@pytest.mark.parametrize(
    ("section", "fields"),
    [
        ("network", {"channels": 16}),
        ("network", {"blocks": 2}),
        ("network", {"value_bins": 21}),
        ("env", {"placement_limit": 11}),
        ("env", {"growth_rule": False}),
        ("tasks", {"num_tasks": 5}),
        ("tasks", {"families": ("pipe",)}),
        ("tasks", {"heldout": "other"}),
    ],
)
def test_other_architecture_environment_or_task_set_is_refused(
    directory: RunDirectory, config: Config, section: str, fields: dict[str, Any]
) -> None:
    other = changed(config, section, **fields)
    before = contents(directory.path)
    (name,) = fields
    for refuse in (lambda: directory.check(other), lambda: directory.open(other, IDENTITY)):
        with pytest.raises(RunDirectoryError) as caught:
            refuse()
        assert f"{section}.{name}" in str(caught.value)
        assert "--run-dir" in str(caught.value)
    assert contents(directory.path) == before


@pytest.mark.parametrize(
    "name", ["rules_version", "generator_version", "heldout_sha256", "pool_sha256"]
)
def test_other_tasks_under_the_same_settings_are_refused(
    directory: RunDirectory, config: Config, name: str
) -> None:
    before = contents(directory.path)
    with pytest.raises(RunDirectoryError, match=f"{name}: {IDENTITY[name]} .* other now"):
        directory.open(config, {**IDENTITY, name: "other"})
    assert contents(directory.path) == before


def test_newer_package_goes_on_with_the_same_tasks(directory: RunDirectory, config: Config) -> None:
    assert IDENTITY["package_version"] == __version__
    assert directory.open(config, {**IDENTITY, "package_version": "99"}) == []


def test_changed_tunables_are_reported_and_saved(directory: RunDirectory, config: Config) -> None:
    other = changed(config, "learner", learning_rate=0.5)
    other = changed(other, "network", compute_dtype="bfloat16")
    differences = directory.open(other, IDENTITY)
    assert sorted(line.partition(":")[0] for line in differences) == [
        "learner.learning_rate",
        "network.compute_dtype",
    ]
    assert any("0.01" in line and "0.5" in line for line in differences)
    assert directory.saved_config() == other
    assert directory.open(other, IDENTITY) == []


def test_directory_with_files_of_something_else_is_refused(tmp_path: Path, config: Config) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    before = contents(tmp_path)
    for refuse in (
        RunDirectory(tmp_path).check,
        lambda c: RunDirectory(tmp_path).open(c, IDENTITY),
    ):
        with pytest.raises(RunDirectoryError, match=r"not empty and has no config.yaml"):
            refuse(config)
    assert contents(tmp_path) == before


def test_file_is_refused(tmp_path: Path, config: Config) -> None:
    path = tmp_path / "run"
    path.write_text("a file")
    with pytest.raises(RunDirectoryError, match="is a file"):
        RunDirectory(path).open(config, IDENTITY)
    assert path.read_text() == "a file"


def test_directory_without_a_run_has_no_config(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="no run directory"):
        RunDirectory(tmp_path).require_config()


def test_run_without_its_record_of_tasks_is_refused(
    directory: RunDirectory, config: Config
) -> None:
    (directory.path / "identity.json").unlink()
    with pytest.raises(RunDirectoryError, match="which says what tasks the run has"):
        directory.open(config, IDENTITY)


def test_checkpoints_of_another_version_are_refused_in_words(
    directory: RunDirectory, config: Config
) -> None:
    directory.require_state_version()
    file = directory.path / "identity.json"
    old = {name: value for name, value in IDENTITY.items() if name != "state_version"}
    file.write_text(json.dumps(old))
    words = "of another version of this program \\(state 1, this one reads 4\\)"
    for use in (
        directory.require_state_version,
        lambda: directory.open(config, IDENTITY),
        lambda: require_same_network(directory.path, config),
    ):
        with pytest.raises(RunDirectoryError, match=words):
            use()


def test_a_directory_left_by_a_start_that_failed_is_taken(config: Config, tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "run")
    with directory.lock():
        pass
    directory.check(config)


@pytest.mark.parametrize("text", ["{", "[]", "3"])
def test_damaged_record_of_tasks_is_refused(config: Config, tmp_path: Path, text: str) -> None:
    directory = RunDirectory(tmp_path / "run")
    directory.open(config, {"rules_version": "fv-1"})
    (directory.path / "identity.json").write_text(text)
    with pytest.raises(RunDirectoryError):
        directory.open(config, {"rules_version": "fv-1"})


@pytest.mark.parametrize("name", ["metrics.jsonl", "config.yaml", "identity.json", "lock"])
def test_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(
    directory: RunDirectory, config: Config, name: str
) -> None:
    (directory.path / name).unlink(missing_ok=True)
    os.mkfifo(directory.path / name)
    with pytest.raises(RunDirectoryError, match="is no regular file"):
        directory.check(config)


@pytest.mark.parametrize("name", ["checkpoints", "eval", "layouts"])
def test_file_in_the_place_of_a_folder_is_refused(
    directory: RunDirectory, config: Config, name: str
) -> None:
    folder = directory.path / name
    if folder.exists():
        folder.rmdir()
    folder.write_text("a file")
    with pytest.raises(RunDirectoryError, match="is no folder"):
        directory.check(config)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("chunk-000004.json", True), ("chunk-000000.json", False), ("untrained.json", False)],
)
def test_reports_of_chunks_bear_witness_of_progress(
    directory: RunDirectory, name: str, expected: bool
) -> None:
    assert not directory.has_progress()
    (directory.evaluations / name).write_text("{}")
    assert directory.has_progress() is expected


@pytest.mark.parametrize("name", ["metrics.jsonl", "last_save.json", "lock"])
def test_link_in_the_place_of_a_file_is_refused_and_not_written_through(
    directory: RunDirectory, config: Config, name: str
) -> None:
    (directory.path / name).unlink(missing_ok=True)
    (directory.path / name).symlink_to(directory.path / "identity.json")
    with pytest.raises(RunDirectoryError, match="is no regular file"):
        directory.check(config)


def test_name_that_checkpoints_cannot_be_written_under_is_refused(
    config: Config, tmp_path: Path
) -> None:
    with pytest.raises(RunDirectoryError, match="is not UTF-8"):
        RunDirectory(tmp_path / os.fsdecode(b"bad\xff")).check(config)
