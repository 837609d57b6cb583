"""Solved tasks survive their JSON form."""

import json
from fractions import Fraction

from envs.solved import Solved, solved_from_json, solved_to_json
from envs.task_spec import INSERTER, MACHINE, Placement, Port, TaskSpec


def test_json_form_restores_the_solved_task() -> None:
    spec = TaskSpec(
        width=7,
        height=5,
        blocked=((0, 4),),
        ports=(
            Port(0, 1, 1, False, "iron-plate", None),
            Port(6, 1, 1, True, "pipe", "pipe"),
        ),
        recipes=("pipe",),
        target_item="pipe",
        target_rate=Fraction(6, 7),
        placement_limit=12,
        family="pipe",
    )
    placements = (Placement(INSERTER, 1, 1, 1), Placement(MACHINE, 3, 1, 0))
    solved = Solved(spec, placements)
    assert solved_from_json(json.loads(json.dumps(solved_to_json(solved)))) == solved
