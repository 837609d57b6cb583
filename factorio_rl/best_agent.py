"""The best agent of a run so far, as a small file beside its checkpoints.

In: what an evaluation was made of and its report. Out: `best.safetensors` in the run directory,
written when no evaluation before had a higher score: of equal ones the newer stays, as among the
checkpoints. A file for use (`design`, `evaluate`), for wandb and for copying; to go on training
needs a checkpoint.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from envs.errors import UserError
from factorio_rl.agent_file import Agent, read_agent_file, write_agent_file
from factorio_rl.agent_scores import facts_of
from factorio_rl.config import Config
from factorio_rl.network import Params

AGENT_FILE = "best.safetensors"

_SCORE = ("task_set", "n", "num_simulations", "score", "ci95", "solved", "functional", "by_family")
_SUMMARY = ("task_set", "n", "num_simulations", "score", "solved", "functional")


def keep_best(
    run_dir: Path,
    config: Config,
    params: Params,
    report: Mapping[str, Any],
    counters: Mapping[str, int],
    offer: Callable[[Path, Mapping[str, Any]], None],
) -> None:
    """Writes the parameters to AGENT_FILE unless the file there has a higher score.

    Args:
        params: float32 parameters that the report is of.
        report: as `factorio_rl.evaluation.make_report` gives it, with `num_simulations`.
        counters: chunk, env_steps and learner_updates.
        offer: gets a file that was written, and its scores and origin in a flat mapping.

    Raises:
        UserError: it cannot be written; the old file is there as before.
    """
    path = run_dir / AGENT_FILE
    if report["score"] < _score(path):
        return
    score = {name: report[name] for name in _SCORE} | {"env_steps": counters["env_steps"]}
    step, chunk, env_steps = (counters[name] for name in ("learner_updates", "chunk", "env_steps"))
    facts = facts_of(step, chunk, env_steps, [score])
    label = f"checkpoint {step} of {run_dir}"
    write_agent_file(path, Agent(config, params, label, facts))
    offer(path, {**counters, **{name: report[name] for name in _SUMMARY}})


def _score(path: Path) -> float:
    """The score of an agent file; below all others where there is none that can be read."""
    if not path.exists():
        return -1.0
    try:
        return float(read_agent_file(path).facts["scores"][0]["score"])
    except (UserError, LookupError, TypeError, ValueError):
        return -1.0
