"""Fewest poles that cover every consumer and hang together: a greedy search. Jax-free.

In: the sites where poles of one kind may stand and the consumers that each would cover. Out: the
chosen sites, connected by wires within reach, or None. The search grows one network: it takes the
reachable site that covers most of what is left, and where none covers anything it walks to the
next consumer in the fewest hops; poles that turn out to be needless are dropped.
"""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

Tile = tuple[int, int]


@dataclass(frozen=True)
class PoleSites:
    """Where poles of one kind may stand.

    Attributes:
        sites: top-left tile of each possible pole, without repeats.
        size: side of a pole's square footprint, tiles.
        reach: longest wire between two poles, tiles between centres.
        covered: for each site the numbers of the consumers that it would cover.
        consumers: centre (x, y) of each consumer, tiles, on the scale of the sites' top-left tiles.
    """

    sites: Sequence[Tile]
    size: int
    reach: int
    covered: Sequence[Sequence[int]]
    consumers: Sequence[tuple[float, float]]


def connected_cover(problem: PoleSites, starts: Sequence[int]) -> list[int] | None:
    """The smallest connected cover found from any of the starting sites, then the most central.

    Returns:
        Site numbers in ascending order; None if no start leads to a cover.
    """
    shared = _Shared(problem)
    orders = (False, True) if len(starts) > 1 else (True,)
    covers = [_Network(shared, start, far).grow() for start in starts for far in orders]
    found = [cover for cover in covers if cover is not None]
    middle = [sum(axis) / len(axis) for axis in zip(*problem.consumers, strict=True)]

    def size_and_spread(cover: list[int]) -> tuple[int, float]:
        return len(cover), sum(math.dist(problem.sites[site], middle) for site in cover)

    return min(found, key=size_and_spread) if found else None


class _Shared:
    """What every network of one problem reads: neighbourhood, lookup and coverage tables."""

    def __init__(self, problem: PoleSites) -> None:
        self.problem = problem
        self.number = {site: number for number, site in enumerate(problem.sites)}
        span = range(-problem.reach, problem.reach + 1)
        self.hops = [
            (dx, dy)
            for dy in span
            for dx in span
            if dx * dx + dy * dy <= problem.reach**2 and max(abs(dx), abs(dy)) >= problem.size
        ]
        close = range(1 - problem.size, problem.size)
        self.links: dict[int, list[int]] = {}
        self.overlaps = [(dx, dy) for dy in close for dx in close]
        self.coverers: list[list[int]] = [[] for _ in problem.consumers]
        for site, consumers in enumerate(problem.covered):
            for consumer in consumers:
                self.coverers[consumer].append(site)

    def linked(self, site: int) -> list[int]:
        """The sites that a wire from this one reaches and that it does not overlap."""
        if site not in self.links:
            x, y = self.problem.sites[site]
            tiles = ((x + dx, y + dy) for dx, dy in self.hops)
            self.links[site] = [self.number[tile] for tile in tiles if tile in self.number]
        return self.links[site]

    def overlapping(self, site: int) -> list[int]:
        """The sites, itself among them, on which a pole would overlap one on this site."""
        x, y = self.problem.sites[site]
        tiles = ((x + dx, y + dy) for dx, dy in self.overlaps)
        return [self.number[tile] for tile in tiles if tile in self.number]


class _Network:
    """One network of poles, grown from a starting site.

    Of sites that cover equally many consumers, those far from the start go first, or those near.
    """

    def __init__(self, shared: _Shared, start: int, far: bool) -> None:
        self.shared = shared
        self.start = start
        self.sign = -1 if far else 1
        self.gains = [len(consumers) for consumers in shared.problem.covered]
        self.uncovered = set(range(len(shared.problem.consumers)))
        self.chosen: list[int] = []
        self.blocked: set[int] = set()
        self.reached: set[int] = set()
        self.queue: list[tuple[int, int, int]] = []

    def grow(self) -> list[int] | None:
        """Adds poles until every consumer is covered; None if one cannot be reached."""
        middle = self.shared.problem.sites[self.start]
        centres = self.shared.problem.consumers
        outward = sorted(self.uncovered, key=lambda number: math.dist(middle, centres[number]))
        self._add(self.start)
        for consumer in outward:
            while consumer in self.uncovered:
                best = self._best_site()
                sites = [best] if best is not None else self._walk(consumer)
                if not sites:
                    return None
                for site in sites:
                    self._add(site)
        return sorted(self._without_needless())

    def _add(self, site: int) -> None:
        self.chosen.append(site)
        self.blocked.update(self.shared.overlapping(site))
        for consumer in self.uncovered.intersection(self.shared.problem.covered[site]):
            self.uncovered.remove(consumer)
            for other in self.shared.coverers[consumer]:
                self.gains[other] -= 1
        for other in self.shared.linked(site):
            if other not in self.reached:
                self.reached.add(other)
                heapq.heappush(self.queue, self._rank(other))

    def _rank(self, site: int) -> tuple[int, int, int]:
        x, y = self.shared.problem.sites[site]
        start_x, start_y = self.shared.problem.sites[self.start]
        return -self.gains[site], self.sign * ((x - start_x) ** 2 + (y - start_y) ** 2), site

    def _best_site(self) -> int | None:
        """The reachable free site that covers most; None if none covers anything."""
        while self.queue:
            rank = self.queue[0]
            site = rank[2]
            if rank[0] != -self.gains[site]:
                heapq.heapreplace(self.queue, self._rank(site))
            elif site in self.blocked:
                heapq.heappop(self.queue)
            else:
                return site if self.gains[site] else None
        return None

    def _walk(self, consumer: int) -> list[int]:
        """The fewest further poles from the nearest one to a consumer (A*); empty if none."""
        goal = self.shared.problem.consumers[consumer]
        goal_sites = set(self.shared.coverers[consumer])
        sites, reach = self.shared.problem.sites, self.shared.problem.reach
        source = min(self.chosen, key=lambda site: (math.dist(sites[site], goal), site))
        came_from = {source: source}
        queue = [(math.dist(sites[source], goal), source, 0)]
        while queue:
            _, site, hops = heapq.heappop(queue)
            if site in goal_sites:
                return _path(came_from, site)
            for other in self.shared.linked(site):
                if other not in came_from and other not in self.blocked:
                    came_from[other] = site
                    estimate = (hops + 1) * reach + math.dist(sites[other], goal)
                    heapq.heappush(queue, (estimate, other, hops + 1))
        return []

    def _without_needless(self) -> set[int]:
        """The poles less those whose removal leaves a connected cover; latest tried first."""
        kept = set(self.chosen)
        covered = self.shared.problem.covered
        counts = [0] * len(self.shared.coverers)
        for site in kept:
            for consumer in covered[site]:
                counts[consumer] += 1
        for site in reversed(self.chosen):
            needed = any(counts[consumer] == 1 for consumer in covered[site])
            if not needed and self._connected(kept - {site}):
                kept.remove(site)
                for consumer in covered[site]:
                    counts[consumer] -= 1
        return kept

    def _connected(self, sites: set[int]) -> bool:
        left = set(sites)
        stack = [left.pop()]
        while stack:
            linked = left.intersection(self.shared.linked(stack.pop()))
            left -= linked
            stack.extend(linked)
        return not left


def _path(came_from: dict[int, int], site: int) -> list[int]:
    """The sites from the one after the source to `site`, in order."""
    path: list[int] = []
    while came_from[site] != site:
        path.append(site)
        site = came_from[site]
    return path[::-1]
