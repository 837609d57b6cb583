"""Small run directories, as train.py leaves them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from factorio_rl.config import Config
from factorio_rl.config_file import dump_config

START_S = 1_700_000_000.0


def report(score: float, env_steps: int, families: Mapping[str, float]) -> dict[str, Any]:
    """A report of an evaluation whose figures all differ."""
    shares = {"score": score, "solved": score / 2, "functional": score / 3 + 0.5}
    return {
        "task_set": "quickstart",
        "n": 8,
        **shares,
        "ci95": [score - 0.0123, score + 0.0234],
        "inexact": 3,
        "ratio_to_reference": score + 0.0345,
        "raw_policy": {"score": score / 4, "solved": score / 5, "functional": score / 6},
        "by_family": {
            name: {
                "n": 4,
                "score": one,
                "solved": one / 2,
                "functional": one / 3 + 0.5,
                "failures": {"jam": 1 + number, "unfed": 9},
            }
            for number, (name, one) in enumerate(families.items())
        },
        "by_split": {"geometry": {"n": 5, "score": 0.717, "solved": 0.727, "functional": 0.737}},
        "failures": {"jam": 3, "unfed": 18},
        "tasks": [
            {
                "id": "quickstart/0",
                "rate": "7/16",
                "target": "15/32",
                "score": 0.9333,
                "failure": "jam",
            }
        ],
        "num_simulations": 17,
        "env_steps": env_steps,
    }


def line(event: str, chunk: int, elapsed_s: float, start_s: float = START_S, **fields: Any) -> str:
    """A line of the metrics."""
    counters = {"chunk": chunk, "env_steps": 512 * chunk, "learner_updates": 40 + 12 * chunk}
    times = {"elapsed_s": elapsed_s, "time": start_s + elapsed_s}
    return json.dumps({"event": event, **counters, **fields, **times})


def write_run(
    path: Path,
    lines: Sequence[str] = (),
    reports: Mapping[str, Mapping[str, Any]] | None = None,
) -> Path:
    """A run directory with these lines of metrics and reports of evaluations by name."""
    (path / "eval").mkdir(parents=True)
    (path / "layouts").mkdir()
    (path / "config.yaml").write_text(dump_config(Config()))
    (path / "identity.json").write_text('{"package_version": "0.1.0", "rules_version": "fv-1"}')
    if lines:
        (path / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    for name, content in (reports or {}).items():
        (path / "eval" / f"{name}.json").write_text(json.dumps(content))
    return path


def add_pictures(path: Path, width: int = 60) -> None:
    """The pictures of an evaluation."""
    for name in ("heldout_sheet", "best", "curriculum"):
        Image.new("RGB", (width, width), "#0072b2").save(path / "layouts" / f"{name}.png")
