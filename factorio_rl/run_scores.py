"""The evaluations of a run, from its reports and from its metrics, one beside the other. Jax-free.

In: a `RunRecord`. Out: `Scored` in the order of training. A report has more to say; where it is
gone or damaged, the line of the metrics stands in for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from factorio_rl.run_record import Record, RunRecord, mapping, number

UNTRAINED = "untrained"

_FAMILY_PREFIX = "score_"


@dataclass(frozen=True)
class Scored:
    """One evaluation.

    Attributes:
        name: of its report.
        env_steps: environment steps that its parameters had seen.
        hours: of training until it, None where the metrics do not tell.
        report: the whole report, or what the metrics have of it.
        families: figures by family, `score` at least.
    """

    name: str
    env_steps: float
    hours: float | None
    report: Record
    families: Mapping[str, Record]

    @property
    def score(self) -> float | None:
        """Mean score."""
        return number(self.report, "score")

    @property
    def raw(self) -> Record:
        """Figures of the raw policy, without search."""
        return mapping(self.report, "raw_policy")


def scored(run: RunRecord) -> list[Scored]:
    """All evaluations, the untrained network first."""
    events = {_name_of(record): record for record in run.of_event("eval")}
    for record in run.of_event("eval_untrained"):
        events[UNTRAINED] = record
    found = []
    for name in dict.fromkeys((*run.evaluations, *events)):
        record, report = events.get(name, {}), run.evaluations.get(name)
        is_first = name == UNTRAINED
        steps = number(report or record, "env_steps")
        hours = 0.0 if is_first else number(record, "hours")
        if report is None:
            report, families = _raw_beside(record), _families_of(record)
        else:
            by_family = mapping(report, "by_family")
            families = {one: mapping(by_family, one) for one in by_family}
        if number(report, "score") is not None:
            found.append(Scored(name, steps or 0.0, hours, report, families))
    return sorted(found, key=lambda one: (one.name != UNTRAINED, one.env_steps))


def best_of(evaluations: list[Scored]) -> Scored | None:
    """The one with the highest score, of equals the first."""
    return max(evaluations, key=lambda one: one.score or 0.0, default=None)


def _name_of(record: Record) -> str:
    chunk = number(record, "chunk")
    return f"chunk-{int(chunk or 0):06d}"


def _raw_beside(record: Record) -> Record:
    raw = {name.removeprefix("raw_"): value for name, value in record.items() if name[:4] == "raw_"}
    return {**record, "raw_policy": raw}


def _families_of(record: Record) -> dict[str, Record]:
    return {
        name.removeprefix(_FAMILY_PREFIX): {"score": value}
        for name, value in record.items()
        if name.startswith(_FAMILY_PREFIX)
    }
