"""Result files say what was measured, where, when and how to repeat it."""

import json
import subprocess
import sys
from datetime import date

import pytest

from benchmarks import results


def test_result_file_holds_rows_and_circumstances(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "RESULTS", tmp_path / "docs" / "results")
    rows = [{"engine": "ours", "layouts": 90}]
    path = results.write_results("verifier", rows, "python -m benchmarks.verifier")
    assert path == tmp_path / "docs" / "results" / "verifier.json"
    written = json.loads(path.read_text())
    assert list(written) == ["device", "versions", "date", "command", "rows"]
    assert written["rows"] == rows
    assert written["command"] == "python -m benchmarks.verifier"
    assert written["device"]
    assert "numpy" in written["versions"]
    date.fromisoformat(written["date"])


@pytest.mark.parametrize("out", [["--out", "/here/x.json"], ["--out=/here/x.json"], []])
def test_command_leaves_out_where_the_file_went(out):
    arguments = ["--sizes", "8x16", *out, "--only", "tree"]
    typed = results.command_line("search", arguments)
    assert typed == "python -m benchmarks.search --sizes 8x16 --only tree"


def test_module_loads_without_jax():
    check = "import sys, benchmarks.results as r; r.device_name(); assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", check], check=True, cwd=results.RESULTS.parents[1])
