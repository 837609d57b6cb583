"""How close two scores must be before float32 may rank them the other way round.

In: the float64 statistics of a node. Out: the scores of its actions, each with the size of the
float32 rounding in it, so that a choice of a search can be judged: the best action, a near tie, or
wrong. A near tie is a gap of at most `ROUNDINGS` of those sizes, so it shrinks with the scores; one
bound for all would excuse any order of a thousand actions with a thousandth of the prior each.
Measured on the lean tree, an error of a value or weight is at most 1.1 times the size stated here.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.literal_search import (
    LOW_SCORE,
    LOWEST,
    TINY,
    Floats,
    Statistics,
    interior_scores,
    root_scores,
    softmax,
)

UNIT = 2.0**-24  # half the distance of 1 from the next float32
ROUNDINGS = 4.0
IN_SOFTMAX = 4  # roundings of a probability: its power twice, the sum, the division
FINAL = 0


class Scores(NamedTuple):
    """`values` `[A]` of the actions; `bounds` `[A]`: the largest gap to the best of a near tie."""

    values: Floats
    bounds: Floats


class Choice(NamedTuple):
    """One decision of a search: `taken`, and what float64 says is `best`, at `gap` above it.

    `simulation` counts from 1 (`FINAL`: the action to play), `depth` from the root's 0. `bound` is
    the largest gap of a near tie between the two, and negative if an action before `taken` has the
    same score.
    """

    simulation: int
    depth: int
    taken: int
    best: int
    gap: float
    bound: float

    @property
    def is_wrong(self) -> bool:
        return not self.gap <= self.bound

    def __str__(self) -> str:
        where = f"simulation {self.simulation}, depth {self.depth}"
        if self.simulation == FINAL:
            where = "at the end"
        reason = f"gap {self.gap:.2e}, near ties end at {self.bound:.2e}"
        if self.bound < 0:
            reason = "an action before it has the same score"
        return f"{where}: took action {self.taken}, float64 takes {self.best}, {reason}"


def logit_noise(known: Statistics) -> Floats:
    """The size of the rounding in the improved policy's logits, `[A]`.

    A running mean of `n` returns gathers about `sqrt(n)` roundings, and the mixed value about one.
    Without any visit there is nothing to mix, and all Q-values are the same number.
    """
    # The mark of an illegal action is so low that float32 cannot change it.
    prior_logits = np.where(known.prior_logits > LOWEST, known.prior_logits, 0.0)
    logits = prior_logits + known.completed
    in_sums = np.abs(prior_logits) + np.abs(logits) + np.abs(logits - logits.max())
    num_returns = np.maximum(known.visits, known.visits.any())
    in_means = known.gain * np.abs(known.qvalues).max() * np.sqrt(num_returns)
    return UNIT * (in_sums + in_means)


def score_interior(known: Statistics) -> Scores:
    values, policy = interior_scores(known), softmax(known.logits)
    best = int(np.argmax(values))
    share = known.visits / (1 + known.visits.sum())
    # To first order, the policy moves by `policy * (d - (policy * d).sum())` if logits move by `d`.
    moves = policy * logit_noise(known)
    apart = policy - policy[best]
    others = np.maximum(moves.sum() - moves - moves[best], 0.0)
    noise = moves * np.abs(1 - apart) + moves[best] * np.abs(1 + apart) + np.abs(apart) * others
    in_scores = UNIT * (IN_SOFTMAX * (policy + policy[best]) + share + share[best])
    return Scores(values, ROUNDINGS * (noise + in_scores))


def score_root(known: Statistics, gumbel: Floats, legal: NDArray[np.bool_], visits: int) -> Scores:
    """Scores of the root's legal actions with so many visits; the others have -inf."""
    values = root_scores(known, gumbel, legal, visits)
    noise = logit_noise(known) + UNIT * np.abs(gumbel)
    noise = np.where(values > LOW_SCORE, noise, 0.0)
    return Scores(values, ROUNDINGS * (noise + noise[np.argmax(values)]))


def policy_bounds(known: Statistics) -> Floats:
    """The largest error `[A]` that rounding leaves in the improved policy."""
    policy = softmax(known.logits)
    moves = policy * logit_noise(known)
    noise = (1 - policy) * moves + policy * (moves.sum() - moves)
    return ROUNDINGS * (noise + UNIT * IN_SOFTMAX * policy + TINY)


def judge(scores: Scores, taken: int, simulation: int, depth: int) -> Choice:
    """Compares the action that a search took with the best one.

    Actions with equal scores have equal inputs (flat or masked priors), which float32 cannot tell
    apart either; hence the first of them is the only right one.
    """
    best = int(np.argmax(scores.values))
    is_first = int(np.argmax(scores.values == scores.values[taken])) == taken
    bound = float(scores.bounds[taken]) if is_first else -1.0
    return Choice(simulation, depth, taken, best, float(_gaps(scores)[taken]), bound)


def near_best(scores: Scores) -> list[int]:
    """The actions that float32 could have taken, the best one first."""
    gaps = _gaps(scores)
    near = np.flatnonzero(gaps <= scores.bounds)
    near = near[np.argsort(gaps[near], kind="stable")]
    _, first = np.unique(scores.values[near], return_index=True)
    return [int(near[index]) for index in sorted(first)]


def _gaps(scores: Scores) -> Floats:
    """How far `[A]` the scores are below the best one; 0 for all where none is legal."""
    best = scores.values.max()
    gaps = np.zeros_like(scores.values)
    return np.subtract(best, scores.values, out=gaps, where=scores.values != best)
