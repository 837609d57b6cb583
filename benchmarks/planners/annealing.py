"""Simulated annealing over sets of placements.

Energy counts pieces: what is missing while nothing can arrive, and below zero the verified score.
While pieces are missing the temperature stays; above score 0 it falls with the budget. A chain
that does not get anything to arrive begins anew.

Tried on training tasks (20 of one machine on 8x8, 20 on 12x12; 14 of as many multi-stage families
on 12x12), mean score after 1,000 calls: guided temperature 0.3, 0.6, 1.0: 0.62, 0.65, 0.50 on
multi-stage tasks; hottest 2, 1, 0.5, 0.3: 0.96, 0.94, 0.96, 0.94 on 8x8 and 0.87, 0.87, 0.87, 0.86
on 12x12; 10, 20, 40 pieces per score: 0.66, 0.65, 0.66; a new chain after 1,500, 3,000, 6,000 looks
or never: 0.44, 0.48, 0.69, 0.65. With so few tasks differences below 0.1 are chance. What helped
most was no setting: guidance that follows each machine's own links, no call for layouts whose
working parts are known, and arms only where something stands at their far end (together 0.38 to
0.67 after 100 calls on 12x12).
"""

from math import exp
from random import Random

from benchmarks.planners.judge import Judge, Judged
from benchmarks.planners.moves import mutate
from benchmarks.planners.site import Plan

GUIDED = 0.6
"""Temperature in pieces while nothing arrives."""

HOTTEST, COLDEST = 0.5, 0.1
"""Temperatures in pieces once something arrives, at the start and at the end of the budget."""

PIECES_PER_SCORE = 20.0
"""Pieces that weigh as much as a whole score."""

STUCK = 0.5
"""Energy of a layout through which the product could pass and does not."""

CHAIN_LOOKS = 6_000
"""Looks after which a chain without any arrival begins anew."""


def search(judge: Judge, rng: Random) -> None:
    """Anneals until the budget is spent."""
    while not judge.done:
        _anneal(judge, rng)


def _anneal(judge: Judge, rng: Random) -> None:
    """One chain from empty."""
    began = judge.looks
    plan: Plan = ()
    energy = _energy(judge.judge(plan))
    while not judge.done and (energy < 0 or judge.looks - began < CHAIN_LOOKS):
        cooled = HOTTEST * (COLDEST / HOTTEST) ** judge.spent
        temperature = cooled if energy < 0 else GUIDED
        changed = mutate(judge.site, plan, rng)
        risen = _energy(judge.judge(changed)) - energy
        if risen <= 0 or rng.random() < exp(-risen / temperature):
            plan, energy = changed, energy + risen


def _energy(judged: Judged) -> float:
    """Below zero exactly if something arrives."""
    if judged.score > 0:
        return -PIECES_PER_SCORE * judged.score
    return STUCK - judged.nearness
