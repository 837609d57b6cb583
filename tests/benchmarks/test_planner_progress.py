"""The guidance of planners: pieces that are missing, and the parts that a rate depends on."""

from fractions import Fraction
from random import Random

import pytest

from benchmarks.planners.moves import mutate
from benchmarks.planners.progress import shortfall, stand, working_parts
from benchmarks.planners.site import Site
from envs.heldout import load_heldout
from envs.layout import EAST, NORTH, SOUTH, WEST, Layout
from envs.solved import Solved
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, Port, TaskSpec, layout_of
from envs.verifier import score_rate

TASKS = (*load_heldout("quickstart").tasks[:6], *load_heldout("heldout-v1").tasks[::40])

GEAR, PLATE = "iron-gear-wheel", "iron-plate"
SPEC = TaskSpec(
    9,
    5,
    (),
    (Port(0, 2, EAST, False, PLATE, PLATE), Port(8, 2, EAST, True, GEAR, GEAR)),
    (GEAR,),
    GEAR,
    Fraction(1, 2),
    20,
    "gear",
)
MACHINE_PUT = Placement(MACHINE, 4, 2, 0)
INPUT_ARM, OUTPUT_ARM = Placement(INSERTER, 2, 2, EAST), Placement(INSERTER, 6, 2, EAST)
INPUT_BELT, OUTPUT_BELT = Placement(BELT, 1, 2, EAST), Placement(BELT, 7, 2, EAST)


def lacking(*placements: Placement, spec: TaskSpec = SPEC) -> float:
    site = Site(spec)
    return shortfall(site, stand(site, layout_of(spec, placements).entities))


def test_pieces_are_counted_on_both_sides_of_a_machine() -> None:
    assert lacking(MACHINE_PUT) == 4
    assert lacking(MACHINE_PUT, INPUT_BELT) == 3
    assert lacking(MACHINE_PUT, OUTPUT_ARM) == 3
    assert lacking(MACHINE_PUT, INPUT_ARM) == 3
    assert lacking(MACHINE_PUT, OUTPUT_BELT, INPUT_BELT) == 2
    assert lacking(MACHINE_PUT, OUTPUT_BELT, INPUT_BELT, INPUT_ARM) == 1
    assert lacking(MACHINE_PUT, OUTPUT_BELT, OUTPUT_ARM, INPUT_BELT, INPUT_ARM) == 0


def test_a_missing_machine_outweighs_every_missing_belt() -> None:
    assert lacking() == lacking(INPUT_BELT) > lacking(Placement(MACHINE, 4, 1, 0)) >= 4


def test_a_belt_that_leads_away_does_not_help() -> None:
    assert lacking(MACHINE_PUT, Placement(BELT, 0, 1, SOUTH)) == lacking(MACHINE_PUT)
    assert lacking(MACHINE_PUT, Placement(BELT, 7, 2, WEST)) > lacking(MACHINE_PUT, OUTPUT_BELT)


def test_two_machines_of_a_recipe_do_not_share_their_links() -> None:
    spec = TaskSpec(
        12,
        5,
        (),
        (Port(0, 2, EAST, False, PLATE, PLATE), Port(11, 2, EAST, True, GEAR, GEAR)),
        *(SPEC.recipes, GEAR, SPEC.target_rate, 20, "gear"),
    )
    fed = (Placement(INSERTER, 1, 2, EAST), Placement(MACHINE, 3, 2, 0))
    drained = (Placement(MACHINE, 8, 2, 0), Placement(INSERTER, 10, 2, EAST))
    # One leads on from the machine that is fed: an arm and belts round the other one.
    assert lacking(*fed, *drained, spec=spec) > 1
    assert lacking(*fed, *drained, Placement(INSERTER, 5, 2, NORTH), spec=spec) > 1


@pytest.mark.parametrize("task", TASKS)
def test_nothing_is_missing_in_a_reference_and_something_in_the_empty_layout(task: Solved) -> None:
    assert lacking(*task.placements, spec=task.spec) == 0
    assert lacking(spec=task.spec) > 0


@pytest.mark.parametrize("task", TASKS)
def test_rates_are_zero_where_something_is_missing_and_depend_on_working_parts(
    task: Solved,
) -> None:
    rng, site = Random(0), Site(task.spec)
    for _ in range(15):
        plan = mutate(site, mutate(site, task.placements, rng), rng)
        layout = layout_of(task.spec, plan)
        standing = stand(site, layout.entities)
        rate = score_rate(layout)
        if shortfall(site, standing) > 0:
            assert rate == 0
            continue
        working = working_parts(standing)
        kept = tuple(layout.entities[number] for number in sorted(working))
        assert score_rate(Layout(layout.width, layout.height, kept)) == rate
