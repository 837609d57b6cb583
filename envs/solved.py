"""A solved task: the task and a reference layout in flow order, with its JSON form. Jax-free.

The generator makes them; held-out files and training pools hold them.
"""

from dataclasses import dataclass
from typing import Any

from envs.task_spec import Placement, TaskSpec, spec_from_json, spec_to_json


@dataclass(frozen=True, slots=True)
class Solved:
    """A task with one layout that reaches its target.

    Attributes:
        spec: the task; its target is the exact rate of the reference.
        placements: the reference in flow order: belts from the source on, input inserter,
            machine, further inserters, belts to the sink. Every prefix is legal.
    """

    spec: TaskSpec
    placements: tuple[Placement, ...]


def solved_to_json(solved: Solved) -> dict[str, Any]:
    """The JSON form of a solved task; a placement is `[kind, x, y, rotation]`."""
    placements = [[put.kind, put.x, put.y, put.rotation] for put in solved.placements]
    return {"spec": spec_to_json(solved.spec), "placements": placements}


def solved_from_json(obj: dict[str, Any]) -> Solved:
    """The solved task of a JSON form that `solved_to_json` wrote."""
    placements = tuple(Placement(*numbers) for numbers in obj["placements"])
    return Solved(spec_from_json(obj["spec"]), placements)
