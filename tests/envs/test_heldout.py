"""The committed held-out sets: reproducible, verified, held out, refused once changed."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest
from reference_checks import (
    illegal_placements,
    unfed_placements,
    without_machine,
    wrong_structure,
)

from envs import pool_generation
from envs.families import FAMILIES
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
from envs.solved import difficulty
from envs.split import canonical_hash, in_heldout_stratum, is_heldout
from envs.task_spec import INSERTER, MACHINE, layout_of
from envs.verifier import score_rate


@pytest.fixture(scope="module")
def quickstart() -> HeldoutSet:
    """The committed quickstart set."""
    return load_heldout("quickstart")


@pytest.fixture(params=sorted(HELDOUT_SETS), scope="module")
def committed(request: pytest.FixtureRequest) -> HeldoutSet:
    """Each committed set."""
    return load_heldout(request.param)


def test_first_tasks_of_every_family_regenerate_as_committed(
    committed: HeldoutSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small jobs make few tasks more than are asked for, and the same ones.
    monkeypatch.setattr(pool_generation, "CANDIDATES_PER_JOB", 2)
    count = 2 * len(HELDOUT_SETS[committed.name].families)
    assert generate_heldout(committed.name, count) == list(committed.tasks[:count])


def test_every_committed_target_is_verified_again(committed: HeldoutSet) -> None:
    for solved in committed.tasks:
        assert solved.spec.target_rate > 0
        assert score_rate(layout_of(solved.spec, solved.placements)) == solved.spec.target_rate


def test_every_committed_reference_can_be_built_in_its_order(committed: HeldoutSet) -> None:
    for solved in committed.tasks:
        assert illegal_placements(solved.spec, solved.placements) == []
        assert unfed_placements(solved.spec, solved.placements) == []


def test_every_committed_task_is_what_its_family_says(committed: HeldoutSet) -> None:
    definition = HELDOUT_SETS[committed.name]
    for solved in committed.tasks:
        spec = solved.spec
        assert wrong_structure(solved) == []
        assert (spec.width, spec.height) == (definition.width, definition.height)
        family_limit = FAMILIES[spec.family].placement_limit
        assert spec.placement_limit == min(family_limit, definition.placement_limit)
        assert definition.min_blocked <= len(spec.blocked) <= definition.max_blocked


def test_no_committed_reference_holds_a_useless_inserter(committed: HeldoutSet) -> None:
    useless = []
    for number, solved in enumerate(committed.tasks):
        for put in solved.placements:
            if put.kind == INSERTER:
                rest = [other for other in solved.placements if other != put]
                rate = score_rate(layout_of(solved.spec, rest))
                if rate is None or rate >= solved.spec.target_rate:
                    useless.append((number, solved.spec.family, put))
    assert useless == []


def test_every_machine_of_a_committed_stage_is_needed(committed: HeldoutSet) -> None:
    for solved in committed.tasks:
        machines = [put for put in solved.placements if put.kind == MACHINE]
        if len(machines) == len(solved.spec.recipes):
            continue
        for machine in machines:
            rest = without_machine(solved.placements, machine)
            rate = score_rate(layout_of(solved.spec, rest))
            assert rate is not None
            assert rate < solved.spec.target_rate


def test_set_is_balanced_and_every_geometry_is_held_out_once(committed: HeldoutSet) -> None:
    definition = HELDOUT_SETS[committed.name]
    families = [solved.spec.family for solved in committed.tasks]
    in_turn = definition.families * len(families)
    assert families == list(in_turn[: definition.count])
    assert definition.count % len(definition.families) == 0
    assert all(is_heldout(solved.spec) for solved in committed.tasks)
    geometries = {canonical_hash(solved.spec) for solved in committed.tasks}
    assert len(geometries) == len(committed.tasks)


def test_the_main_set_holds_at_least_512_tasks_over_all_families() -> None:
    tasks = load_heldout("heldout-v1").tasks
    assert len(tasks) >= 512
    assert {solved.spec.family for solved in tasks} == set(FAMILIES)
    assert {(solved.spec.width, solved.spec.height) for solved in tasks} == {(12, 12)}


def test_the_hard_set_holds_deep_chains_among_obstacles() -> None:
    tasks = load_heldout("heldout-hard-v1").tasks
    assert {difficulty(solved).depth for solved in tasks} == {2, 3}
    assert min(len(solved.spec.blocked) for solved in tasks) >= 6
    assert {(solved.spec.width, solved.spec.height) for solved in tasks} == {(12, 12)}


def test_sets_share_no_geometry() -> None:
    geometries = [
        {canonical_hash(solved.spec) for solved in load_heldout(name).tasks}
        for name in HELDOUT_SETS
    ]
    assert sum(map(len, geometries)) == len(set[str]().union(*geometries))


def test_manifest_says_how_the_file_was_made(committed: HeldoutSet) -> None:
    definition = HELDOUT_SETS[committed.name]
    manifest = json.loads(heldout_path(committed.name).read_text())["manifest"]
    per_family = definition.count // len(definition.families)
    assert manifest == {
        "name": committed.name,
        "generator_version": GENERATOR_VERSION,
        "rules_version": "fv-1",
        "count": definition.count,
        "families": dict.fromkeys(definition.families, per_family),
        "in_heldout_strata": sum(in_heldout_stratum(solved.spec) for solved in committed.tasks),
        "sha256": committed.sha256,
    }
    assert manifest["count"] == len(committed.tasks)
    assert committed.sha256 == definition.sha256


def test_figures_of_difficulty_are_stored(committed: HeldoutSet) -> None:
    entries = json.loads(heldout_path(committed.name).read_text())["tasks"]
    stored = [entry["difficulty"] for entry in entries]
    assert stored == [asdict(difficulty(solved)) for solved in committed.tasks]


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
    with pytest.raises(TaskSetError, match="known are quickstart, heldout-v1, heldout-hard-v1"):
        load_heldout("nosuch")
