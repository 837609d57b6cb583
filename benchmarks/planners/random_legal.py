"""Random legal episodes, the best of them: what the action space gives away for nothing.

An episode draws its length evenly from 1 to the placement limit, then each placement evenly from
the legal ones. Every episode is one call of the verifier, also where nothing can arrive.
"""

from random import Random

from benchmarks.planners.judge import Judge
from benchmarks.planners.site import Ground, Plan, Site
from envs.actions import decode


def search(judge: Judge, rng: Random) -> None:
    """Plays episodes until the budget is spent."""
    while not judge.done:
        judge.verify(random_plan(judge.site, rng))


def random_plan(site: Site, rng: Random) -> Plan:
    """The placements of one random episode."""
    ground = Ground(site)
    plan = []
    for _ in range(rng.randint(1, site.spec.placement_limit)):
        legal = ground.legal()
        if not len(legal):
            break
        put = decode(int(rng.choice(legal)), site.spec.height, site.spec.width)
        ground.put(put)
        plan.append(put)
    return tuple(plan)
