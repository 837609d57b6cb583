"""The steps in which a player builds a design, in words. Jax-free.

In: a task, its placements in build order, the poles. Out: one step an entity: first the
placements, then the poles.
"""

from collections.abc import Sequence
from typing import NamedTuple

from envs.blueprint.power import Pole
from envs.item_flow import arm_ends
from envs.layout import MACHINE_KINDS, Entity
from envs.task_spec import Placement, TaskSpec, layout_of

_SIDES = ("north", "east", "south", "west")


class Step(NamedTuple):
    """One entity that is put down: in words, and its footprint, `size` tiles from (x, y)."""

    text: str
    x: int
    y: int
    size: int


def build_steps(
    spec: TaskSpec, placements: Sequence[Placement], poles: Sequence[Pole]
) -> list[Step]:
    """The steps in order."""
    entities = layout_of(spec, placements).entities[len(spec.ports) :]
    steps = [Step(in_words(one), one.x, one.y, one.size) for one in entities]
    for pole in poles:
        text = f"{pole.kind.prototype} at ({pole.x}, {pole.y})"
        steps.append(Step(text, pole.x, pole.y, pole.kind.size))
    return steps


def in_words(entity: Entity) -> str:
    """What is put down, where, and how it is turned or set."""
    place = f"{entity.prototype} at ({entity.x}, {entity.y})"
    if entity.kind in MACHINE_KINDS:
        last = entity.size - 1
        return f"{place} to ({entity.x + last}, {entity.y + last}), set to {entity.recipe}"
    assert entity.direction is not None
    side = _SIDES[entity.direction]
    if entity.kind == "inserter":
        (pick_x, pick_y), (drop_x, drop_y) = arm_ends(entity)
        return f"{place}, moves {side}: from ({pick_x}, {pick_y}) to ({drop_x}, {drop_y})"
    return f"{place} facing {side}"
