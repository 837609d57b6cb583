"""What a design asks of a task beside its rules: room for the belts that join it."""

from fractions import Fraction

from envs.layout import EAST, NORTH, SOUTH
from envs.task_spec import BELT, Placement, Port, TaskSpec
from factorio_rl.design_task import with_ways_kept

PLATE, GEAR = "iron-plate", "iron-gear-wheel"


def task(*ports: Port, blocked: tuple[tuple[int, int], ...] = ()) -> TaskSpec:
    return TaskSpec(12, 12, blocked, ports, (GEAR,), GEAR, Fraction(1), 48, "user")


INSIDE_SOURCE = Port(4, 5, SOUTH, False, PLATE, PLATE)
INSIDE_SINK = Port(9, 9, NORTH, True, GEAR, GEAR)
BORDER_SOURCE = Port(0, 5, EAST, False, PLATE, PLATE)
BORDER_SINK = Port(11, 8, EAST, True, GEAR, GEAR)


def test_ports_at_the_border_need_nothing() -> None:
    spec = task(BORDER_SOURCE, BORDER_SINK)
    assert with_ways_kept(spec, ()) == (spec, [])


def test_cells_before_and_behind_ports_inside_are_kept_free() -> None:
    found, notes = with_ways_kept(task(INSIDE_SOURCE, INSIDE_SINK, blocked=((1, 1),)), ())
    assert found.blocked == ((1, 1), (4, 4), (9, 8))
    assert notes == [
        "kept free: (4, 4), where a belt joins the input at (4, 5)",
        "kept free: (9, 8), where a belt joins the output at (9, 9)",
    ]


def test_what_stands_there_or_is_blocked_stays() -> None:
    spec = task(INSIDE_SOURCE, INSIDE_SINK, blocked=((4, 4),))
    found, notes = with_ways_kept(spec, [Placement(BELT, 9, 8, NORTH)])
    assert found == spec
    assert notes == ["warning: (9, 8), where a belt joins the output at (9, 9), may be built on"]
