"""Each kind of failure, on references from which something was taken."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from envs.heldout import load_heldout
from envs.layout import DIRECTION_VECTORS
from envs.solved import Solved
from envs.task_spec import INSERTER, MACHINE, Placement
from factorio_rl.failure_kinds import (
    FEW_MACHINES,
    JAMMED,
    NO_EXACT_RATE,
    NO_MACHINE,
    NOT_DELIVERED,
    NOT_FED,
    TOO_SLOW,
    failure_kind,
)

ZERO = Fraction(0)


def reference(family: str) -> Solved:
    """The first task of a family."""
    return next(entry for entry in load_heldout("heldout-v1").tasks if entry.spec.family == family)


def without(entry: Solved, is_left_out: Callable[[Placement], bool]) -> list[Placement]:
    return [put for put in entry.placements if not is_left_out(put)]


def into_a_machine(entry: Solved) -> set[tuple[int, int]]:
    """Cells of the inserters that drop into a machine."""
    body = {cell for put in entry.placements if put.kind == MACHINE for cell in put.cells()}
    arms = [put for put in entry.placements if put.kind == INSERTER]
    drops = [DIRECTION_VECTORS[put.rotation] for put in arms]
    return {
        (put.x, put.y)
        for put, (dx, dy) in zip(arms, drops, strict=True)
        if (put.x + dx, put.y + dy) in body
    }


def test_an_empty_grid_lacks_machines() -> None:
    assert failure_kind(reference("gear").spec, [], ZERO) == NO_MACHINE


def test_of_two_recipes_each_needs_a_machine() -> None:
    entry = reference("belt-own-gear-belt")
    first = next(put for put in entry.placements if put.kind == MACHINE)
    kept = without(entry, lambda put: put.kind == MACHINE and put.rotation == first.rotation)
    assert failure_kind(entry.spec, kept, ZERO) == NO_MACHINE


def test_machine_whose_inserters_are_gone_is_not_fed() -> None:
    entry = reference("gear")
    fed = into_a_machine(entry)
    kept = without(entry, lambda put: (put.x, put.y) in fed)
    assert failure_kind(entry.spec, kept, ZERO) == NOT_FED


def test_product_without_its_inserters_is_not_delivered() -> None:
    entry = reference("gear")
    fed = into_a_machine(entry)
    kept = without(entry, lambda put: put.kind == INSERTER and (put.x, put.y) not in fed)
    assert failure_kind(entry.spec, kept, ZERO) == NOT_DELIVERED


def test_whole_layout_that_delivers_nothing_is_jammed() -> None:
    entry = reference("circuit-own-cable-belt")
    assert failure_kind(entry.spec, entry.placements, ZERO) == JAMMED


@pytest.mark.parametrize("family", ["gear-parallel", "science-parallel"])
def test_fewer_machines_than_the_rate_takes_are_told_from_slow_ones(family: str) -> None:
    entry = reference(family)
    machines = [put for put in entry.placements if put.kind == MACHINE]
    rate = entry.spec.target_rate / 2
    assert len(machines) > 1
    assert failure_kind(entry.spec, entry.placements, rate) == TOO_SLOW
    kept = without(entry, lambda put: put in machines[1:])
    assert failure_kind(entry.spec, kept, rate) == FEW_MACHINES


def test_rate_that_is_not_exact_is_a_kind_of_its_own() -> None:
    entry = reference("gear")
    assert failure_kind(entry.spec, entry.placements, None) == NO_EXACT_RATE
