"""The public functions: agreement, threads, reward hacks, refused layouts, cheap imports."""

import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import pytest
from verifier_layouts import (
    COPPER,
    GEAR,
    IRON,
    arm,
    asm,
    draw,
    mutated_case,
    random_layout,
    random_rings,
    sink,
    source,
    supported_cases,
    whole_plan,
)

from envs.layout import EAST, NORTH, SINK_KINDS, SOUTH, WEST, Entity, Layout, LayoutError
from envs.verifier import RULES_VERSION, score_rate, score_rates, verify, verify_many
from envs.verifier.reach import can_reach

GEAR_LINE = """
    S>>>>....
    ..A......
    .M.......
    .........
    .........
    ..B......
    ..>>K....
"""


def gear_line(**changes: Entity) -> Layout:
    """Iron belt, arm, gear machine, arm, belt, sink."""
    legend = {
        "S": source(EAST),
        "A": arm(SOUTH),
        "M": asm(GEAR),
        "B": arm(SOUTH),
        "K": sink(EAST, GEAR),
    }
    return draw(GEAR_LINE, **(legend | changes))


def with_one_sink(layout: Layout, item: str) -> Layout:
    """The layout with its first sink only, scoring an item; None where it has no sink."""
    sinks = [entity for entity in layout.entities if entity.kind in SINK_KINDS]
    kept = [entity for entity in layout.entities if entity.kind not in SINK_KINDS]
    first = sinks[0] if sinks else Entity("sink", 0, 0, 0)
    kept = [entity for entity in kept if (first.x, first.y) not in entity.tiles()]
    return replace(layout, entities=(*kept, replace(first, item=item)))


def scorable(seed: int) -> Layout:
    rng = random.Random(seed)
    make = rng.choice([random_layout, mutated_case, mutated_case, random_rings])
    layout = make(seed)
    scored = [entity.item for entity in layout.entities if entity.kind in SINK_KINDS]
    item = scored[0] if scored and scored[0] and make is mutated_case else rng.choice([GEAR, IRON])
    return with_one_sink(layout, item)


def test_rules_version_is_named():
    assert RULES_VERSION == "fv-1"


def test_score_rate_agrees_with_full_simulation_and_early_zeros_are_right():
    early = functional = 0
    for seed in range(300):
        layout = scorable(seed)
        scored = next(entity for entity in layout.entities if entity.kind in SINK_KINDS).item
        result = verify(layout, tick_cap=30_000)
        rate = next(rate.rate for rate in result.rates if rate.item == scored)
        plan, rows = whole_plan(layout)
        reachable = can_reach(plan, 0, rows.items.index(scored))
        early += not reachable
        functional += rate > 0
        assert reachable or rate == 0, f"seed {seed}"
        expected = rate if result.exact or not reachable else None
        assert score_rate(layout, tick_cap=30_000) == expected, f"seed {seed}"
    assert early > 50
    assert functional > 15


def test_results_do_not_depend_on_the_number_of_threads():
    layouts = [layout for _, layout in supported_cases().values()]
    layouts += [random_layout(seed) for seed in range(30)]
    one = verify_many(layouts, threads=1)
    assert one == verify_many(layouts, threads=4) == verify_many(layouts)
    assert one == [verify(layout) for layout in layouts]


def test_score_rates_keeps_the_order_on_the_callers_pool():
    layouts = [scorable(seed) for seed in range(40)]
    with ThreadPoolExecutor(3) as pool:
        assert score_rates(layouts, pool, 20_000) == [score_rate(la, 20_000) for la in layouts]


def test_garbage_layouts_end_at_a_small_cap():
    for seed in range(2000, 2200):
        result = verify(random_layout(seed, size=9), tick_cap=500)
        assert result.ticks <= 500
        assert all(0 <= rate.lower <= rate.rate <= rate.upper for rate in result.rates)


def test_order_of_entities_carries_no_meaning():
    for seed in range(40):
        layout = mutated_case(seed)
        shuffled = list(layout.entities)
        random.Random(seed).shuffle(shuffled)
        assert verify(replace(layout, entities=tuple(shuffled)), 20_000) == verify(layout, 20_000)


def test_decoys_that_nothing_reaches_change_no_rate():
    bare = gear_line()
    decoys = (
        Entity("belt", 8, 1, WEST),
        Entity("belt", 7, 1, SOUTH),
        Entity("inserter", 8, 3, NORTH),
        Entity("asm", 5, 2, recipe=GEAR),
    )
    decoyed = replace(bare, entities=(*bare.entities, *decoys))
    assert verify(decoyed).rates == verify(bare).rates
    assert score_rate(bare) == score_rate(decoyed) == Fraction(15, 32)


def test_grid_size_and_place_do_not_matter():
    layout = gear_line()
    moved = tuple(replace(e, x=e.x + 3, y=e.y + 2) for e in layout.entities)
    found = verify(Layout(layout.width + 3, layout.height + 4, moved))
    assert [rate.rate for rate in found.rates] == [rate.rate for rate in verify(layout).rates]
    assert found.transient_ticks == verify(layout).transient_ticks


def test_raw_items_on_a_bypass_belt_score_nothing():
    bypass = draw("S>>>K", S=source(EAST), K=sink(EAST, GEAR))
    assert score_rate(bypass) == 0
    assert {rate.item: rate.rate for rate in verify(bypass).rates} == {GEAR: 0, IRON: 15}


def test_wrong_product_scores_nothing():
    assert score_rate(gear_line(M=asm("pipe"))) == 0
    assert score_rate(gear_line(K=sink(EAST, "pipe"))) == 0


def test_sink_beside_the_source_scores_no_product():
    assert score_rate(draw("SK", S=source(EAST), K=sink(EAST, GEAR))) == 0


def test_layout_with_nothing_between_the_ports_scores_nothing():
    assert score_rate(draw("S...K", S=source(EAST), K=sink(EAST, GEAR))) == 0


def test_products_carried_back_from_the_sink_are_not_counted_twice():
    layout = draw(
        """
        S>>>>....
        ..A......
        .M.......
        .........
        .........
        ..B......
        ..>>>>K..
        ...^..C..
        ...^<<<..
        """,
        S=source(EAST),
        A=arm(SOUTH),
        M=asm(GEAR),
        B=arm(SOUTH),
        C=arm(SOUTH),
        K=sink(EAST, GEAR),
    )
    assert score_rate(layout) == Fraction(15, 32)


def test_score_needs_exactly_one_sink_with_a_scored_item():
    for text in ("S>>", "S>K\nS>K"):
        with pytest.raises(LayoutError, match="one sink"):
            score_rate(draw(text, S=source(EAST), K=sink(EAST)))
    with pytest.raises(LayoutError, match="scored item"):
        score_rate(draw("S>K", S=source(EAST), K=sink(EAST, None)))


@pytest.mark.parametrize(
    "entities",
    [
        (Entity("belt", 1, 1, EAST), Entity("belt", 1, 1, WEST)),
        (Entity("asm", 2, 2, recipe=GEAR),),
        (Entity("belt", -1, 0, EAST),),
        (Entity("pump", 0, 0, EAST),),
        (Entity("belt", 0, 0, None),),
        (Entity("belt", 0, 0, 4),),
        (Entity("asm", 0, 0, recipe="iron-plate"),),
    ],
)
def test_invalid_layouts_are_refused(entities):
    layout = Layout(4, 4, entities)
    with pytest.raises(LayoutError):
        verify(layout)
    with pytest.raises(LayoutError):
        verify_many([Layout(1, 1, ()), layout], threads=2)


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


def test_copper_on_the_iron_lane_of_a_gear_machine_scores_nothing():
    assert score_rate(gear_line(S=source(EAST, COPPER, COPPER))) == 0
