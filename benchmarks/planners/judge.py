"""Budgets, and the judge through which every planner looks at layouts.

In: layouts. Out: their verified score, or how far they are from delivering at all. A layout whose
product cannot reach the sink (`progress`) is certainly worth 0 and costs no call of the verifier;
under a budget in calls such looks are limited too, so that a search always ends. Jax-free.
"""

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from benchmarks.planners.progress import shortfall, stand, working_parts
from benchmarks.planners.site import Plan, Site
from envs.layout import Entity
from envs.task_spec import layout_of
from envs.verifier import score_rate

FREE_LOOKS, LOOKS_PER_CALL = 2_000, 20
"""Layouts that a budget in calls may look at without a call: so many, and so many more per call. An
attempt of the agent looks at about as many positions: simulations x moves."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a planner may spend on a task; None is no limit.

    Attributes:
        calls: calls of the exact verifier.
        seconds: wall time; what is judged later does not count.
    """

    calls: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        assert self.calls is not None or self.seconds is not None


class Judged(NamedTuple):
    """What a layout is worth; the larger, the better.

    Attributes:
        score: min(1, verified rate / target); 0 if not exact.
        nearness: minus the pieces missing until anything arrives; breaks ties of score 0.
    """

    score: float
    nearness: float


class Found(NamedTuple):
    """The best layout of a search.

    Attributes:
        placements: in an order that is legal.
        rate: its verified rate in items per second; None if it is not exact.
        calls: calls of the verifier.
        looks: layouts judged without one.
        seconds: wall time.
    """

    placements: Plan
    rate: Fraction | None
    calls: int
    looks: int
    seconds: float


WORST = Judged(0.0, float("-inf"))


class Judge:
    """Judges layouts of one task, keeps the best of them and the account of a budget."""

    def __init__(self, site: Site, budget: Budget) -> None:
        self.site = site
        self.calls = 0
        self.looks = 0
        self.best = WORST
        self.best_plan: Plan = ()
        self._best_rate: Fraction | None = Fraction(0)
        self._budget = budget
        self._known: dict[frozenset[Entity], Fraction | None] = {}
        self._start = time.perf_counter()

    def judge(self, plan: Plan) -> Judged:
        """What a legal layout is worth; a call only if something may arrive and is not known."""
        layout = layout_of(self.site.spec, plan)
        standing = stand(self.site, layout.entities)
        lacking = shortfall(self.site, standing)
        if lacking > 0:
            self.looks += 1
            return self._keep(plan, Judged(0.0, -lacking), Fraction(0))
        working = frozenset(layout.entities[number] for number in working_parts(standing))
        if working in self._known:
            self.looks += 1
        else:
            self.calls += 1
            self._known[working] = score_rate(layout)
        return self._keep(plan, self._score(self._known[working]), self._known[working])

    def verify(self, plan: Plan) -> Judged:
        """What a legal layout is worth, by a call in any case."""
        self.calls += 1
        rate = score_rate(layout_of(self.site.spec, plan))
        return self._keep(plan, self._score(rate), rate)

    def _score(self, rate: Fraction | None) -> Judged:
        share = (rate or Fraction(0)) / self.site.spec.target_rate
        return Judged(float(min(Fraction(1), share)), 0.0)

    def _keep(self, plan: Plan, judged: Judged, rate: Fraction | None) -> Judged:
        if judged > self.best and not self._late:
            self.best, self.best_plan, self._best_rate = judged, plan, rate
        return judged

    @property
    def seconds(self) -> float:
        """Wall time so far."""
        return time.perf_counter() - self._start

    @property
    def _late(self) -> bool:
        """Whether the time was over before the last layout was judged."""
        return self._budget.seconds is not None and self.seconds > self._budget.seconds

    @property
    def spent(self) -> float:
        """Share of the budget that is spent; 1 or more where nothing is left."""
        shares = [0.0]
        if self._budget.calls is not None:
            shares.append(self.calls / self._budget.calls)
            shares.append(self.looks / (FREE_LOOKS + LOOKS_PER_CALL * self._budget.calls))
        if self._budget.seconds is not None:
            shares.append(self.seconds / self._budget.seconds)
        return max(shares)

    @property
    def done(self) -> bool:
        """Whether the search has to end: the task is solved or the budget is spent."""
        return self.best.score >= 1 or self.spent >= 1

    def found(self) -> Found:
        """The best layout so far."""
        return Found(self.best_plan, self._best_rate, self.calls, self.looks, self.seconds)
