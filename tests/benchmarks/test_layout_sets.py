"""The sets that the verifier is timed on hold what their names say, the same in every run."""

from benchmarks.layout_sets import all_sets, is_scorable
from benchmarks.random_layouts import random_layout
from envs.verifier import verify


def test_each_set_has_layouts_and_known_rates_for_all_or_none():
    sizes = {}
    for layout_set in all_sets():
        sizes[layout_set.name] = len(layout_set.layouts)
        assert layout_set.expected is None or len(layout_set.expected) == len(layout_set.layouts)
    assert sizes == {"public": 90, "reference cases": 28, "solved": 540, "random": 200}


def test_every_solved_layout_can_be_scored():
    solved = next(layout_set for layout_set in all_sets() if layout_set.name == "solved")
    assert all(is_scorable(layout) for layout in solved.layouts)


def test_random_layouts_repeat_and_differ_by_seed():
    layouts = [random_layout(seed) for seed in range(20)]
    assert layouts == [random_layout(seed) for seed in range(20)]
    assert len(set(layouts)) == 20


def test_some_random_layouts_deliver_and_some_do_not():
    results = [verify(random_layout(seed)) for seed in range(20)]
    delivering = sum(any(sink.rate > 0 for sink in result.rates) for result in results)
    assert 5 <= delivering <= 15
