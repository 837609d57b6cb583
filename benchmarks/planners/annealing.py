"""Simulated annealing over sets of placements."""

from math import exp
from random import Random

from benchmarks.planners.judge import Judge, Judged
from benchmarks.planners.moves import mutate
from benchmarks.planners.site import Plan

HOTTEST, COLDEST = 1.0, 0.1
"""Temperatures in pieces, at the start and at the end."""

GUIDED = 0.6
RESTART = 10**9
PIECES_PER_SCORE = 20.0
"""Pieces that outweigh a whole score; a layout of score 0 never costs less than one above 0."""

STUCK = 0.5
"""Energy of a layout through which the product could pass and does not."""


def search(judge: Judge, rng: Random) -> None:
    """Anneals until the budget is spent."""
    plan, energy, began = (), _energy(judge.judge(())), judge.looks
    while not judge.done:
        if energy > 0 and judge.looks - began > RESTART:
            plan, energy, began = (), _energy(judge.judge(())), judge.looks
        temperature = HOTTEST * (COLDEST / HOTTEST) ** judge.spent if energy <= 0 else GUIDED
        changed = mutate(judge.site, plan, rng)
        risen = _energy(judge.judge(changed)) - energy
        if risen <= 0 or rng.random() < exp(-risen / temperature):
            plan, energy = changed, energy + risen


def _energy(judged: Judged) -> float:
    if judged.score > 0:
        return -PIECES_PER_SCORE * judged.score
    return STUCK - judged.nearness
