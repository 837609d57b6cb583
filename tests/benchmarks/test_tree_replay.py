"""The float64 replay finds nothing to say of sound searches, and sees what is wrong with others."""

from collections.abc import Callable

import numpy as np
import pytest
from search_records import GAMES, lean_searches, tied_search

from benchmarks.tree_replay import Record, Task, replay
from factorio_rl.search import SearchSettings

WIDE = SearchSettings(24)
NARROW = SearchSettings(48, max_num_considered_actions=4)
SHALLOW = SearchSettings(48, max_num_considered_actions=4, max_depth=2)
RESCALED = SearchSettings(24, value_scale=0.1, rescale_values=True, epsilon=0.05)
RAW = SearchSettings(24, use_mixed_value=False, value_scale=0.3, maxvisit_init=10.0)


@pytest.mark.parametrize(
    "settings",
    [WIDE, NARROW, SHALLOW, RESCALED, RAW],
    ids=["wide", "narrow", "shallow", "rescaled", "raw"],
)
def test_float64_decides_as_the_lean_tree_does(settings):
    for game in GAMES:
        for row, (task, record) in enumerate(lean_searches(game, settings)):
            found = replay(task, record)
            assert not found.faults, (game, row)
            assert not found.dissents, (game, row)
            assert len(found.walks) == settings.num_simulations


def test_greedy_searches_and_roots_handed_in_are_replayed_too():
    for arguments in ((WIDE, 0.0, False), (WIDE, 1.0, True)):
        for task, record in lean_searches("drift", *arguments):
            assert not replay(task, record).faults


def altered(record: Record, name: str, change: Callable[[np.ndarray], None]) -> Record:
    array = np.array(getattr(record, name))
    change(array)
    return record._replace(**{name: array})


def some_search(settings: SearchSettings = NARROW) -> tuple[Task, Record]:
    return lean_searches("drift", settings)[0]


@pytest.mark.parametrize("node", [1, 7, 31, 48])
def test_any_other_action_of_a_node_is_a_fault(node):
    task, record = some_search()
    for action in range(len(record.action_weights)):
        if action != record.actions[node]:
            other = altered(record, "actions", lambda array, to=action: np.put(array, node, to))
            assert replay(task, other).faults, action


@pytest.mark.parametrize("node", [2, 9, 30])
def test_any_other_parent_of_a_node_is_a_fault(node):
    task, record = some_search()
    for parent in range(-1, len(record.parents)):
        if parent != record.parents[node]:
            other = altered(record, "parents", lambda array, to=parent: np.put(array, node, to))
            assert replay(task, other).faults, parent


@pytest.mark.parametrize("settings", [NARROW, SHALLOW], ids=["deep", "shallow"])
@pytest.mark.parametrize("step", [-1, 1])
def test_a_visit_too_many_or_too_few_is_a_fault(settings, step):
    task, record = some_search(settings)
    for node in np.flatnonzero(record.visits):
        visits = record.visits[node] + step
        other = altered(record, "visits", lambda array, at=node, to=visits: np.put(array, at, to))
        assert replay(task, other).faults, node


@pytest.mark.parametrize("name", ["values", "action_weights"])
def test_a_wrong_number_is_a_fault(name):
    task, record = some_search()
    for index in range(len(getattr(record, name))):
        if getattr(record, name)[index] > 1e-3:
            number = getattr(record, name)[index] * np.float32(1.0001)
            other = altered(record, name, lambda array, at=index, to=number: np.put(array, at, to))
            assert replay(task, other).faults, index


def test_another_action_to_play_is_a_fault():
    task, record = some_search()
    for action in range(len(record.action_weights)):
        assert bool(replay(task, record._replace(action=action)).faults) == (
            action != record.action
        )


@pytest.mark.parametrize(
    "wrong",
    [
        {"use_mixed_value": False},
        {"maxvisit_init": 49.0},
        {"max_num_considered_actions": 5},
        {"value_scale": 1.001},
    ],
    ids=repr,
)
def test_a_search_with_other_settings_is_full_of_faults(wrong):
    searches = lean_searches("drift", SearchSettings(**{"num_simulations": 48} | wrong))
    found = [
        replay(task._replace(settings=SearchSettings(48)), record) for task, record in searches
    ]
    assert sum(bool(one.faults) for one in found) >= len(found) / 2


@pytest.mark.parametrize("taken", [0, 1])
def test_where_the_record_is_silent_both_ways_of_a_near_tie_are_tried(taken):
    found = replay(*tied_search(gap=1e-7, taken=taken))
    assert not found.faults
    assert found.walks == [(1,), (0,), (taken,)]
    assert [dissent.taken for dissent in found.dissents] == ([0] if taken == 0 else [])


def test_where_the_record_is_silent_a_clear_gap_allows_one_way_only():
    assert not replay(*tied_search(gap=1e-5, taken=1)).faults
    assert replay(*tied_search(gap=1e-5, taken=0)).faults
    assert replay(*tied_search(gap=0.0, taken=1)).faults
