"""Rounds of attempts with a tiny agent: legal boards, told targets, stopping, the best layout."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import jax
import pytest
from tiny_setup import SOLVED

from envs.layout import validate
from envs.task_spec import TaskSpec, layout_of
from factorio_rl.config import Config
from factorio_rl.design_judge import Judge
from factorio_rl.design_play import Player, Round, make_player
from factorio_rl.design_search import Designed, Goal, search
from factorio_rl.learner import LearnerState

SPEC = SOLVED[1].spec
BOARDS = 5
FULL_START = SOLVED[1].placements


class Watch:
    """Remembers what it heard."""

    def __init__(self) -> None:
        self.compiled: list[str] = []
        self.heard: list[tuple[float, int, Fraction | None]] = []

    def compiling(self, what: str) -> None:
        self.compiled.append(what)

    def update(self, elapsed_s: float, attempts: int, best: Fraction | None) -> None:
        self.heard.append((elapsed_s, attempts, best))


@pytest.fixture(scope="module")
def player(config: Config, learner: LearnerState) -> Player:
    """With both programs compiled."""
    made = make_player(config, learner.params, SPEC, BOARDS, num_simulations=4)
    made.compile(use_search=False)
    made.compile(use_search=True)
    return made


@pytest.fixture
def judge() -> Iterator[Judge]:
    made = Judge(SPEC, (), threads=1)
    yield made
    made.close()


def played_to_the_end(player: Player, played: Round) -> list:
    moment, number = player.begin(played), 0
    while not moment.finished.all():
        moment = player.move(played, moment, jax.random.fold_in(jax.random.key(3), number))
        number += 1
    return moment.orders


def a_round(use_search: bool, noise: float, start: tuple = ()) -> Round:
    rates = (SPEC.target_rate,) * BOARDS
    return Round(use_search, (noise,) * BOARDS, rates, (start,) * BOARDS)


@pytest.mark.parametrize("use_search", [False, True])
def test_boards_of_all_turns_are_legal_in_the_tasks_own_orientation(
    player: Player, use_search: bool
) -> None:
    orders = played_to_the_end(player, a_round(use_search, noise=1.0))
    assert len({frozenset(order) for order in orders}) > 1
    for order in orders:
        assert len(order) <= SPEC.placement_limit
        validate(layout_of(SPEC, order))


def test_boards_of_one_turn_are_alike_only_without_noise(player: Player) -> None:
    orders = played_to_the_end(player, a_round(False, noise=0.0))
    assert orders[0] == orders[4]
    noisy = played_to_the_end(player, a_round(False, noise=1.0))
    assert noisy[0] != noisy[4]


def test_a_start_stays_on_every_board(player: Player) -> None:
    start = SOLVED[1].placements[:3]
    for order in played_to_the_end(player, a_round(False, noise=1.0, start=start)):
        assert order[:3] == start


def test_the_same_seed_finds_the_same(player: Player) -> None:
    orders = [played_to_the_end(player, a_round(True, noise=1.0)) for _ in range(2)]
    assert orders[0] == orders[1]


def designed(
    player: Player,
    judge: Judge,
    watch: Watch,
    should_stop: Callable[[], bool] = lambda: False,
    spec: TaskSpec = SPEC,
    budget_s: float = 1.0,
) -> Designed:
    return search(Goal(spec, False, (), budget_s, 0), player, judge, watch, should_stop)


def test_a_search_ends_with_its_time_and_tells_how_it_went(player: Player, judge: Judge) -> None:
    watch = Watch()
    found = designed(player, judge, watch)
    assert found.seconds >= 1.0 or found.found.outcome.solved
    assert found.attempts >= BOARDS
    assert watch.compiled == ["the policy", "the search"]
    attempts = [heard[1] for heard in watch.heard]
    assert attempts == sorted(attempts)
    assert watch.heard[-1][2] == judge.best.outcome.rate
    validate(layout_of(SPEC, found.found.order))


def test_it_can_be_stopped_between_two_moves(player: Player, judge: Judge) -> None:
    watch = Watch()
    found = designed(player, judge, watch, lambda: len(watch.heard) >= 2, budget_s=100.0)
    assert len(watch.heard) == 3
    assert found.attempts == BOARDS


def test_a_start_that_meets_the_target_needs_no_attempt(player: Player) -> None:
    judge = Judge(SPEC, FULL_START, threads=1)
    goal = Goal(SPEC, False, FULL_START, 100.0, 0)
    found = search(goal, player, judge, Watch(), lambda: False)
    judge.close()
    assert found.found.outcome.rate == Fraction(15, 16)
    assert found.attempts == 0


def test_a_met_target_ends_it(player: Player, judge: Judge) -> None:
    # From all but one piece of the reference a few random attempts find the last one.
    start = FULL_START[:-1]
    low = replace(SPEC, target_rate=Fraction(1, 100))
    own = Judge(low, start, threads=1)
    found = search(Goal(low, False, start, 30.0, 0), player, own, Watch(), lambda: False)
    own.close()
    assert found.found.outcome.solved
    assert found.seconds < 30.0
    assert set(start) <= set(found.found.order)


def test_no_search_begins_that_cannot_end_in_time(player: Player, judge: Judge) -> None:
    watch = Watch()

    class Slow(Player):
        """As `player`, with moves of the policy that take long enough to foresee the search's."""

        def __init__(self) -> None:
            vars(self).update(vars(player))
            self.searched = 0

        def move(self, played: Round, moment, key):
            time.sleep(0.05)
            self.searched += played.use_search
            return super().move(played, moment, key)

    slow = Slow()
    slow.num_simulations = 1000
    goal = Goal(replace(SPEC, target_rate=Fraction(15)), False, (), 3.0, 0)
    own = Judge(goal.spec, (), threads=1)
    found = search(goal, slow, own, watch, lambda: False)
    own.close()
    assert slow.searched == 0
    assert found.attempts > 0
    assert found.seconds < 4.0
