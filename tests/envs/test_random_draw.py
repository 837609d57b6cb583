"""Random draws: within bounds, every outcome possible, the same for the same stream."""

import numpy as np

from envs.random_draw import below, chosen, shuffled


def test_below_takes_every_value_under_its_bound_about_evenly() -> None:
    rng = np.random.default_rng(0)
    drawn = [below(rng, 4) for _ in range(4000)]
    counts = [drawn.count(value) for value in range(4)]
    assert sum(counts) == 4000
    assert min(counts) > 850


def test_chosen_takes_every_option() -> None:
    rng = np.random.default_rng(0)
    assert {chosen(rng, "abc") for _ in range(60)} == {"a", "b", "c"}


def test_shuffled_keeps_the_options_and_gives_every_order() -> None:
    rng = np.random.default_rng(0)
    options = [1, 2, 2]
    orders = [tuple(shuffled(rng, options)) for _ in range(300)]
    counts = [orders.count(order) for order in ((1, 2, 2), (2, 1, 2), (2, 2, 1))]
    assert sum(counts) == 300
    assert min(counts) > 60
    assert options == [1, 2, 2]


def test_draws_are_pinned_to_the_stream() -> None:
    rng = np.random.default_rng(7)
    drawn = [below(rng, 100) for _ in range(4)], shuffled(rng, range(5))
    assert drawn == ([62, 89, 77, 22], [2, 0, 4, 3, 1])
