"""What `design` found for a task: the verified layout, in the order in which to build it. Jax-free.

In: the pieces of an answer, by `design_command`. Out: `DesignAnswer`, which `design_files` writes
and `design_page` shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from envs.task_spec import Placement, TaskSpec
from factorio_rl.verify_answer import Answer


@dataclass(frozen=True)
class DesignAnswer:
    """The best layout that a design found.

    Attributes:
        name: of the task, for titles.
        spec: the task; `target_rate` is the rate that was asked for, or the highest conceivable.
        placements: in an order in which a player can build them: each touches a port or what
            stands before it.
        target_is_bound: no rate was asked for, so that the target is an upper bound.
        report: what the verifier says of the layout: rates, use of everything, bottleneck.
        blueprints: the game's blueprint string by game version, "2.0" and "1.1".
        attempts: finished layouts that were looked at.
        seconds: time that the attempts took, without loading and compiling.
        agent: what the agent is called.
        reached: the exact rate is the target or more.
        limited_by: what limits the rate, one sentence.
    """

    name: str
    spec: TaskSpec
    placements: tuple[Placement, ...]
    target_is_bound: bool
    report: Answer
    blueprints: Mapping[str, str]
    attempts: int
    seconds: float
    agent: str
    reached: bool
    limited_by: str

    @property
    def rate(self) -> Fraction | None:
        """Exact items per second of the target item at the sink; None where it is not exact."""
        sink = self.spec.sink
        for found in self.report.diagnosis.verified.rates:
            if (found.x, found.y, found.item) == (sink.x, sink.y, self.spec.target_item):
                return found.rate if found.lower == found.upper else None
        return None
