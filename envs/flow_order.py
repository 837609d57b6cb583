"""The order in which items flow through a layout: what feeds what, and a random flow order.

In: a task and its placements. Out: for each placement the one that feeds it, or the placements in
a random topological order of the recipe graph: source belts, input arms with their machine, then,
when all inputs of a machine stand, what comes after it. Every prefix of it is legal under the
growth rule, since a placement touches what feeds it. Jax-free.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from envs.item_flow import item_flow
from envs.random_draw import below, shuffled
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, TaskSpec, layout_of

NO_FEEDER = -1
"""Feeder of a placement that a port feeds, or nothing does."""


def feeders(spec: TaskSpec, placements: Sequence[Placement]) -> tuple[int, ...]:
    """For each placement the first one of those before it that hands items to it.

    A belt is fed by the belt or arm that hands to it, an arm by what stands on its pickup cell,
    a machine by the first arm that drops into it; NO_FEEDER where a port or nothing does.
    """
    graph = _graph(spec, placements)
    fed_by_ports = {number for takers in graph.of_sources for number in takers}
    found = []
    for number in range(len(placements)):
        before = [giver for giver in graph.givers[number] if giver < number]
        found.append(NO_FEEDER if number in fed_by_ports or not before else min(before))
    return tuple(found)


def path_lengths(spec: TaskSpec, placements: Sequence[Placement]) -> tuple[int, ...]:
    """For each placement how many lie on the longest way to it from a port, itself included.

    A loop, which no flow order has, is gone round once.
    """
    givers = _graph(spec, placements).givers
    lengths: dict[int, int] = {}

    def length(number: int) -> int:
        if number not in lengths:
            lengths[number] = 0
            lengths[number] = 1 + max(map(length, givers[number]), default=0)
        return lengths[number]

    return tuple(map(length, range(len(placements))))


def flow_order(
    rng: np.random.Generator, spec: TaskSpec, placements: Sequence[Placement]
) -> list[Placement] | None:
    """The placements in a random flow order; None where one of them is never fed."""
    graph = _graph(spec, placements)
    # Arms into a machine that still have to stand before anything leaves it.
    inputs_left = [
        len(givers) if put.kind == MACHINE else 0
        for put, givers in zip(placements, graph.givers, strict=True)
    ]
    order: list[int] = []
    seen: set[int] = set()

    def open_takers(number: int) -> list[int]:
        """Those that a placement makes ready; the last one is to be placed first."""
        ready = []
        for taker in graph.takers[number]:
            if placements[taker].kind == MACHINE:
                inputs_left[taker] -= 1
                if inputs_left[taker] == 0 and taker in seen:
                    ready += graph.takers[taker]
            if placements[number].kind != MACHINE or inputs_left[number] == 0:
                ready.append(taker)
        ranked = shuffled(rng, [taker for taker in ready if taker not in seen])
        return sorted(ranked, key=lambda taker: _RANK[placements[taker].kind])

    for takers in shuffled(rng, graph.of_sources):
        stack = shuffled(rng, sorted(takers, key=lambda taker: _RANK[placements[taker].kind]))
        stack.sort(key=lambda taker: _RANK[placements[taker].kind])
        while stack:
            number = _pop(rng, stack, placements)
            if number in seen:
                continue
            seen.add(number)
            order.append(number)
            stack += open_takers(number)
    return [placements[number] for number in order] if len(order) == len(placements) else None


def _pop(rng: np.random.Generator, stack: list[int], placements: Sequence[Placement]) -> int:
    """The next placement: the last of the stack, or any of the arms at its end."""
    arms = 0
    while arms < len(stack) and placements[stack[-1 - arms]].kind == INSERTER:
        arms += 1
    return stack.pop(-1 - below(rng, arms) if arms else -1)


_RANK = {INSERTER: 0, BELT: 1, MACHINE: 2}
"""A machine follows its arm at once, a belt is laid to its end before arms take from it."""


class _Graph(NamedTuple):
    """Who hands items to whom among placements; what each source feeds."""

    takers: list[list[int]]
    givers: list[list[int]]
    of_sources: list[list[int]]


def _graph(spec: TaskSpec, placements: Sequence[Placement]) -> _Graph:
    flow = item_flow(layout_of(spec, placements).entities)
    first = len(spec.ports)

    def numbers(entities: Sequence[int]) -> list[int]:
        return [entity - first for entity in entities if entity >= first]

    return _Graph(
        takers=[numbers(after) for after in flow.after[first:]],
        givers=[numbers(before) for before in flow.before[first:]],
        of_sources=[
            numbers(after)
            for port, after in zip(spec.ports, flow.after[:first], strict=True)
            if not port.is_sink
        ],
    )
