"""Which items can get to a machine or the sink: how far a layout that delivers nothing has come.

In: a task and placements. Out: what arrives where, and a count of it. Time, lanes that are full and
room in machines are ignored: what does not arrive here never does. Jax-free.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from envs.item_flow import ingredients_of, item_flow, machine_numbers, sink_numbers, spread
from envs.task_spec import Placement, TaskSpec, layout_of


class Arrivals(NamedTuple):
    """What can arrive in a layout, of each recipe at the machine that most arrives at."""

    lacking: dict[str, Collection[str]]  # ingredients that none of a recipe's machines gets all of
    arrived: int  # ingredients that get to a machine, over all recipes
    delivered: bool  # the product gets to the sink


def links(spec: TaskSpec, placements: Sequence[Placement]) -> int:
    """Ingredients that get to a machine of each recipe, and the product at the sink, added up."""
    found = arrivals(spec, placements)
    return found.arrived + found.delivered


def arrivals(spec: TaskSpec, placements: Sequence[Placement]) -> Arrivals:
    """What can arrive, machine by machine, as those before it work; recipes without any are left
    out."""
    entities = layout_of(spec, placements).entities
    flow = item_flow(entities)
    machines = machine_numbers(entities)
    seeds: dict[int, set[str]] = {
        number: {item for item in (one.left, one.right) if item}
        for number, one in enumerate(entities)
        if one.kind == "source"
    }
    accepts = {number: ingredients_of(entities[number]) for number in machines}
    while True:
        arriving = spread(flow.after, seeds, accepts, machines)
        working = [
            number
            for number in machines
            if number not in seeds and accepts[number] and arriving[number] == accepts[number]
        ]
        if not working:
            break
        seeds |= {number: {entities[number].recipe or ""} for number in working}
    best: dict[str, int] = {}
    for number in machines:
        recipe = entities[number].recipe or ""
        if recipe not in best or len(arriving[number]) > len(arriving[best[recipe]]):
            best[recipe] = number
    delivered = any(spec.target_item in arriving[number] for number in sink_numbers(entities))
    return Arrivals(
        lacking={recipe: accepts[number] - arriving[number] for recipe, number in best.items()},
        arrived=sum(len(arriving[number]) for number in best.values()),
        delivered=delivered,
    )
