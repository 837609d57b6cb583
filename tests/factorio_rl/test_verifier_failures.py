"""Layouts without an exact rate: files that reproduce them, few of them, and few warnings."""

import errno
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_setup import SOLVED

from envs.layout import LayoutError
from envs.task_spec import BELT, Placement, layout_of
from envs.verifier import score_rate
from factorio_rl import scoring, verifier_failures
from factorio_rl.cli import main
from factorio_rl.scoring import Scorer
from factorio_rl.verifier_failures import FailureLog

SPEC, PLACEMENTS = SOLVED[0].spec, SOLVED[0].placements
ODD = RuntimeError("odd\n  numba")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "verifier_failures"


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def log(folder: Path, warnings: list[str]) -> FailureLog:
    return FailureLog(folder, warnings.append)


def written(folder: Path) -> dict[Path, Any]:
    """The content of every file by its path; there is nothing but these."""
    return {path: json.loads(path.read_text()) for path in sorted(folder.iterdir())}


def variant(number: int) -> Sequence[Placement]:
    """A layout for each number: the first placements, in any way that bits tell."""
    return [put for at, put in enumerate(PLACEMENTS) if number >> at & 1]


def verified(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    """What the command `verify` answers."""
    capsys.readouterr()
    assert main(["verify", "--json", *map(str, arguments)]) == 0
    return json.loads(capsys.readouterr().out)


def test_file_reproduces_the_layout_and_says_what_was_wrong(
    log: FailureLog, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.record(SPEC, PLACEMENTS, ODD)
    ((path, content),) = written(folder).items()
    (rate,) = verified(capsys, path)["rates"]
    assert Fraction(rate["rate"]) == SPEC.target_rate
    assert {name: content[name] for name in ("kind", "reason", "rules", "family")} == {
        "kind": "RuntimeError",
        "reason": "RuntimeError: odd numba",
        "rules": "fv-1",
        "family": "pipes",
    }


def test_layout_above_the_tick_cap_is_reproduced(
    log: FailureLog,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scoring, "score_rate", partial(score_rate, tick_cap=50))
    scorer = Scorer([SPEC], 1, log)
    entity, rotation = np.zeros((2, 7, 7), np.uint8)
    for put in PLACEMENTS:
        entity[put.y, put.x], rotation[put.y, put.x] = put.kind + 1, put.rotation
    (outcome,) = scorer.score_boards([(entity, rotation)])
    scorer.close()
    assert (outcome.rate, outcome.failed) == (None, False)
    ((path, content),) = written(folder).items()
    assert content["kind"] == "NotExact"
    assert not verified(capsys, "--tick-cap", "50", path)["exact"]
    assert verified(capsys, path)["exact"]


def test_invalid_layout_is_refused_by_the_command_for_the_same_reason(
    log: FailureLog, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    placements = [*PLACEMENTS, Placement(BELT, 2, 0, 1)]  # on the source
    with pytest.raises(LayoutError) as refused:
        score_rate(layout_of(SPEC, placements))
    log.record(SPEC, placements, refused.value)
    (path,) = written(folder)
    assert main(["verify", str(path)]) == 2
    assert str(refused.value) in capsys.readouterr().err


def test_placements_that_are_no_layout_are_kept_as_they_are(
    log: FailureLog, folder: Path, warnings: list[str]
) -> None:
    log.record(SPEC, [Placement(BELT, 3, 3, 200)], IndexError("200"))
    (content,) = written(folder).values()
    assert content["placements"] == [[BELT, 3, 3, 200]]
    assert content["task"]["family"] == "pipes"
    assert "entities" not in content
    assert len(warnings) == 1


def test_a_resumed_run_writes_the_same_file(folder: Path, warnings: list[str]) -> None:
    contents = []
    for _ in range(2):
        log = FailureLog(folder, warnings.append)
        log.record(SPEC, PLACEMENTS, ODD)
        log.record(SPEC, list(PLACEMENTS), ODD)
        contents.append(written(folder))
    assert contents[0] == contents[1]
    assert len(contents[0]) == 1


def test_files_are_bounded_over_all_starts_of_a_run(
    folder: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifier_failures, "MAX_FILES", 3)
    for start in range(2):
        log = FailureLog(folder, warnings.append)
        for number in range(start, 8):
            log.record(SPEC, variant(number), ODD)
    assert len(written(folder)) == 3
    assert len(warnings) == 2


def test_first_of_a_kind_warns_with_the_command_and_later_ones_rarely(
    log: FailureLog, folder: Path, warnings: list[str]
) -> None:
    for number in range(99):
        log.record(SPEC, variant(number % 32), None if number % 3 else ODD)
    assert len(warnings) == 3
    assert "RuntimeError: odd numba" in warnings[0]
    assert f"python -m factorio_rl verify {folder}" in warnings[0]
    assert "not exact within 1,000,000 ticks" in warnings[1]
    assert "10 layouts" in warnings[2]
    assert "NotExact" in warnings[2]
    log.record(SPEC, PLACEMENTS, ODD)
    assert "100 layouts" in warnings[3]
    assert "66 NotExact" in warnings[3]
    assert not any("\n" in text for text in warnings)


def test_a_path_with_spaces_can_be_copied_from_the_warning(
    tmp_path: Path, warnings: list[str]
) -> None:
    folder = tmp_path / "my runs"
    FailureLog(folder, warnings.append).record(SPEC, PLACEMENTS, ODD)
    (path,) = written(folder)
    assert f"verify '{path}'" in warnings[0]


def full_disk(path: Path, text: str) -> None:
    raise OSError(errno.ENOSPC, "No space left on device", str(path))


def test_full_disk_costs_the_file_and_is_told_once(
    log: FailureLog, folder: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(verifier_failures, "write_text_atomically", full_disk)
        for number in range(5):
            log.record(SPEC, variant(number), ODD)
    assert [("No space left on device" in text) for text in warnings] == [True, False]
    assert written(folder) == {}
    log.record(SPEC, PLACEMENTS, ODD)
    assert len(written(folder)) == 1


def test_folder_that_cannot_be_made_costs_the_files(tmp_path: Path, warnings: list[str]) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    log = FailureLog(blocked / "verifier_failures", warnings.append)
    log.record(SPEC, PLACEMENTS, ODD)
    log.record(SPEC, PLACEMENTS, ODD)
    assert len(warnings) == 2
    assert "cannot write" in warnings[0]


def test_threads_share_a_log(log: FailureLog, folder: Path, warnings: list[str]) -> None:
    def record(number: int) -> None:
        log.record(SPEC, variant(number % 4), ODD)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(record, range(40)))
    assert len(written(folder)) == 4
    assert len(warnings) == 2
