"""Two searches agree, part at a near tie, or one is wrong; and the comparison says which."""

import numpy as np
import pytest
from search_records import GAMES, lean_searches, tied_search

from benchmarks.tree_comparison import Parting, compare
from factorio_rl.search import SearchSettings

SETTINGS = SearchSettings(24, max_num_considered_actions=4)


@pytest.mark.parametrize("game", GAMES)
def test_a_tree_agrees_with_itself(game):
    for task, record in lean_searches(game, SETTINGS):
        found = compare(task, record, record)
        assert (found.outcome, found.errors, found.parting) == ("equal", [], None)
        assert found.same_bits
        assert (found.weight_difference, found.value_difference) == (0.0, 0.0)
        assert found.depth >= 1


def test_last_bits_of_weights_may_differ_but_not_more_than_a_millionth():
    task, record = lean_searches("drift", SETTINGS)[0]
    best = int(np.argmax(record.action_weights))
    for difference, outcome in ((2e-7, "equal"), (3e-6, "error")):
        weights = record.action_weights.copy()
        weights[best] -= difference
        found = compare(task, record, record._replace(action_weights=weights))
        assert (found.outcome, found.same_bits) == (outcome, False)
        assert found.weight_difference == pytest.approx(difference, rel=0.2)


def test_searches_that_part_at_a_near_tie_are_no_error():
    task, lean = tied_search(gap=1e-7, taken=0)
    _, kernel = tied_search(gap=1e-7, taken=1)
    found = compare(task, lean, kernel)
    assert (found.outcome, found.errors) == ("near tie", [])
    assert found.parting == Parting(
        simulation=3,
        depth=0,
        lean_action=0,
        kernel_action=1,
        gap=pytest.approx(1e-7),
        bound=found.parting.bound,
    )
    assert found.parting.gap < found.parting.bound < 1e-6
    assert found.weight_difference is None


def test_searches_that_part_at_a_clear_gap_are_an_error():
    task, lean = tied_search(gap=1e-5, taken=1)
    _, kernel = tied_search(gap=1e-5, taken=0)
    found = compare(task, lean, kernel)
    assert found.outcome == "error"
    assert found.errors[0].startswith("kernel tree: ")
    assert compare(task, kernel, lean).errors[0].startswith("lean tree: ")


def test_one_other_action_in_the_kernels_tree_is_an_error_with_its_place():
    task, lean = lean_searches("drift", SETTINGS)[0]
    actions = lean.actions.copy()
    actions[7] = (actions[7] + 1) % len(lean.action_weights)
    found = compare(task, lean, lean._replace(actions=actions))
    assert found.outcome == "error"
    assert found.parting is not None
    assert found.parting.simulation == 7
    assert found.parting.kernel_action == actions[7]
    assert found.parting.gap > found.parting.bound


@pytest.mark.parametrize("name", ["rewards", "discounts", "raw_values", "prior_logits"])
def test_a_fact_of_the_model_that_differs_in_its_last_bit_is_an_error(name):
    task, lean = lean_searches("drift", SETTINGS)[0]
    facts = getattr(lean, name).copy()
    facts[3] = np.nextafter(facts[3], np.float32(9.0))
    found = compare(task, lean, lean._replace(**{name: facts}))
    assert f"{name} differ at node 3" in found.errors


def test_visits_that_differ_alone_are_an_error():
    task, lean = lean_searches("drift", SETTINGS)[0]
    visits = lean.visits.copy()
    visits[2] += 1
    assert compare(task, lean, lean._replace(visits=visits)).outcome == "error"
