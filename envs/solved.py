"""A solved task: the task and a reference layout in flow order, with its JSON form. Jax-free.

The generator makes them; held-out files and training pools hold them. `difficulty` measures one.
"""

from dataclasses import asdict, dataclass
from typing import Any

from envs.catalogue import RECIPES
from envs.flow_order import path_lengths
from envs.task_spec import MACHINE, Placement, TaskSpec, spec_from_json, spec_to_json

Variant = tuple[tuple[bool, ...], float]
"""An incomplete layout of a reference: one flag per placement that it keeps, its verified score."""


@dataclass(frozen=True, slots=True)
class Solved:
    """A task with one layout that reaches its target.

    Attributes:
        spec: the task; its target is the exact rate of the reference.
        placements: the reference in one random flow order (`envs.flow_order`). Every prefix is
            legal under the growth rule.
    """

    spec: TaskSpec
    placements: tuple[Placement, ...]


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Figures of a reference.

    Attributes:
        placements, machines: how many there are.
        depth: stages on the longest way from a raw item to the product.
        path_length: placements on the longest way from a source to the sink.
    """

    placements: int
    machines: int
    depth: int
    path_length: int


def difficulty(solved: Solved) -> Difficulty:
    """The figures of a reference."""
    placements = solved.placements
    steps = path_lengths(solved.spec, placements)
    machines = sum(put.kind == MACHINE for put in placements)
    return Difficulty(len(placements), machines, recipe_depth(solved.spec), max(steps, default=0))


def recipe_depth(spec: TaskSpec) -> int:
    """Stages on the longest way from a raw item to the target."""

    def depth(item: str) -> int:
        if item not in spec.recipes:
            return 0
        return 1 + max(depth(ingredient) for ingredient, _ in RECIPES[item].ingredients)

    return depth(spec.target_item)


def solved_to_json(solved: Solved) -> dict[str, Any]:
    """The JSON form of a solved task; a placement is `[kind, x, y, rotation]`."""
    placements = [[put.kind, put.x, put.y, put.rotation] for put in solved.placements]
    return {
        "spec": spec_to_json(solved.spec),
        "placements": placements,
        "difficulty": asdict(difficulty(solved)),
    }


def solved_from_json(obj: dict[str, Any]) -> Solved:
    """The solved task of a JSON form that `solved_to_json` wrote."""
    placements = tuple(Placement(*numbers) for numbers in obj["placements"])
    return Solved(spec_from_json(obj["spec"]), placements)
