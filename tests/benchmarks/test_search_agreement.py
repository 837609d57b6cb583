"""The agreement benchmark counts what it compares, and fails when the kernel tree is wrong."""

import json
import sys
from typing import Any

import pytest
from search_records import GAMES

from benchmarks import search_agreement
from benchmarks.agreement_table import TABLE, Configuration
from factorio_rl.search import SearchSettings

TINY = Configuration("tiny", lambda: GAMES["hash"], SearchSettings(6, max_num_considered_actions=4))


@pytest.fixture
def one_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_agreement, "QUICK_TABLE", [TINY])
    monkeypatch.setattr(sys, "argv", ["search_agreement", "--quick"])


def test_the_table_has_what_it_promises():
    searches = search_agreement.BATCH * len(TABLE)
    wide = [one for one in TABLE if one.make_game().num_actions == 1729]
    assert searches >= 256
    assert len(wide) > len(TABLE) / 2
    settings = [one.settings for one in TABLE]
    assert {one.num_simulations for one in settings} == {16, 32, 64, 128}
    assert any(one.max_depth is not None for one in settings)
    assert any(one.rescale_values for one in settings)
    assert not all(one.use_mixed_value for one in settings)
    assert {one.gumbel_scale for one in TABLE} == {0.0, 1.0}
    assert {one.handed_in for one in TABLE} == {False, True}


def test_kernel_and_lean_tree_agree_on_a_small_table(
    one_configuration, monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--out", str(tmp_path / "result.json")])
    search_agreement.main()
    (row,) = json.loads((tmp_path / "result.json").read_text())["rows"]
    assert (row["configuration"], row["searches"], row["errors"]) == ("tiny", 8, 0)
    assert (row["largest_weight_difference"], row["notes"]) == (0.0, [])
    *_, of_all, _ = capsys.readouterr().out.strip().splitlines()
    searches, equal, _, near_ties, errors, *_ = of_all.split()[1:]
    assert int(searches) == search_agreement.QUICK_BATCH
    assert (int(near_ties), int(errors)) == (0, 0)
    assert equal == searches


def test_a_wrong_kernel_is_an_error_that_ends_the_program_with_exit_code_1(
    one_configuration, monkeypatch, capsys
):
    right = search_agreement.record_of

    def wrong(output: Any, row: int):
        record = right(output, row)
        if output is kernel_outputs[-1] and row == 2:
            return record._replace(action=(int(record.action) + 1) % 13)
        return record

    kernel_outputs = []
    run = search_agreement.run

    def spy(configuration: Configuration, tree: str, *arguments: Any) -> Any:
        found = run(configuration, tree, *arguments)
        if tree == "kernel":
            kernel_outputs.append(found[0])
        return found

    monkeypatch.setattr(search_agreement, "run", spy)
    monkeypatch.setattr(search_agreement, "record_of", wrong)
    with pytest.raises(SystemExit) as stopped:
        search_agreement.main()
    assert stopped.value.code == 1
    out = capsys.readouterr().out
    assert "tiny, seed 0, row 2: ERROR: kernel tree: at the end: took action" in out
    assert "seed 0, row 1" not in out


def test_a_kernel_tree_without_its_kernel_is_refused(one_configuration, monkeypatch):
    """Else a tree that falls back would be compared with itself."""
    monkeypatch.setattr(search_agreement, "replace", lambda settings, tree: settings)
    with pytest.raises(SystemExit, match="without its kernel"):
        search_agreement.main()
