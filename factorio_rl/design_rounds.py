"""How the attempts of each round differ: policy or search, noise, told target, what stands already.

In: the number of the round and the best layout so far. Out: a `Round`. Samples of the policy cost
a fortieth of a search's moves, and many different attempts find more than a few good ones, so the
policy comes first; later both get the same time. A target far from what an agent saw in training
misleads it, so half of the boards are told one that is closer to what has been reached.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from envs.geometry import NUM_ROTATIONS
from factorio_rl.design_judge import Found
from factorio_rl.design_play import Order, Round

FIRST_POLICY_ROUNDS = 2
FIRST_POLICY_SHARE = 0.4
"""At least so many rounds, and this share of the time budget, are the policy's alone."""

NOISE_SCALES = (1.0, 0.7, 1.4)
"""Scale of the Gumbel noise, round by round; 1 samples the policy as it is."""

STEPS_ABOVE_BEST = (Fraction(5, 4), Fraction(1), Fraction(3, 2), Fraction(2))
"""Told targets as multiples of the best rate."""

REBUILD_EVERY = 3
"""Every third round of a kind begins from parts of the best layout."""

MAX_DENOMINATOR = 10_000


@dataclass(frozen=True)
class TimeUse:
    """Seconds and rounds that the policy and the search had."""

    policy_s: float = 0.0
    search_s: float = 0.0
    policy_rounds: int = 0
    search_rounds: int = 0

    def after(self, use_search: bool, seconds: float) -> "TimeUse":
        """With one round more."""
        if use_search:
            return replace(
                self, search_s=self.search_s + seconds, search_rounds=self.search_rounds + 1
            )
        return replace(self, policy_s=self.policy_s + seconds, policy_rounds=self.policy_rounds + 1)

    def turn_of_search(self, budget_s: float) -> bool:
        """Whether the next round is one of searches."""
        first_over = (
            self.policy_rounds >= FIRST_POLICY_ROUNDS
            and self.policy_s >= FIRST_POLICY_SHARE * budget_s
        )
        return first_over and self.search_s <= self.policy_s


def plan_round(
    number: int,
    *,
    use_search: bool,
    num_boards: int,
    start: Order,
    best: Found,
    target: Fraction,
    target_is_bound: bool,
    seed: int,
) -> Round:
    """The round `number` of its kind, from 0 on."""
    # All turns of the task with one noise and one told target are a group.
    groups = [board // NUM_ROTATIONS for board in range(num_boards)]
    noise = [NOISE_SCALES[number % len(NOISE_SCALES)]] * num_boards
    if number == 0:
        noise[:NUM_ROTATIONS] = [0.0] * len(noise[:NUM_ROTATIONS])
    told = [_told(group, number, best, target, target_is_bound) for group in groups]
    starts = [start] * num_boards
    if number % REBUILD_EVERY == REBUILD_EVERY - 1 and len(best.order) > len(start):
        random = np.random.default_rng([seed, number, use_search])
        lengths = random.integers(len(start), len(best.order), num_boards)
        starts = [best.order[:length] for length in lengths]
    return Round(use_search, tuple(noise), tuple(told), tuple(starts))


def _told(
    group: int, number: int, best: Found, target: Fraction, target_is_bound: bool
) -> Fraction:
    """The target that a group of boards is told."""
    is_eager = (group + number) % 2 == 0
    if not target_is_bound and (number == 0 or is_eager):
        return target
    rate, place = best.outcome.rate or Fraction(0), group // 2 + number
    # Without a functioning layout, or toward a bound, all sizes of target are tried.
    wanted = target / 2 ** (place % 6 + (not is_eager))
    if rate and (not is_eager or wanted <= rate):
        wanted = rate * STEPS_ABOVE_BEST[place % len(STEPS_ABOVE_BEST)]
    return max(min(target, wanted.limit_denominator(MAX_DENOMINATOR)), Fraction(1, MAX_DENOMINATOR))
