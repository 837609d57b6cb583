"""Changes to a layout whose effect is known without knowing its rate."""

import json
import math
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
from random_layouts import mutated_case, random_crowd, random_factory, random_layout, random_rings
from verifier_layouts import Stepped, cases, public_layouts

from envs.layout import BELT_KINDS, DIRECTION_VECTORS, Entity, Layout
from envs.verifier import Verified, verify, verify_many

MAKERS = (random_layout, mutated_case, random_rings, random_factory, random_crowd)
CAP = 60_000


def samples(count: int) -> list[Layout]:
    """Public layouts and random ones of each kind."""
    layouts = [layout for _, layout in public_layouts().values()][:count]
    return layouts + [make(seed) for make in MAKERS for seed in range(count)]


def moved(layout: Layout, dx: int, dy: int, width: int, height: int) -> Layout:
    """The layout at another place of a larger grid."""
    entities = tuple(replace(e, x=e.x + dx, y=e.y + dy) for e in layout.entities)
    return Layout(width, height, entities)


def _recurrence(found: Verified) -> tuple[int, int]:
    assert found.transient_ticks is not None
    assert found.period_ticks is not None
    return found.transient_ticks, found.period_ticks


def side_by_side(one: Layout, other: Layout) -> Layout:
    """Two layouts with empty columns between them, which no long arm crosses."""
    width, height = one.width + 3 + other.width, max(one.height, other.height)
    beside = moved(other, one.width + 3, 0, width, height)
    return Layout(width, height, one.entities + beside.entities)


def test_order_of_entities_carries_no_meaning():
    for seed, layout in enumerate(samples(20)):
        shuffled = list(layout.entities)
        random.Random(seed).shuffle(shuffled)
        assert verify(replace(layout, entities=tuple(shuffled)), CAP) == verify(layout, CAP)


def test_place_and_size_of_the_grid_do_not_matter():
    for layout in samples(20):
        found = verify(moved(layout, 4, 3, layout.width + 5, layout.height + 7), CAP)
        rates = tuple(replace(rate, x=rate.x - 4, y=rate.y - 3) for rate in found.rates)
        assert replace(found, rates=rates) == verify(layout, CAP)


def idle_entities(layout: Layout, rng: random.Random) -> list[Entity]:
    """Entities on free tiles that nothing moves an item to, and that move no item anywhere."""
    taken = {tile for entity in layout.entities for tile in entity.tiles()}
    near = {
        (entity.x + step * dx, entity.y + step * dy)
        for entity in layout.entities
        if entity.kind in (*BELT_KINDS, "inserter")
        for dx, dy in DIRECTION_VECTORS
        for step in (1, 2)
    }
    free = [(x, y) for x in range(layout.width) for y in range(layout.height)]
    free = [tile for tile in free if tile not in taken | near]
    made = []
    for x, y in rng.sample(free, min(len(free), 6)):
        kind = rng.choice(["belt", "inserter", "chest_src", "source"])
        made.append(Entity(kind, x, y, rng.randrange(4) if kind != "chest_src" else None))
    return made


def test_idle_entities_change_nothing():
    added = 0
    for seed, layout in enumerate(samples(40)):
        more = idle_entities(layout, random.Random(seed))
        added += len(more)
        found = verify(replace(layout, entities=(*layout.entities, *more)), CAP)
        alone = verify(layout, CAP)
        assert replace(found, ticks=0) == replace(alone, ticks=0)
    assert added > 200


def test_what_stands_apart_changes_no_rate():
    """Each half recurs for itself: rates side by side, periods by their least multiple."""
    layouts = samples(15)
    others = random.Random(5).sample(layouts, len(layouts))
    for one, other in zip(layouts, others, strict=True):
        both = verify(side_by_side(one, other), CAP)
        alone, beside = verify(one, CAP), verify(other, CAP)
        shifted = [replace(rate, x=rate.x + one.width + 3) for rate in beside.rates]
        assert sorted(both.rates, key=repr) == sorted((*alone.rates, *shifted), key=repr)
        assert both.exact == (alone.exact and beside.exact)
        if both.exact:
            assert _recurrence(both) == (
                max(_recurrence(alone)[0], _recurrence(beside)[0]),
                math.lcm(_recurrence(alone)[1], _recurrence(beside)[1]),
            )


def entered(stepped: Stepped) -> Counter[str]:
    """Items that sources and chests have given and machines have made so far."""
    names, plan, state = stepped.rows.items, stepped.plan, stepped.state
    found: Counter[str] = Counter()
    for chain, info in zip(state.chains, plan.chains, strict=True):
        found[names[info["source_item"]]] += int(chain["fed"])
    for arm, info in zip(state.arms, plan.arms, strict=True):
        if info["from_item"] >= 0:
            found[names[info["from_item"]]] += int(arm["picked"])
    for machine, info in zip(state.machines, plan.machines, strict=True):
        done = int(machine["crafts"]) - int(machine["remaining"] > 0)
        found[names[info["product"]]] += done * int(info["per_craft"])
    return +found


def left_or_kept(stepped: Stepped) -> Counter[str]:
    """Items delivered or used up so far, and those on belts, in hands and in machines."""
    names, plan, state = stepped.rows.items, stepped.plan, stepped.state
    found: Counter[str] = Counter()
    for row in state.delivered:
        found.update({names[item]: int(count) for item, count in enumerate(row) if count})
    for chain in state.chains:
        items = state.item[chain["first"] : chain["first"] + chain["count"]]
        found.update(names[item] for item in items)
    found.update(names[arm["held"]] for arm in state.arms if arm["held"] >= 0)
    for number, machine in enumerate(state.machines):
        info = plan.machines[number]
        found[names[info["product"]]] += int(machine["made"])
        for slot in range(info["needs"]):
            need = plan.needs[number, slot]
            used = int(machine["crafts"]) * int(need["amount"])
            found[names[need["item"]]] += used + int(state.stock[number, slot])
    return +found


@pytest.mark.parametrize("ticks", [77, 1000, 5003])
def test_items_are_neither_lost_nor_made(ticks):
    for layout in samples(25) + [layout for _, layout in cases().values()]:
        stepped = Stepped(layout, ticks)
        assert entered(stepped) == left_or_kept(stepped)


def test_two_runs_and_any_number_of_threads_give_the_same_fractions():
    layouts = samples(15)
    one = verify_many(layouts, threads=1, tick_cap=CAP)
    assert one == verify_many(layouts, threads=2, tick_cap=CAP)
    assert one == verify_many(layouts, threads=4, tick_cap=CAP)
    assert one == [verify(layout, CAP) for layout in layouts]


def test_another_process_gives_the_same_fractions():
    code = (
        "import json, sys\n"
        "from envs.layout_json import layout_from_json\n"
        "from envs.verifier import verify\n"
        "print([verify(layout_from_json(obj)).rates for obj in json.load(sys.stdin)])\n"
    )
    objects = [case for case, _ in cases().values()]
    ran = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(objects),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == str([verify(layout).rates for _, layout in cases().values()])
