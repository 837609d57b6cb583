"""`verify` as a process of its own: what it loads, a closed output, Ctrl-C, the first use."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from envs.verifier import first_use
from factorio_rl.cli import main

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
COMMAND = [sys.executable, "-m", "factorio_rl", "verify"]
REAL = DATA / "blueprints" / "circuitFac2.json"

NOTICE = "compiling the verifier, once for each installation; this takes about a minute\n"


def test_verify_loads_neither_jax_nor_wandb(tmp_path: Path) -> None:
    code = f"""
import sys
from factorio_rl.cli import main
codes = [main(["verify", {str(REAL)!r}, "--png", {str(tmp_path / "out.png")!r}]),
         main(["render", {str(REAL)!r}])]
heavy = {{"jax", "jaxlib", "flax", "optax", "orbax", "wandb"}} & set(sys.modules)
print("loaded:", codes, sorted(heavy))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "loaded: [0, 0] []", done.stderr


def test_standard_input_and_output_of_a_process() -> None:
    done = subprocess.run(
        [*COMMAND, "-", "--json"], cwd=ROOT, capture_output=True, input=REAL.read_bytes()
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["rates"][0]["rate"] == "2/7"
    bad = subprocess.run([*COMMAND, "-"], cwd=ROOT, capture_output=True, input=b"0\xff\x00")
    assert (bad.returncode, bad.stdout, bad.stderr.count(b"\n")) == (2, b"", 1)


def test_closed_output_is_no_error() -> None:
    command = f"{sys.executable} -m factorio_rl verify --json {DATA / 'cases_public.json'} | true"
    ended = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], cwd=ROOT, capture_output=True, text=True
    )
    assert "Traceback" not in ended.stderr
    assert ended.returncode == 0


def slow_layout() -> dict[str, Any]:
    """One machine that five arms of different cycles feed: a period of 14,747,040 ticks."""
    iron = {"item": "iron-plate"}
    return {
        "entities": [
            {
                "k": "asm",
                "x": 4,
                "y": 4,
                "t": "assembling-machine-3",
                "recipe": "firearm-magazine",
            },
            {"k": "inserter", "x": 4, "y": 3, "d": "S", "t": "burner"},
            {"k": "chest_src", "x": 4, "y": 2, **iron},
            {"k": "inserter", "x": 5, "y": 3, "d": "S", "t": "long"},
            {"k": "chest_src", "x": 5, "y": 1, **iron},
            {"k": "inserter", "x": 3, "y": 4, "d": "E"},
            {"k": "chest_src", "x": 2, "y": 4, **iron},
            {"k": "inserter", "x": 3, "y": 6, "d": "E"},
            {"k": "belt", "x": 2, "y": 6, "d": "E"},
            {"k": "source", "x": 1, "y": 6, "d": "E", "left": "iron-plate"},
            {"k": "inserter", "x": 7, "y": 4, "d": "W", "t": "burner"},
            {"k": "belt", "x": 8, "y": 4, "d": "W"},
            {"k": "source", "x": 9, "y": 4, "d": "W", "left": "iron-plate"},
            {"k": "inserter", "x": 7, "y": 6, "d": "E", "t": "fast"},
            {"k": "chest_sink", "x": 8, "y": 6, "item": None},
        ]
    }


def test_ctrl_c_ends_a_long_simulation_at_once(tmp_path: Path) -> None:
    path = tmp_path / "slow.json"
    path.write_text(json.dumps([slow_layout()] * 100))
    running = subprocess.Popen(
        [*COMMAND, str(path), "--tick-cap", "100,000,000"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(2.5)
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    printed, errors = running.communicate(timeout=20)
    assert running.returncode in (130, -signal.SIGINT)
    assert printed == ""
    assert "Traceback" not in errors


def keeping_code_in(folder: Path) -> SimpleNamespace:
    """An entry point that numba caches in a folder."""
    return SimpleNamespace(stats=SimpleNamespace(cache_path=str(folder)))


def test_the_first_use_says_that_it_compiles_and_the_next_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(first_use, "run", keeping_code_in(tmp_path))
    assert main(["verify", "--json", str(REAL)]) == 0
    first = capsys.readouterr()
    assert first.err == NOTICE
    assert json.loads(first.out)["exact"] is True
    assert main(["verify", "--json", str(REAL)]) == 0
    assert capsys.readouterr() == (first.out, "")


def test_a_refused_input_compiles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(first_use, "run", keeping_code_in(tmp_path))
    assert main(["verify", str(tmp_path / "none.json")]) == 2
    assert "compiling" not in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("tail", "code", "said"),
    [
        ("- <&-", 2, "standard input is empty"),
        (f"{REAL} >&-", 0, ""),
        (f"{REAL} > /dev/full", 2, "cannot write the output: No space left on device"),
    ],
)
def test_streams_that_cannot_be_used_give_one_line(tail: str, code: int, said: str) -> None:
    command = f"{sys.executable} -m factorio_rl verify {tail}"
    ended = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert "Traceback" not in ended.stderr
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()) == (1 if said else 0)


def test_tables_survive_a_reader_that_has_gone() -> None:
    command = f"{sys.executable} -m factorio_rl verify {REAL} | true"
    ended = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], cwd=ROOT, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (0, "")
