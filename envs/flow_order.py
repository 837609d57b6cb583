"""The order in which items flow through a layout: what feeds what, and a random flow order.

In: a task and its placements. Out: for each placement the one that feeds it, or the placements in
a random topological order of the recipe graph: source belts, input arms with their machine, then,
when all inputs of a machine stand, what comes after it. Every prefix of it is legal under the
growth rule, since a placement touches what feeds it. Jax-free.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from envs.layout import DIRECTION_VECTORS
from envs.random_draw import below, shuffled
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, TaskSpec

NO_FEEDER = -1
"""Feeder of a placement that a port feeds, or nothing does."""


def feeders(spec: TaskSpec, placements: Sequence[Placement]) -> tuple[int, ...]:
    """For each placement the first one of those before it that hands items to it.

    A belt is fed by the belt or arm that hands to it, an arm by what stands on its pickup cell,
    a machine by the first arm that drops into it; NO_FEEDER where a port or nothing does.
    """
    graph = _Graph(spec, placements)
    found = []
    for number in range(len(placements)):
        before = [giver for giver in graph.givers[number] if giver < number]
        fed_by_port = number in graph.fed_by_ports
        found.append(NO_FEEDER if fed_by_port or not before else min(before))
    return tuple(found)


def path_lengths(spec: TaskSpec, placements: Sequence[Placement]) -> tuple[int, ...]:
    """For each placement how many lie on the longest way to it from a port, itself included.

    A loop, which no flow order has, is gone round once.
    """
    givers = _Graph(spec, placements).givers
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
    graph = _Graph(spec, placements)
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

    for source in shuffled(rng, [port for port in spec.ports if not port.is_sink]):
        stack = shuffled(rng, graph.after_port(source.x, source.y))
        stack.sort(key=lambda number: _RANK[placements[number].kind])
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


class _Graph:
    """Who hands items to whom among placements and ports."""

    def __init__(self, spec: TaskSpec, placements: Sequence[Placement]) -> None:
        self._placements = placements
        self._at = {cell: number for number, put in enumerate(placements) for cell in put.cells()}
        self._sources = {
            (port.x, port.y): port.direction for port in spec.ports if not port.is_sink
        }
        self.takers: list[list[int]] = [[] for _ in placements]
        self.givers: list[list[int]] = [[] for _ in placements]
        self.fed_by_ports: set[int] = set()
        for number, put in enumerate(placements):
            for cell, taker in self._hands_on(number, put):
                giver = self._at.get(cell)
                if giver is not None:
                    self.takers[giver].append(taker)
                    self.givers[taker].append(giver)
                elif cell in self._sources:
                    self.fed_by_ports.add(taker)
        for (x, y), direction in self._sources.items():
            ahead = self._belt_ahead(x, y, direction)
            if ahead is not None:
                self.fed_by_ports.add(ahead)

    def after_port(self, x: int, y: int) -> list[int]:
        """Placements that a source port feeds."""
        arms = [
            number
            for number, put in enumerate(self._placements)
            if put.kind == INSERTER and _ends(put)[0] == (x, y)
        ]
        ahead = self._belt_ahead(x, y, self._sources[x, y])
        return arms if ahead is None else [*arms, ahead]

    def _hands_on(self, number: int, put: Placement) -> Iterator[tuple[tuple[int, int], int]]:
        """(cell of the giver, taker) of each hand-over that a belt or arm makes."""
        if put.kind == BELT:
            ahead = self._belt_ahead(put.x, put.y, put.rotation)
            if ahead is not None:
                yield (put.x, put.y), ahead
        elif put.kind == INSERTER:
            pickup, drop = _ends(put)
            yield pickup, number
            taker = self._at.get(drop)
            if taker is not None and self._placements[taker].kind != INSERTER:
                yield (put.x, put.y), taker

    def _belt_ahead(self, x: int, y: int, direction: int) -> int | None:
        """The placed belt that a belt flows into; not one that faces it (R9)."""
        dx, dy = DIRECTION_VECTORS[direction]
        ahead = self._at.get((x + dx, y + dy))
        if ahead is None or self._placements[ahead].kind != BELT:
            return None
        return None if self._placements[ahead].rotation == (direction + 2) % 4 else ahead


def _ends(arm: Placement) -> tuple[tuple[int, int], tuple[int, int]]:
    """(pickup cell, drop cell) of an arm."""
    dx, dy = DIRECTION_VECTORS[arm.rotation]
    return (arm.x - dx, arm.y - dy), (arm.x + dx, arm.y + dy)
