"""Random tasks before they have a target: ports, blocked cells, machines and who feeds whom.

Flow: random numbers, a family -> `Draft` -> construction of a reference, which gives the task its
target. The numbers of arms come from `arm_counts`. Jax-free.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from envs.arm_counts import ArmGroup, draw_arm_counts
from envs.catalogue import RECIPES
from envs.families import MAX_SOURCES, Family, Link
from envs.layout import DIRECTION_VECTORS
from envs.random_draw import below, chosen, shuffled
from envs.task_spec import Port

INWARD_CHANCE = 0.5
"""Share of sources that flow into the grid and of sinks that flow out; others run along it."""

ONE_LANE_CHANCE = 0.3
"""Share of single-item sources that feed only one of their lanes."""

SHARED_SOURCE_CHANCE = 0.5
"""Share of source pairs that become one source with one item per lane."""

OWN_SOURCE_CHANCE = 0.25
"""Share of tasks in which stages that use the same raw item get a source each."""


@dataclass(frozen=True)
class Draft:
    """A task without target.

    Attributes:
        ports: sources, then the sink.
        blocked: cells (x, y), sorted.
        machines: recipe slot of each machine, in the order of the stages.
        groups: arms between machines and belt networks. Network i is fed by source i; then come
            one network per stage that hands on by belt, and the sink's.
    """

    ports: tuple[Port, ...]
    blocked: tuple[tuple[int, int], ...]
    machines: tuple[int, ...]
    groups: tuple[ArmGroup, ...]

    @property
    def num_networks(self) -> int:
        """Belt networks, whether or not they need belts."""
        return 1 + max(group.network for group in self.groups if group.network is not None)


@dataclass(frozen=True)
class _Source:
    """Items of one source by lane, and the stages that take each."""

    left: str | None
    right: str | None
    takers: tuple[tuple[int, str], ...]


def draw_draft(
    rng: np.random.Generator,
    width: int,
    height: int,
    family: Family,
    counts: tuple[int, ...],
    min_blocked: int,
    max_blocked: int,
) -> Draft | None:
    """A random task of a family with so many machines per stage.

    None where two ports came too close to each other.
    """
    machines = tuple(slot for slot, count in enumerate(counts) for _ in range(count))
    sources = _draw_sources(rng, family)
    groups = draw_arm_counts(rng, family, machines, _connections(family, machines, sources))
    ports = [
        _draw_port(rng, width, height, source.left, source.right, family.inner_ports)
        for source in sources
    ]
    product = family.product
    ports.append(_draw_port(rng, width, height, product, product, family.inner_ports, is_sink=True))
    fronts = [port.front for port in ports[:-1]]
    taken = [(port.x, port.y) for port in ports] + fronts
    if len(set(taken)) < len(taken):
        return None
    free = [(x, y) for y in range(height) for x in range(width) if (x, y) not in taken]
    amount = min(min_blocked + below(rng, max_blocked - min_blocked + 1), len(free))
    blocked = sorted(shuffled(rng, free)[:amount]) if amount else []
    return Draft(tuple(ports), tuple(blocked), machines, groups)


def _draw_sources(rng: np.random.Generator, family: Family) -> list[_Source]:
    """Sources for all raw items of a family, at most MAX_SOURCES."""
    wants = [
        (stage, item)
        for stage, name in enumerate(family.recipes)
        for item, _ in RECIPES[name].ingredients
        if item in family.raw_items
    ]
    own = rng.random() < OWN_SOURCE_CHANCE
    supplies: dict[tuple[str, int], list[tuple[int, str]]] = {}
    for stage, item in wants:
        supplies.setdefault((item, stage if own else 0), []).append((stage, item))
    waiting = shuffled(rng, list(supplies.items()))
    sources = []
    while waiting:
        (item, _), takers = waiting.pop()
        others = [entry for entry in waiting if entry[0][0] != item]
        must_share = len(sources) + 1 + len(waiting) > MAX_SOURCES
        if others and (must_share or rng.random() < SHARED_SOURCE_CHANCE):
            other = others[-1]
            waiting.remove(other)
            sources.append(_Source(item, other[0][0], (*takers, *other[1])))
        else:
            lanes = (item, item)
            if rng.random() < ONE_LANE_CHANCE:
                lanes = chosen(rng, ((item, None), (None, item)))
            sources.append(_Source(*lanes, tuple(takers)))
    return sources


def _connections(
    family: Family, machines: tuple[int, ...], sources: Sequence[_Source]
) -> list[ArmGroup]:
    """Groups of one arm each: who takes from or hands to whom."""
    of_stage = [
        [number for number, slot in enumerate(machines) if slot == stage]
        for stage in range(len(family.recipes))
    ]
    groups = []
    for network, source in enumerate(sources):
        for stage in dict.fromkeys(stage for stage, _ in source.takers):
            items = tuple(item for of, item in source.takers if of == stage)
            groups += [ArmGroup(None, number, network, items) for number in of_stage[stage]]
    networks = len(sources)
    for stage, name in enumerate(family.recipes[:-1]):
        taking = [
            number
            for other, taker in enumerate(family.recipes)
            if name in dict(RECIPES[taker].ingredients)
            for number in of_stage[other]
        ]
        if family.link is Link.DIRECT:
            groups += [
                ArmGroup(giver, taker, None, (name,))
                for giver, taker in _pairs(of_stage[stage], taking)
            ]
            continue
        groups += [ArmGroup(giver, None, networks, (name,)) for giver in of_stage[stage]]
        groups += [ArmGroup(None, taker, networks, (name,)) for taker in taking]
        networks += 1
    return groups + [ArmGroup(giver, None, networks, (family.product,)) for giver in of_stage[-1]]


def _pairs(givers: Sequence[int], takers: Sequence[int]) -> list[tuple[int, int]]:
    """Direct links that use every giver and every taker."""
    longer = max(len(givers), len(takers))
    return [(givers[i % len(givers)], takers[i % len(takers)]) for i in range(longer)]


def _draw_port(
    rng: np.random.Generator,
    width: int,
    height: int,
    left: str | None,
    right: str | None,
    inside: bool,
    is_sink: bool = False,
) -> Port:
    if inside:
        x, y = 1 + below(rng, width - 2), 1 + below(rng, height - 2)
        return Port(x, y, below(rng, 4), is_sink, left, right)
    x, y = chosen(rng, _border(width, height))
    outward = [d for d in range(4) if not _inside(x, y, d, width, height)]
    inward = [(d + 2) % 4 for d in outward]
    along = [d for d in range(4) if d not in outward and d not in inward]
    through = outward if is_sink else inward
    direction = chosen(rng, through if not along or rng.random() < INWARD_CHANCE else along)
    return Port(x, y, direction, is_sink, left, right)


@lru_cache
def _border(width: int, height: int) -> tuple[tuple[int, int], ...]:
    edge_x, edge_y = (0, width - 1), (0, height - 1)
    return tuple((x, y) for y in range(height) for x in range(width) if x in edge_x or y in edge_y)


def _inside(x: int, y: int, direction: int, width: int, height: int) -> bool:
    dx, dy = DIRECTION_VECTORS[direction]
    return 0 <= x + dx < width and 0 <= y + dy < height
