"""How many items pass each belt lane, by conservation (R9, R10). Jax-free.

In: a plan and what was observed. Out: for each lane the items that went over its downstream edge,
exactly, also where stocks changed meanwhile.
"""

from collections.abc import Iterator

import numpy as np

from envs.verifier.observe import Observed
from envs.verifier.records import CONTINUE, NONE, SIDELOAD, Plan


def chain_lanes(plan: Plan) -> list[list[int]]:
    """For each chain of the plan its lane ids, front first."""
    behind = {}
    for lane in np.flatnonzero(plan.lanes["length"]):
        if plan.lanes["link"][lane] == CONTINUE:
            behind[int(plan.lanes["target"][lane])] = int(lane)
    chains = []
    for front in map(int, plan.chains["front"]):
        lanes, lane = [front], behind.get(front, front)
        while lane != front:
            lanes.append(lane)
            lane = behind.get(lane, front)
        chains.append(lanes)
    return chains


def _events(plan: Plan, seen: Observed) -> Iterator[tuple[int, int]]:
    """(lane, items that enter it other than from the lane behind); picks are negative."""
    for number, arm in enumerate(plan.arms):
        if arm["to_lane"] != NONE:
            yield int(arm["to_lane"]), int(seen.drops[number])
        if arm["from_lane"] != NONE:
            yield int(arm["from_lane"]), -int(seen.picks[number, 0])
            yield int(arm["from_lane"]) + 1, -int(seen.picks[number, 1])
    for number, chain in enumerate(plan.chains):
        if chain["source_item"] != NONE:
            yield int(chain["source_lane"]), int(seen.fed[number])
        front = plan.lanes[chain["front"]]
        if front["link"] == SIDELOAD:
            yield int(front["target"]), int(seen.left[number])


def lane_counts(plan: Plan, seen: Observed) -> dict[int, tuple[int, int]]:
    """For each lane id its chain's number and the items over its downstream edge."""
    gained: dict[int, int] = {}
    for lane, items in _events(plan, seen):
        gained[lane] = gained.get(lane, 0) + items
    counts = {}
    for number, lanes in enumerate(chain_lanes(plan)):
        # Behind an open chain's tail comes nothing; on a loop, what has gone round.
        passing = int(seen.left[number]) if plan.chains["is_loop"][number] else 0
        for lane in reversed(lanes):
            passing += gained.get(lane, 0) - int(seen.grown[lane])
            counts[lane] = number, passing
    return counts
