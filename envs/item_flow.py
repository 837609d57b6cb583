"""Which entity can hand items to which (R6, R7, R9), and sets of items spread over it. Jax-free.

In: the entities of a layout. Out: a graph over their numbers, and for each entity the items that
can get to it. Time and room are ignored, so the sets are never too small.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from envs.catalogue import RECIPES, SMELTING
from envs.layout import (
    BELT_KINDS,
    DIRECTION_VECTORS,
    MACHINE_KINDS,
    SINK_KINDS,
    Entity,
)

Tile = tuple[int, int]

FEEDERS = ("belt", "source")
"""Kinds that pass items to the belt ahead (R7)."""

PICKED_FROM = ("belt", "source", "sink", *MACHINE_KINDS, "chest_src")
DROPPED_ON = ("belt", "sink", *MACHINE_KINDS, "chest_sink")
"""Kinds that arms pick from and drop onto (R6)."""


class ItemFlow(NamedTuple):
    """Who can hand items to whom, by position in the list of entities.

    Attributes:
        at: entity on each tile.
        after: for each entity those that it hands items to; arms are nodes of their own.
        before: for each entity those that hand items to it.
    """

    at: Mapping[Tile, int]
    after: Sequence[Sequence[int]]
    before: Sequence[Sequence[int]]


def tile_ahead(entity: Entity, steps: int = 1) -> Tile:
    """The tile `steps` ahead of a directed entity; for an arm, toward its drop side."""
    assert entity.direction is not None
    dx, dy = DIRECTION_VECTORS[entity.direction]
    return entity.x + dx * steps, entity.y + dy * steps


def arm_ends(arm: Entity) -> tuple[Tile, Tile]:
    """(pickup tile, drop tile) of an inserter (R6)."""
    return tile_ahead(arm, -arm.reach), tile_ahead(arm, arm.reach)


def item_flow(entities: Sequence[Entity]) -> ItemFlow:
    """The graph of a layout's entities; arms that R6 calls inert have no edges."""
    at = {tile: number for number, entity in enumerate(entities) for tile in entity.tiles()}
    edges = [
        edge
        for number, entity in enumerate(entities)
        for edge in _edges_of(number, entity, entities, at)
    ]
    after: list[list[int]] = [[] for _ in entities]
    before: list[list[int]] = [[] for _ in entities]
    for giver, taker in edges:
        after[giver].append(taker)
        before[taker].append(giver)
    return ItemFlow(at, after, before)


def _edges_of(
    number: int, entity: Entity, entities: Sequence[Entity], at: Mapping[Tile, int]
) -> Iterable[tuple[int, int]]:
    """Edges of the graph that an entity makes: of a belt to the next, of an arm both."""
    if entity.kind == "inserter":
        giver, taker = (at.get(tile) for tile in arm_ends(entity))
        if giver is None or taker is None:
            return ()
        if entities[giver].kind in PICKED_FROM and entities[taker].kind in DROPPED_ON:
            return (giver, number), (number, taker)
        return ()
    taker = at.get(tile_ahead(entity)) if entity.kind in FEEDERS else None
    if taker is None or entities[taker].kind not in ("belt", "sink"):
        return ()
    assert entity.direction is not None
    return () if entities[taker].direction == (entity.direction + 2) % 4 else ((number, taker),)


def belts_before(number: int, entities: Sequence[Entity], flow: ItemFlow) -> list[int]:
    """The feeders of a belt (R7)."""
    return [giver for giver in flow.before[number] if entities[giver].kind in BELT_KINDS]


def continues(giver: int, taker: int, entities: Sequence[Entity], flow: ItemFlow) -> bool:
    """Whether the lanes of a belt go on into the belt ahead instead of sideloading (R9)."""
    if entities[giver].direction == entities[taker].direction:
        return True
    return entities[taker].kind != "source" and len(belts_before(taker, entities, flow)) == 1


def ingredients_of(entity: Entity) -> frozenset[str]:
    """Items that a machine's recipe takes; none without a recipe (R41)."""
    recipe = (SMELTING if entity.kind == "furnace" else RECIPES).get(entity.recipe or "")
    return frozenset(item for item, _ in recipe.ingredients) if recipe else frozenset()


def spread(
    edges: Sequence[Sequence[int]],
    seeds: Mapping[int, Iterable[str]],
    accepts: Mapping[int, frozenset[str]],
    ends: Iterable[int],
) -> list[set[str]]:
    """Carries sets of items along edges until nothing changes.

    Args:
        edges: for each entity those that it passes items on to.
        seeds: items that an entity passes on from the start; they are not counted as arriving.
        accepts: the only items that get into an entity; anything where it is missing.
        ends: entities that pass nothing on but their seeds, such as machines.

    Returns:
        For each entity the items that arrive there.
    """
    arriving: list[set[str]] = [set() for _ in edges]
    stops = set(ends)
    todo = [(giver, item) for giver, items in seeds.items() for item in items]
    while todo:
        giver, item = todo.pop()
        for taker in edges[giver]:
            allowed = accepts.get(taker)
            if item in arriving[taker] or (allowed is not None and item not in allowed):
                continue
            arriving[taker].add(item)
            if taker not in stops:
                todo.append((taker, item))
    return arriving


def reached(
    edges: Mapping[int, Sequence[int]] | Sequence[Sequence[int]],
    starts: Iterable[int],
    ends: Container[int] = (),
) -> set[int]:
    """The starts and all that edges lead to from them, not on beyond `ends` that are no starts."""
    starts = set(starts)
    found, todo = set(starts), list(starts)
    while todo:
        number = todo.pop()
        if number in ends and number not in starts:
            continue
        new = [other for other in edges[number] if other not in found]
        found.update(new)
        todo.extend(new)
    return found


def machine_numbers(entities: Sequence[Entity]) -> list[int]:
    """Positions of the machines."""
    return [number for number, one in enumerate(entities) if one.kind in MACHINE_KINDS]


def sink_numbers(entities: Sequence[Entity]) -> list[int]:
    """Positions of the sinks and counting chests."""
    return [number for number, one in enumerate(entities) if one.kind in SINK_KINDS]
