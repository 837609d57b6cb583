"""Useless pieces go, pieces of the start stay, and what is left can be built in order."""

from collections.abc import Iterator
from fractions import Fraction

import pytest
from tiny_setup import SOLVED

from envs.layout import EAST, NORTH
from envs.task_spec import BELT, INSERTER, Placement
from factorio_rl.arrivals import links
from factorio_rl.design_judge import Judge
from factorio_rl.design_pruning import building_order, pruned

TASK = SOLVED[1]
REFERENCE = TASK.placements
USELESS = (Placement(BELT, 6, 5, EAST), Placement(INSERTER, 5, 6, EAST))


@pytest.fixture
def judge() -> Iterator[Judge]:
    made = Judge(TASK.spec, (), threads=1)
    yield made
    made.close()


def test_pieces_that_add_nothing_are_taken_away(judge: Judge) -> None:
    found = judge.found([(*USELESS, *REFERENCE)])[0]
    assert found.outcome.rate == TASK.spec.target_rate
    left = pruned(judge, found, kept=())
    assert left.outcome.rate == TASK.spec.target_rate
    assert set(left.order) <= set(REFERENCE)


def test_the_start_stays_though_it_is_useless(judge: Judge) -> None:
    found = judge.found([(*USELESS, *REFERENCE)])[0]
    left = pruned(judge, found, kept=USELESS[:1])
    assert USELESS[0] in left.order
    assert USELESS[1] not in left.order


def test_a_layout_without_output_is_left_as_it_is(judge: Judge) -> None:
    found = judge.found([REFERENCE[:2]])[0]
    assert found.outcome.rate == 0
    assert pruned(judge, found, kept=()) == found


def test_the_judge_ranks_solved_then_rate_then_fewer_pieces(judge: Judge) -> None:
    judge.look_at([REFERENCE[:3], (*REFERENCE, *USELESS)])
    assert judge.best.outcome.solved
    assert len(judge.best.order) == len(REFERENCE) + 2
    judge.look_at([REFERENCE])
    assert judge.best.order == REFERENCE
    judge.look_at([(*REFERENCE, *USELESS)])
    assert judge.best.order == REFERENCE


def test_a_layout_is_verified_once_whatever_its_order(judge: Judge) -> None:
    judge.look_at([REFERENCE, tuple(reversed(REFERENCE))])
    judge.look_at([REFERENCE])
    assert judge.num_layouts == 1


def test_where_nothing_arrives_the_result_is_what_came_furthest(judge: Judge) -> None:
    judge.look_at([REFERENCE[:1], REFERENCE[:2], ()])
    judge.remember([(), REFERENCE[:1], REFERENCE[:2]])
    assert judge.best.outcome.rate == 0
    assert judge.result().order == REFERENCE[:2]


def test_links_count_what_gets_to_machines_and_to_the_sink() -> None:
    assert [links(TASK.spec, REFERENCE[:count]) for count in (0, 1, 2, 6)] == [0, 0, 1, 2]


def test_every_piece_touches_a_port_or_what_stands_before_it() -> None:
    order = building_order(TASK.spec, tuple(reversed(REFERENCE)))
    assert sorted(map(repr, order)) == sorted(map(repr, REFERENCE))
    touched = {(port.x, port.y) for port in TASK.spec.ports}
    for put in order:
        beside = {
            (x + dx, y + dy) for x, y in touched for dx, dy in ((0, 1), (1, 0), (0, -1), (-1, 0))
        }
        assert beside & set(put.cells())
        touched |= set(put.cells())


def test_an_order_that_can_be_built_is_kept() -> None:
    assert building_order(TASK.spec, REFERENCE) == REFERENCE


def test_pieces_that_touch_nothing_are_not_lost() -> None:
    far = Placement(BELT, 3, 6, NORTH)
    assert building_order(TASK.spec, (far,)) == (far,)


def test_rates_are_exact_fractions(judge: Judge) -> None:
    assert judge.found([REFERENCE])[0].outcome.rate == Fraction(15, 16)
