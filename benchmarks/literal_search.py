"""The formulas of Gumbel MuZero search for one position, in float64 and as they are published.

Danihelka et al., "Policy improvement by planning with Gumbel" (ICLR 2022), with the constants and
the order of operations of `mctx`. Written to check other searches, so it shares nothing with them
but the settings, and prefers plainness to speed. In: nodes with their statistics. Out: the scores
of all actions, `[A]`.
"""

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from factorio_rl.search import SearchSettings

Floats = NDArray[np.float64]

# mctx clamps by the range of its own floats, which are narrower than these.
TINY = float(np.finfo(np.float32).tiny)
LOWEST = float(np.finfo(np.float32).min)
# The score of an action that is legal at the root but has no prior.
LOW_SCORE = -1e9


@dataclass
class Node:
    """A position in the tree. `reward` and `discount` belong to the edge into it."""

    index: int
    reward: float
    discount: float
    raw_value: float
    prior_logits: Floats
    value: float
    visits: int = 1
    children: dict[int, "Node"] = field(default_factory=dict)


class Statistics(NamedTuple):
    """What a node knows about its actions, `[A]` each.

    `qvalues` holds the mixed value where an action has no visit; `completed` is what they add to
    the logits, and grows by `gain` where a Q-value grows by 1.
    """

    prior_logits: Floats
    visits: Floats
    qvalues: Floats
    gain: float
    completed: Floats

    @property
    def logits(self) -> Floats:
        """Those of the improved policy."""
        return self.prior_logits + self.completed


def softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def mask_illegal(logits: Floats, legal: NDArray[np.bool_]) -> Floats:
    """Logits with a maximum of 0, and the lowest float32 on illegal actions."""
    return np.where(legal, logits - logits.max(), LOWEST)


def mixed_value(node: Node, visits: Floats, qvalues: Floats) -> float:
    """The raw value, and the Q-values of visited actions weighted by their priors (appendix D)."""
    visited = visits > 0
    if not visited.any():
        return node.raw_value
    priors = np.maximum(softmax(node.prior_logits)[visited], TINY)
    weighted = (priors * qvalues[visited]).sum() / priors.sum()
    return (node.raw_value + visits.sum() * weighted) / (visits.sum() + 1)


def statistics(node: Node, settings: SearchSettings) -> Statistics:
    visits, qvalues = np.zeros((2, len(node.prior_logits)))
    for action, child in node.children.items():
        visits[action] = child.visits
        qvalues[action] = child.reward + child.discount * child.value
    unvisited = node.raw_value
    if settings.use_mixed_value:
        unvisited = mixed_value(node, visits, qvalues)
    qvalues[visits == 0] = unvisited

    gain = (settings.maxvisit_init + visits.max()) * settings.value_scale
    lowest = 0.0
    if settings.rescale_values:
        lowest = qvalues.min()
        gain /= max(qvalues.max() - lowest, settings.epsilon)
    return Statistics(node.prior_logits, visits, qvalues, gain, gain * (qvalues - lowest))


def interior_scores(known: Statistics) -> Floats:
    """Highest where a visit brings the visits nearest to the improved policy (section 5)."""
    return softmax(known.logits) - known.visits / (1 + known.visits.sum())


def root_scores(known: Statistics, gumbel: Floats, legal: NDArray[np.bool_], visits: int) -> Floats:
    """`gumbel + logits + q` of the legal actions that have just so many visits, -inf of others."""
    # The maximum comes off first: if it is as low as the marks of illegal actions, they vanish.
    shifted = known.prior_logits - known.prior_logits.max()
    scores = np.maximum(LOW_SCORE, gumbel + shifted + known.completed)
    return np.where(legal & (known.visits == visits), scores, -np.inf)


def considered_visits(num_considered: int, num_simulations: int) -> list[int]:
    """The visits that the root's action must have in each simulation, by Sequential Halving."""
    if num_considered <= 1:
        return list(range(num_simulations))
    num_phases = math.ceil(math.log2(num_considered))
    sequence: list[int] = []
    done = 0
    while len(sequence) < num_simulations:
        rounds = max(1, num_simulations // (num_phases * num_considered))
        for visits in range(done, done + rounds):
            sequence += [visits] * num_considered
        done += rounds
        num_considered = max(2, num_considered // 2)
    return sequence[:num_simulations]


def back_up(path: list[Node]) -> None:
    """Takes the value of the last node up to all nodes before it, in running means."""
    value = path[-1].value
    for node, child in reversed(list(pairwise(path))):
        value = child.reward + child.discount * value
        node.value = (node.value * node.visits + value) / (node.visits + 1)
        node.visits += 1
