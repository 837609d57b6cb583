"""What the runs of the precision experiment came to: rows of `docs/results/precision.json`.

In: the run directory of a finished run. Out: a row, and a table of rows. The columns:

- `variant`, `seed`, and `env_steps` that were played.
- `score`, `ci95_low`, `ci95_high`, `functional`, `solved`: of the last evaluation on the held-out
  set; `raw_score`: of the policy without a search.
- `fp8_score`: of the same parameters with the trunk in FP8, root included; null without scales.
- `imitation_score`: of the evaluation before the first chunk of self-play.
- `fp8_share`: share of the chunks that were played in FP8. `switches`: changes between the two.
- `seconds`: from start to end, compiling and evaluations included.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.search_rows import aligned
from factorio_rl.evaluation_files import read_report, report_path
from factorio_rl.metrics import read_metrics
from factorio_rl.run_directory import RunDirectory

_PRINTED = {
    "variant": "variant",
    "seed": "seed",
    "env_steps": "env steps",
    "imitation_score": "before",
    "score": "score",
    "ci95_low": "from",
    "ci95_high": "to",
    "functional": "functional",
    "raw_score": "raw score",
    "fp8_score": "in fp8",
    "fp8_share": "fp8 share",
    "switches": "switches",
    "seconds": "s",
}


def is_finished(folder: Path) -> bool:
    """Whether the run of this folder has made all its chunks and evaluated the last."""
    directory = RunDirectory(folder)
    config = directory.saved_config()
    if config is None:
        return False
    return report_path(directory.evaluations, _report_name(config.train.num_chunks)).exists()


def fp8_report(folder: Path) -> dict[str, Any] | None:
    """The report of the evaluation in FP8, None before there is one."""
    directory = RunDirectory(folder)
    config = directory.saved_config()
    if config is None:
        return None
    name = f"{config.tasks.heldout}-*-n{config.eval.num_simulations}-fp8"
    paths = directory.evaluations.glob(f"{name}.json")
    newest = max(paths, key=lambda path: path.stat().st_mtime, default=None)
    return None if newest is None else read_report(directory.evaluations, newest.stem)


def row_of(variant: str, seed: int, folder: Path) -> dict[str, Any]:
    """The row of a finished run."""
    directory = RunDirectory(folder)
    num_chunks = directory.require_config().train.num_chunks
    report = _report(directory, num_chunks)
    before = _report(directory, 0)
    records = read_metrics(folder / "metrics.jsonl")
    chunks = [record for record in records if record["event"] == "train"]
    low, high = report["ci95"]
    figures = {
        "imitation_score": before["score"],
        "score": report["score"],
        "ci95_low": low,
        "ci95_high": high,
        "functional": report["functional"],
        "solved": report["solved"],
        "raw_score": report["raw_policy"]["score"],
        "fp8_share": mean(float(record.get("actor_precision") == "fp8") for record in chunks),
    }
    in_fp8 = fp8_report(folder)
    return {
        "variant": variant,
        "seed": seed,
        "env_steps": report["env_steps"],
        **{name: round(figure, 4) for name, figure in figures.items()},
        "fp8_score": None if in_fp8 is None else round(in_fp8["score"], 4),
        "switches": sum(record["event"] == "switch" for record in records),
        "seconds": round(seconds_of(records)),
    }


def seconds_of(records: Sequence[dict[str, Any]]) -> float:
    """How long a run took; each time that it went on from a checkpoint its clock began anew."""
    clock = [record["elapsed_s"] for record in records if "elapsed_s" in record]
    ends = [before for before, after in pairwise(clock) if after < before]
    return sum(ends) + (clock[-1] if clock else 0.0)


def table_of(rows: Sequence[dict[str, Any]]) -> str:
    """A table with a header."""
    lines = [list(_PRINTED.values())]
    lines += [[_shown(row[name]) for name in _PRINTED] for row in rows]
    return "\n".join(aligned(lines))


def _report(directory: RunDirectory, chunk: int) -> dict[str, Any]:
    """The report of an evaluation, which has to be there."""
    report = read_report(directory.evaluations, _report_name(chunk))
    if report is None:
        raise SystemExit(f"no report of chunk {chunk} in {directory.evaluations}; run it again")
    return report


def _report_name(chunk: int) -> str:
    return f"chunk-{chunk:06d}"


def _shown(figure: Any) -> str:
    if figure is None:
        return "-"
    return f"{figure:.3f}" if isinstance(figure, float) else str(figure)
