"""The scores of an agent: figures of the reports in a run directory that belong to a checkpoint.

In: the folder of reports and what was loaded of a checkpoint. Out: figures that an agent file
holds. A report counts by its name and by its environment steps.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from factorio_rl import __version__
from factorio_rl.evaluation_files import read_report
from factorio_rl.run_parameters import RunParameters

MEASURED_WITH = "the checkpoint's float32 parameters, before they were rounded to bfloat16"

MAX_REPORTS = 1_000
"""Most reports of a run that are looked at."""

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, lt=2**53)]


@dataclass(frozen=True)
class FamilyScore:
    """Of one family of tasks."""

    n: Count
    score: Share
    solved: Share


@dataclass(frozen=True)
class Score:
    """The figures of one report."""

    __pydantic_config__ = ConfigDict(extra="ignore")

    task_set: Annotated[str, Field(max_length=100)]
    n: Count
    num_simulations: Count
    score: Share
    ci95: tuple[Share, Share]
    solved: Share
    functional: Share
    by_family: Annotated[dict[str, FamilyScore], Field(max_length=100)]
    env_steps: Count
    precision: Annotated[str, Field(max_length=20)] = "bf16"


_SCORE = TypeAdapter(Score)


def facts_of(
    checkpoint: int, chunk: int, env_steps: int, scores: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What an agent file says of its origin and its scores."""
    return {
        "package_version": __version__,
        "checkpoint": checkpoint,
        "chunk": chunk,
        "env_steps": env_steps,
        "dtype": "bfloat16",
        "scores_measured_with": MEASURED_WITH,
        "scores": list(scores),
    }


def scores_of(folder: Path, loaded: RunParameters, tell: Callable[[str], None]) -> list[Score]:
    """The scores of the reports that were made of a checkpoint, one for each set and budget.

    Where two are of one set and budget, the one of more tasks counts. `tell` gets a warning for
    each that is damaged.
    """
    found: dict[tuple[str, int, str], Score] = {}
    for path in sorted(folder.glob("*.json"))[:MAX_REPORTS]:
        # training_run names reports by the chunk, evaluate_command by set, step and budget.
        if path.stem != f"chunk-{loaded.chunk:06d}" and f"-{loaded.step}-n" not in path.stem:
            continue
        try:
            score = _SCORE.validate_python(read_report(folder, path.stem))
        except ValidationError:
            tell(f"warning: {path} is damaged; its scores are left out")
            continue
        key = (score.task_set, score.num_simulations, score.precision)
        if score.env_steps == loaded.env_steps and (key not in found or found[key].n < score.n):
            found[key] = score
    return list(found.values())
