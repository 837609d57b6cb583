"""How far a layout that delivers nothing has come: which items get to a machine or the sink.

In: a task and placements. Out: a count. Time and room are ignored. Jax-free.
"""

from collections.abc import Sequence

from envs.item_flow import ingredients_of, item_flow, machine_numbers, sink_numbers, spread
from envs.task_spec import Placement, TaskSpec, layout_of


def links(spec: TaskSpec, placements: Sequence[Placement]) -> int:
    """Ingredients that get to a machine of each recipe, and the product at the sink, added up."""
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
    best: dict[str | None, int] = {}
    for number in machines:
        recipe = entities[number].recipe
        best[recipe] = max(best.get(recipe, 0), len(arriving[number]))
    delivered = any(spec.target_item in arriving[number] for number in sink_numbers(entities))
    return sum(best.values()) + delivered
