"""Skipped filling time: scores stay what the full simulation finds (R31, R39, R40)."""

import random
from dataclasses import replace

import numpy as np
from verifier_layouts import COPPER, IRON, Stepped, arm, asm, sink, source

from envs.layout import EAST, SOUTH, Entity, Layout
from envs.verifier import score_rate, verify
from envs.verifier.filling import _periods_alike

RECIPES_FED_BY = (("pipe", IRON), ("iron-stick", IRON), ("copper-cable", COPPER))


def filling_lines(seed: int) -> Layout:
    """Two machines with more arms that feed than arms that empty, on one product belt."""
    rng = random.Random(seed)
    entities = [Entity("belt", x, 6, EAST) for x in range(13)]
    entities.append(replace(sink(EAST, rng.choice(RECIPES_FED_BY)[0]), x=13, y=6))
    for x in (1, 8):
        recipe, item = rng.choice(RECIPES_FED_BY)
        entities.append(replace(source(EAST, rng.choice([item, None]), item), x=x - 1, y=0))
        entities += [Entity("belt", x + dx, 0, EAST) for dx in range(rng.choice([3, 4]))]
        entities.append(replace(asm(recipe), x=x, y=2))
        feeding = rng.sample(range(3), rng.choice([2, 3]))
        entities += [replace(arm(SOUTH), x=x + dx, y=1) for dx in feeding]
        entities.append(replace(arm(SOUTH), x=x + rng.randrange(3), y=5))
    return Layout(14, 7, tuple(entities))


def test_scores_of_filling_machines_equal_the_full_simulation():
    long_runs = 0
    for seed in range(40):
        layout = filling_lines(seed)
        scored = next(entity.item for entity in layout.entities if entity.kind == "sink")
        result = verify(layout)
        assert result.exact
        rate = next(rate.rate for rate in result.rates if rate.item == scored)
        assert score_rate(layout) == rate, f"seed {seed}"
        long_runs += result.ticks > 4000
    assert long_runs > 20


def test_nothing_is_skipped_once_a_machine_has_reached_its_stop_level():
    """The other machine's room must not stand in for the one that has none."""
    stepped = Stepped(filling_lines(0), 0)
    stops = stepped.plan.machines["stop_level"].astype(np.int32)
    stepped.state.machines["made"] = 10
    before = np.full(2, 9, np.int32)
    for full in range(2):
        highest = np.full(2, 10, np.int32)
        highest[full] = stops[full]
        assert _periods_alike(stepped.plan, stepped.state, before, before, highest) == 0
    highest = np.full(2, 10, np.int32)
    alike = _periods_alike(stepped.plan, stepped.state, before, before, highest)
    assert alike == min(stops) - 1 - 10
