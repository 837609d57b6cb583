"""How many pieces a layout lacks until its product can reach the sink: guidance without a rate.

In: entities of a layout. Out: `shortfall`, 0 exactly if a chain of belts, arms and machines leads
from the sources to the sink. Above 0 the rate is certainly 0 (R48), so such a layout need not be
simulated. It adds up the links of the recipe graph (each ingredient to a machine, the product to
the sink), each with the fewest pieces that would close it; all of them can be worked on at once.
`working_parts` are the entities that the rate depends on.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from benchmarks.planners.site import Site
from envs.catalogue import RECIPES
from envs.item_flow import ItemFlow, arm_ends, item_flow, machine_numbers, reached
from envs.layout import Entity


class Standing(NamedTuple):
    """A layout with what flows in it.

    Attributes:
        entities: its entities.
        flow: who hands items to whom.
        machines: numbers of the machines.
        taken: 1 where a cell is not free.
        open_drops: (who gives, cell) of arms that would drop into a free cell.
        open_pickups: (who takes, cell) of arms that would pick up from a free cell.
    """

    entities: Sequence[Entity]
    flow: ItemFlow
    machines: Sequence[int]
    taken: bytearray
    open_drops: list[tuple[int, int]]
    open_pickups: list[tuple[int, int]]


def stand(site: Site, entities: Sequence[Entity]) -> Standing:
    """Entities of a layout on a site, by `layout_of`, with their flow."""
    flow = item_flow(entities)
    taken = bytearray(site.bare)
    for x, y in flow.at:
        taken[site.cell(x, y)] = 1
    open_drops, open_pickups = [], []
    for number, arm in enumerate(entities):
        if arm.kind != "inserter" or flow.after[number]:
            continue
        pickup, drop = arm_ends(arm)
        if pickup in flow.at and not taken[site.cell(*drop)]:
            open_drops.append((flow.at[pickup], site.cell(*drop)))
        if drop in flow.at and not taken[site.cell(*pickup)]:
            open_pickups.append((flow.at[drop], site.cell(*pickup)))
    machines = machine_numbers(entities)
    return Standing(entities, flow, machines, taken, open_drops, open_pickups)


def working_parts(standing: Standing) -> set[int]:
    """Entities that items may get to, and those next to them that shape their belts (R7).

    All others stay empty for ever: layouts with the same working parts have the same rate.
    """
    sources = [n for n, one in enumerate(standing.entities) if one.kind == "source"]
    fed = reached(standing.flow.after, sources)
    return fed.union(*(standing.flow.before[number] for number in fed))


def shortfall(site: Site, standing: Standing) -> float:
    """Pieces missing until the target item can arrive at the sink."""
    sink = next(n for n, one in enumerate(standing.entities) if one.kind == "sink")
    missing = 3.0 * (site.spec.width + site.spec.height)

    @cache
    def chain(item: str, goal: int) -> float:
        """Pieces missing until an item can get to a machine or the sink."""
        sources = [
            number
            for number, one in enumerate(standing.entities)
            if one.kind == "source" and item in (one.left, one.right)
        ]
        ways = [_link(site, standing, sources, goal)] if sources else []
        for maker in standing.machines:
            if standing.entities[maker].recipe == item:
                fed = sum(chain(needed, maker) for needed, _ in RECIPES[item].ingredients)
                ways.append(fed + _link(site, standing, [maker], goal))
        return min(ways, default=missing * _num_links(site, item))

    return chain(site.spec.target_item, sink)


def _num_links(site: Site, item: str) -> int:
    """Links that bring an item somewhere and everything that it is made of."""
    if item not in site.spec.recipes:
        return 1
    return 1 + sum(_num_links(site, needed) for needed, _ in RECIPES[item].ingredients)


def _link(site: Site, standing: Standing, origins: Sequence[int], goal: int) -> float:
    """Fewest pieces that bring what sources or a machine give to a machine or the sink."""
    on_way = reached(standing.flow.after, origins, standing.machines)
    if goal in on_way:
        return 0.0
    givers = {
        number
        for number in on_way
        if standing.entities[number].kind in ("belt", "source") or number in origins
    }
    others = [number for number in standing.machines if number != goal]
    takers = reached(standing.flow.before, [goal], others).difference(others)
    far = 2.0 * (site.spec.width + site.spec.height)
    starts, touches = _exits(site, standing, givers, takers)
    if touches:
        return 1.0
    return min(far, _pieces(site, standing, starts, _entries(site, standing, takers)))


def _arm_spots(site: Site, entity: Entity) -> Iterator[tuple[int, int]]:
    """(cell of an arm beside an entity, cell at the arm's far end)."""
    if entity.kind == "asm":
        centre = site.cell(entity.x + 1, entity.y + 1)
        for away, direction in site.beside_machine:
            yield centre + away, centre + away + site.steps[direction]
    else:
        cell = site.cell(entity.x, entity.y)
        for step in site.steps:
            yield cell + step, cell + 2 * step


def _exits(
    site: Site, standing: Standing, givers: set[int], takers: set[int]
) -> tuple[tuple[list[int], list[int]], bool]:
    """Free cells that one and that two pieces reach, and whether one arm would close the link."""
    taken, at = standing.taken, standing.flow.at
    one = [cell for giver, cell in standing.open_drops if giver in givers]
    two: list[int] = []
    for giver in givers:
        entity = standing.entities[giver]
        if entity.kind in ("belt", "source"):
            assert entity.direction is not None
            head = site.cell(entity.x, entity.y) + site.steps[entity.direction]
            if not taken[head]:
                one.append(head)
        for arm, drop in _arm_spots(site, entity):
            if taken[arm] or site.outside[drop]:
                continue
            if not taken[drop]:
                two.append(drop)
                continue
            taker = at.get(site.position(drop))
            if taker in takers and standing.entities[taker].kind in ("belt", "sink", "asm"):
                return (one, two), True
    return (one, two), False


def _entries(site: Site, standing: Standing, takers: set[int]) -> dict[int, int]:
    """Free cells from which a belt leads on to the goal, with the further pieces it takes."""
    taken = standing.taken
    entries: dict[int, int] = {}
    for number in takers:
        entity = standing.entities[number]
        if entity.kind == "asm":
            for arm, pickup in _arm_spots(site, entity):
                if not (taken[arm] or taken[pickup]):
                    entries.setdefault(pickup, 1)
        elif entity.kind in ("belt", "sink"):
            cell = site.cell(entity.x, entity.y)
            for direction, step in enumerate(site.steps):
                if direction != entity.direction and not taken[cell + step]:
                    entries[cell + step] = 0
    for taker, cell in standing.open_pickups:
        if taker in takers:
            entries[cell] = 0
    return entries


def _pieces(
    site: Site, standing: Standing, starts: tuple[list[int], list[int]], entries: dict[int, int]
) -> float:
    """Fewest pieces from the starts to an entry over free cells; infinite without a way."""
    seen = bytearray(standing.taken)
    best, level, front = float("inf"), 1, starts[0]
    while (front or level == 1) and best > level:
        following = list(starts[1]) if level == 1 else []
        for cell in front:
            if seen[cell]:
                continue
            seen[cell] = 1
            if cell in entries:
                best = min(best, level + entries[cell])
            following += [cell + step for step in site.steps if not seen[cell + step]]
        front, level = following, level + 1
    return best
