"""Whether training that is stopped and gone on with ends bit for bit as without a stop, and what
it costs a GPU to promise that.

    python -m benchmarks.determinism

With `run.deterministic` and without: some chunks in one process, then the second half of them
again in another one, from the state saved half-way. Writes `docs/results/determinism.json` after
each process.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from orbax.checkpoint import v1 as ocp
from rich.console import Console
from rich.table import Table

from benchmarks.results import RESULTS, command_line, write_results

ROOT = Path(__file__).resolve().parents[1]

WAYS = {"deterministic": "--run.deterministic=true", "default": "--run.compilation_cache=null"}
"""Settings by name. The default's programs are compiled anew by each process, as on two machines
of the same type; a deterministic run keeps its own."""

UNTIMED_CHUNKS = 2
"""The first ones compile and warm up."""


def main() -> None:
    """Prints a table and writes the result file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.determinism", description=__doc__)
    parser.add_argument("--config", type=Path, default=ROOT / "configs" / "modules_12x12.yaml")
    parser.add_argument("--chunks", type=int, default=12)
    parser.add_argument("--only", nargs="+", choices=tuple(WAYS), default=list(WAYS))
    parser.add_argument("--out", type=Path, default=RESULTS / "determinism.json")
    options, settings = parser.parse_known_args()
    rows: list[dict[str, Any]] = []
    for way in options.only:
        with tempfile.TemporaryDirectory() as name:
            folder, half = Path(name), options.chunks // 2
            given = [f"--config={options.config}", f"--folder={folder}", WAYS[way], *settings]
            last = str(options.chunks)
            _run([*given, "--name=straight", "--save", str(half), last])
            rows.append({"way": way, "ms_per_chunk": _ms_per_chunk(folder / "straight.json")})
            _write(rows, options.out)
            _run([*given, "--name=resumed", f"--load={half}", "--save", last])
            straight, resumed = (leaves(folder / part / last) for part in ("straight", "resumed"))
            rows[-1]["leaves"] = len(straight)
            rows[-1]["differing_leaves"] = num_different(straight, resumed)
            _write(rows, options.out)
    Console().print(_table(rows))
    print(options.out)


def leaves(folder: Path) -> dict[str, np.ndarray]:
    """Every leaf of a saved state by its path."""
    import jax

    names = [path.name for path in folder.iterdir() if path.is_dir()]
    trees = ocp.load_checkpointables(str(folder), dict.fromkeys(names))
    found = jax.tree_util.tree_leaves_with_path(trees)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in found}


def num_different(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> int:
    """Leaves that are not the same to the last bit."""
    return sum(one[path].tobytes() != other[path].tobytes() for path in one)


def _run(arguments: Sequence[str]) -> None:
    command = [sys.executable, "-m", "benchmarks.determinism_part", *arguments]
    subprocess.run(command, check=True, cwd=ROOT)


def _ms_per_chunk(path: Path) -> float:
    times_s = json.loads(path.read_text())[UNTIMED_CHUNKS:]
    return round(1e3 * statistics.median(times_s), 2)


def _write(rows: Sequence[dict[str, Any]], out: Path) -> None:
    write_results("determinism", rows, command_line("determinism", sys.argv[1:]), out)


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    table = Table("way", "ms per chunk", "leaves that differ after going on")
    for entry in rows:
        differing = f"{entry['differing_leaves']} of {entry['leaves']}"
        table.add_row(entry["way"], f"{entry['ms_per_chunk']:,.1f}", differing)
    return table


if __name__ == "__main__":
    main()
