"""Rounds of attempts until the target is met or the time is over.

In: a player and a judge. Out: the best layout, verified and without useless pieces. The time
budget counts attempts, not compiling; it and a request to stop are looked at between moves.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol

import jax

from envs.task_spec import TaskSpec
from factorio_rl.design_judge import Found, Judge
from factorio_rl.design_play import Order, Player
from factorio_rl.design_pruning import pruned
from factorio_rl.design_rounds import TimeUse, plan_round

PATIENCE_MOVES = 10
"""A round in which something is delivered ends after so many moves that lift no board's rate:
few boards end themselves, and the placements that are left rarely help."""


@dataclass(frozen=True)
class Goal:
    """What is looked for, and for how long.

    Attributes:
        spec: the task.
        target_is_bound: its rate is not asked for but an upper bound.
        start: what stands already and stays.
        budget_s: seconds of attempts.
        seed: of all random draws.
    """

    spec: TaskSpec
    target_is_bound: bool
    start: Order
    budget_s: float
    seed: int


class Watcher(Protocol):
    """Hears how a design goes on."""

    def compiling(self, what: str) -> None:
        """A program is being compiled, which does not count as time."""

    def update(self, elapsed_s: float, attempts: int, best: Fraction | None) -> None:
        """A move was made; `best` is the best exact rate so far."""


class Designed(NamedTuple):
    """The outcome of a design."""

    found: Found
    attempts: int
    seconds: float


def search(
    goal: Goal, player: Player, judge: Judge, watch: Watcher, should_stop: Callable[[], bool]
) -> Designed:
    """Attempts round by round; the best layout at the end."""
    running = _Search(goal, player, judge, watch, should_stop)
    while not running.is_over():
        running.play_round()
    return Designed(judge.result(), running.attempts, running.elapsed_s())


class _Search:
    """The state of a search."""

    def __init__(
        self,
        goal: Goal,
        player: Player,
        judge: Judge,
        watch: Watcher,
        should_stop: Callable[[], bool],
    ) -> None:
        self._goal, self._player, self._judge = goal, player, judge
        self._watch, self._should_stop = watch, should_stop
        self._use = TimeUse()
        self._compiled: set[bool] = set()
        self._move_s: dict[bool, float] = {}  # of the last move, by whether it was searched
        self._root = jax.random.key(goal.seed)
        self._began_s, self._compiling_s = time.monotonic(), 0.0
        self.attempts = 0

    def elapsed_s(self) -> float:
        """Seconds without compiling."""
        return time.monotonic() - self._began_s - self._compiling_s

    def has_time(self, use_search: bool) -> bool:
        """Whether a move of this kind is likely to end in time."""
        known = self._move_s.get(use_search)
        if known is None:
            evaluations = self._player.num_simulations + 1 if use_search else 0
            known = evaluations * self._move_s.get(False, 0.0)
        return self.elapsed_s() + known <= self._goal.budget_s

    def is_over(self) -> bool:
        """Whether no further move is to be made."""
        return (
            self._judge.best.outcome.solved
            or self.elapsed_s() >= self._goal.budget_s
            or self._should_stop()
        )

    def play_round(self) -> None:
        """One round to its end, or as far as there is time."""
        goal, use = self._goal, self._use
        use_search = use.turn_of_search(goal.budget_s) and self.has_time(True)
        self._make_ready(use_search)
        number = use.search_rounds if use_search else use.policy_rounds
        played = plan_round(
            number,
            use_search=use_search,
            num_boards=self._player.num_boards,
            start=goal.start,
            best=self._judge.best,
            target=goal.spec.target_rate,
            target_is_bound=goal.target_is_bound,
            seed=goal.seed,
        )
        round_key = jax.random.fold_in(self._root, 2 * number + use_search)
        before_s, moment, moves = self.elapsed_s(), self._player.begin(played), 0
        highest, lifted_at = [Fraction(0)] * len(moment.orders), 0
        while not (moment.finished.all() or self.is_over()):
            if moves and not self.has_time(use_search):
                break
            began_s = time.monotonic()
            moment = self._player.move(played, moment, jax.random.fold_in(round_key, moves))
            self._move_s[use_search] = time.monotonic() - began_s
            moves += 1
            rates = self._judge.look_at(moment.orders)
            if any(rate > before for rate, before in zip(rates, highest, strict=True)):
                highest, lifted_at = list(map(max, rates, highest)), moves
            self._tell(self.attempts + int(moment.finished.sum()))
            if any(highest) and moves - lifted_at >= PATIENCE_MOVES:
                break
        if moves:
            self.attempts += len(moment.orders)
            self._judge.remember(moment.orders)
            self._judge.best = pruned(self._judge, self._judge.best, goal.start)
        self._tell(self.attempts)
        self._use = use.after(use_search, self.elapsed_s() - before_s)

    def _make_ready(self, use_search: bool) -> None:
        """Compiles the program of a kind of moves before its first round."""
        if use_search in self._compiled:
            return
        self._watch.compiling("the search" if use_search else "the policy")
        before_s = time.monotonic()
        self._player.compile(use_search)
        self._compiling_s += time.monotonic() - before_s
        self._compiled.add(use_search)

    def _tell(self, attempts: int) -> None:
        self._watch.update(self.elapsed_s(), attempts, self._judge.best.outcome.rate)
