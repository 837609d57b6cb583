"""The committed held-out set: reproducible, verified, held out, refused once changed."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from envs.generate import GENERATOR_VERSION
from envs.heldout import (
    HELDOUT_SETS,
    HeldoutSet,
    TaskSetError,
    generate_heldout,
    heldout_path,
    load_heldout,
    write_heldout,
)
from envs.split import canonical_hash, is_heldout
from envs.task_spec import layout_of
from envs.verifier import score_rate


@pytest.fixture(scope="module")
def quickstart() -> HeldoutSet:
    """The committed quickstart set."""
    return load_heldout("quickstart")


@pytest.fixture(params=sorted(HELDOUT_SETS))
def committed(request: pytest.FixtureRequest) -> HeldoutSet:
    """Each committed set."""
    return load_heldout(request.param)


def test_first_tasks_regenerate_as_committed(committed: HeldoutSet) -> None:
    tasks = generate_heldout(committed.name, 2)
    assert tasks == list(committed.tasks[: len(tasks)])


def test_every_committed_target_is_verified_again(committed: HeldoutSet) -> None:
    for solved in committed.tasks:
        assert score_rate(layout_of(solved.spec, solved.placements)) == solved.spec.target_rate


def test_set_is_balanced_and_every_geometry_is_held_out_once(committed: HeldoutSet) -> None:
    definition = HELDOUT_SETS[committed.name]
    families = Counter(solved.spec.family for solved in committed.tasks)
    assert families == dict.fromkeys(definition.families, definition.per_family)
    assert len(committed.tasks) >= 100
    assert all(is_heldout(solved.spec) for solved in committed.tasks)
    geometries = {canonical_hash(solved.spec) for solved in committed.tasks}
    assert len(geometries) == len(committed.tasks)
    assert all(len(solved.spec.blocked) <= definition.max_blocked for solved in committed.tasks)


def test_manifest_says_how_the_file_was_made(committed: HeldoutSet) -> None:
    definition = HELDOUT_SETS[committed.name]
    manifest = json.loads(heldout_path(committed.name).read_text())["manifest"]
    assert manifest == {
        "name": committed.name,
        "generator_version": GENERATOR_VERSION,
        "rules_version": "fv-1",
        "count": definition.per_family * len(definition.families),
        "families": list(definition.families),
        "sha256": committed.sha256,
    }


def test_written_file_is_the_committed_one(quickstart: HeldoutSet, tmp_path: Path) -> None:
    path = tmp_path / "copy.json"
    write_heldout("quickstart", quickstart.tasks, path)
    assert path.read_bytes() == heldout_path("quickstart").read_bytes()
    assert load_heldout("quickstart", path) == quickstart


def test_changed_target_is_refused(quickstart: HeldoutSet, tmp_path: Path) -> None:
    path = tmp_path / "changed.json"
    content = json.loads(heldout_path("quickstart").read_text())
    content["tasks"][5]["spec"]["target_rate"] = "1/100"
    path.write_text(json.dumps(content))
    with pytest.raises(TaskSetError) as caught:
        load_heldout("quickstart", path)
    message = str(caught.value)
    assert quickstart.sha256 in message
    assert "envs.heldout build quickstart" in message


def test_set_rewritten_with_a_matching_manifest_is_refused(
    quickstart: HeldoutSet, tmp_path: Path
) -> None:
    path = tmp_path / "shorter.json"
    write_heldout("quickstart", quickstart.tasks[:-1], path)
    with pytest.raises(TaskSetError, match="differs"):
        load_heldout("quickstart", path)


def test_other_rules_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    path.write_text(heldout_path("quickstart").read_text().replace('"fv-1"', '"fv-2"'))
    with pytest.raises(TaskSetError, match="fv-2"):
        load_heldout("quickstart", path)


@pytest.mark.parametrize("content", [None, "", "[]", '{"manifest": {}}', '{"manifest": 3}'])
def test_missing_or_broken_file_is_refused(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(TaskSetError, match=r"broken\.json"):
        load_heldout("quickstart", path)


def test_truncated_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "truncated.json"
    shutil.copy(heldout_path("quickstart"), path)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(TaskSetError, match="no held-out set"):
        load_heldout("quickstart", path)


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(TaskSetError, match="known are quickstart, one-machine-12x12"):
        load_heldout("nosuch")
