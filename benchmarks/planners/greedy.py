"""Greedy building: always the legal action after which the layout is worth most.

Worth is the verified rate, then how few pieces are missing, then chance. A build ends where no
action makes the layout better; what is left of the budget goes into further builds, which differ
by chance alone.
"""

from random import Random

from benchmarks.planners.judge import Judge
from benchmarks.planners.site import Ground, Plan
from envs.actions import decode


def search(judge: Judge, rng: Random) -> None:
    """Builds again and again until the budget is spent."""
    while not judge.done:
        _build(judge, rng)


def _build(judge: Judge, rng: Random) -> None:
    """Builds one layout."""
    height, width = judge.site.spec.height, judge.site.spec.width
    ground = Ground(judge.site)
    plan: Plan = ()
    worth = judge.judge(plan)
    while len(plan) < judge.site.spec.placement_limit:
        legal = [decode(int(action), height, width) for action in ground.legal()]
        rng.shuffle(legal)
        best, best_put = worth, None
        for put in legal:
            if judge.done:
                return
            judged = judge.judge((*plan, put))
            if judged > best:
                best, best_put = judged, put
        if best_put is None:
            return
        plan, worth = (*plan, best_put), best
        ground.put(best_put)
