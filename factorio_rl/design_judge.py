"""Which of the layouts of a design is the best: every distinct one is verified once, on threads.

In: placements in the order of building. Out: the best so far: one that reaches the target before
one that does not, then the higher rate, then fewer placements. Prefixes are layouts of their own:
an attempt may go on after its best moment.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import NamedTuple

from envs.task_spec import Placement, TaskSpec
from factorio_rl.arrivals import links
from factorio_rl.design_play import Order
from factorio_rl.scoring import Outcome, score_layout

MAX_IDLE = 1_000
"""Most layouts without output that are kept."""


class Found(NamedTuple):
    """A verified layout."""

    order: Order
    outcome: Outcome

    @property
    def rank(self) -> tuple[bool, Fraction, int]:
        """Of two layouts the one with the higher rank is the better one."""
        rate = self.outcome.rate
        return self.outcome.solved, Fraction(-1) if rate is None else rate, -len(self.order)


class Judge:
    """Verifies layouts of one task, and keeps the best."""

    def __init__(self, spec: TaskSpec, start: Order, threads: int) -> None:
        self._spec = spec
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="verifier")
        self._seen: dict[frozenset[Placement], Fraction] = {}
        self._idle: list[Order] = []
        self.best = Found(start, score_layout(spec, start))

    @property
    def num_layouts(self) -> int:
        """Distinct layouts that were verified."""
        return len(self._seen)

    def look_at(self, orders: Sequence[Order]) -> list[Fraction]:
        """Verifies the layouts that are new; the rate of each, 0 where it is not exact."""
        layouts = [frozenset(order) for order in orders]
        fresh = {
            pieces: order
            for pieces, order in zip(layouts, orders, strict=True)
            if pieces not in self._seen
        }
        found = self.found(list(fresh.values()))
        for pieces, one in zip(fresh, found, strict=True):
            self._seen[pieces] = one.outcome.rate or Fraction(0)
        self.best = max([self.best, *found], key=lambda one: one.rank)
        return [self._seen[pieces] for pieces in layouts]

    def remember(self, orders: Iterable[Order]) -> None:
        """Keeps what attempts ended with, in case that nothing delivers anything."""
        if not self.best.outcome.rate:
            self._idle = [*self._idle, *orders][:MAX_IDLE]

    def result(self) -> Found:
        """The best layout; where none delivers anything, the one whose items get furthest."""
        if self.best.outcome.rate or not self._idle:
            return self.best
        furthest = max(self._idle, key=lambda order: (links(self._spec, order), -len(order)))
        return self.found([furthest])[0]

    def found(self, orders: Sequence[Order]) -> list[Found]:
        """The layouts with their outcomes, in order."""
        outcomes = self._pool.map(lambda order: score_layout(self._spec, order), orders)
        return [Found(*pair) for pair in zip(orders, outcomes, strict=True)]

    def close(self) -> None:
        """Ends the threads."""
        self._pool.shutdown(cancel_futures=True)
