"""The public functions: scores agree with full runs, certain zeros, threads, cheap imports."""

import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from random_layouts import mutated_case, random_factory, random_layout, random_rings
from verifier_layouts import GEAR, IRON, draw, sink, source, whole_plan

from envs.layout import EAST, SINK_KINDS, Entity, Layout, LayoutError
from envs.verifier import RULES_VERSION, score_rate, score_rates, verify, verify_many
from envs.verifier.reach import can_reach

CAP = 30_000


def scorable(seed: int) -> Layout:
    """A random layout with one of its sinks only, which mostly scores what it scored before."""
    rng = random.Random(seed)
    layout = rng.choice([random_layout, mutated_case, random_factory, random_rings])(seed)
    sinks = [entity for entity in layout.entities if entity.kind in SINK_KINDS]
    kept = [entity for entity in layout.entities if entity.kind not in SINK_KINDS]
    scoring = [entity for entity in sinks if entity.item is not None]
    one = rng.choice(scoring or [Entity("sink", 0, 0, 0)])
    kept = [entity for entity in kept if (one.x, one.y) not in entity.tiles()]
    item = one.item if one.item and rng.random() < 0.8 else rng.choice([GEAR, IRON])
    return replace(layout, entities=(*kept, replace(one, item=item)))


def test_rules_version_is_named():
    assert RULES_VERSION == "fv-1"


def test_r48_score_agrees_with_full_simulation_and_early_zeros_are_right():
    early = functional = 0
    for seed in range(400):
        layout = scorable(seed)
        scored = next(entity for entity in layout.entities if entity.kind in SINK_KINDS).item
        full = next(r for r in verify(layout, CAP).rates if r.item == scored)
        plan, rows = whole_plan(layout)
        reachable = can_reach(plan, 0, rows.items.index(scored))
        early += not reachable
        functional += full.rate > 0
        assert reachable or full.rate == 0, f"seed {seed}"
        score = score_rate(layout, CAP)
        if score is None:
            assert full.lower < full.upper, f"seed {seed}"
        elif full.lower == full.upper:
            assert score == full.rate, f"seed {seed}"
        else:
            assert score == 0 or full.lower <= score <= full.upper, f"seed {seed}"
    assert early > 150
    assert functional > 50


def test_r48_certain_zeros_are_not_simulated():
    unconnected = draw("S>.>K", S=source(EAST), K=sink(EAST, IRON))
    connected = draw("S>>>K", S=source(EAST), K=sink(EAST, IRON))
    assert score_rate(unconnected, tick_cap=1) == 0
    assert score_rate(connected, tick_cap=1) is None


def test_score_rates_keeps_the_order_on_the_callers_pool():
    layouts = [scorable(seed) for seed in range(40)]
    with ThreadPoolExecutor(3) as pool:
        assert score_rates(layouts, pool, CAP) == [score_rate(one, CAP) for one in layouts]


def test_score_needs_exactly_one_sink_with_a_scored_item():
    for text in ("S>>", "S>K\nS>K"):
        with pytest.raises(LayoutError, match="one sink"):
            score_rate(draw(text, S=source(EAST), K=sink(EAST)))
    with pytest.raises(LayoutError, match="scored item"):
        score_rate(draw("S>K", S=source(EAST), K=sink(EAST, None)))


def test_thread_count_below_one_is_refused():
    with pytest.raises(ValueError, match="threads"):
        verify_many([], threads=0)


def test_verifier_loads_no_jax_and_its_package_nothing_heavy():
    code = (
        "import sys, envs.verifier as v\n"
        "assert v.RULES_VERSION and not {'numba', 'numpy', 'jax'} & set(sys.modules)\n"
        "from envs.layout import Layout\n"
        "v.verify(Layout(3, 3, ()))\n"
        "assert 'jax' not in sys.modules and 'numba' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_name_is_no_attribute():
    import envs.verifier

    with pytest.raises(AttributeError, match="nonsense"):
        _ = envs.verifier.nonsense
