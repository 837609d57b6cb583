"""The graph of who hands items to whom, next to the verifier's own count of what arrives."""

import json
from pathlib import Path

import pytest

from envs.item_flow import arm_ends, belts_before, continues, item_flow, spread
from envs.layout import Entity
from envs.layout_json import layout_from_json
from envs.verifier import verify

DATA = Path(__file__).parents[1] / "data"
LAYOUTS = json.loads((DATA / "layouts_public.json").read_text())


def belt(x: int, y: int, direction: int, kind: str = "belt") -> Entity:
    return Entity(kind, x, y, direction)


def edges(*entities: Entity) -> set[tuple[int, int]]:
    flow = item_flow(entities)
    found = {(giver, taker) for giver, takers in enumerate(flow.after) for taker in takers}
    assert found == {(giver, taker) for taker, givers in enumerate(flow.before) for giver in givers}
    return found


def test_belts_hand_on_ahead_but_not_head_on_into_sources_or_out_of_sinks() -> None:
    assert edges(belt(0, 0, 1), belt(1, 0, 2)) == {(0, 1)}
    assert edges(belt(0, 0, 1), belt(1, 0, 3)) == set()
    assert edges(belt(0, 0, 1), belt(1, 0, 1, "source")) == set()
    assert edges(belt(0, 0, 1, "sink"), belt(1, 0, 1)) == set()
    assert edges(belt(0, 0, 1, "source"), belt(1, 0, 0, "sink")) == {(0, 1)}


def test_arms_work_only_between_two_ends_of_r6() -> None:
    arm = Entity("inserter", 1, 0, 1)
    assert edges(belt(0, 0, 0), arm, belt(2, 0, 0)) == {(0, 1), (1, 2)}
    assert edges(belt(0, 0, 0), arm) == set()
    assert edges(belt(0, 0, 0), arm, belt(2, 0, 0, "source")) == set()
    assert edges(Entity("chest_sink", 0, 0), arm, belt(2, 0, 0)) == set()
    assert edges(Entity("chest_src", 0, 0), arm, Entity("asm", 2, -1)) == {(0, 1), (1, 2)}
    long = Entity("inserter", 3, 3, 0, prototype="long-handed-inserter")
    assert arm_ends(long) == ((3, 5), (3, 1))


def test_a_side_feed_turns_only_a_belt_without_another_feeder() -> None:
    turn = (belt(0, 0, 1), belt(1, 0, 0))
    assert continues(0, 1, turn, item_flow(turn))
    sideload = (*turn, belt(1, 1, 0))
    flow = item_flow(sideload)
    assert not continues(0, 1, sideload, flow)
    assert continues(2, 1, sideload, flow)
    assert sorted(belts_before(1, sideload, flow)) == [0, 2]


def test_items_stop_at_ends_and_where_they_are_not_accepted() -> None:
    chain = [[1], [2], [3], []]
    assert spread(chain, {0: "ab"}, {}, ()) == [set(), {"a", "b"}, {"a", "b"}, {"a", "b"}]
    assert spread(chain, {0: "ab"}, {2: frozenset("a")}, ()) == [set(), {"a", "b"}, {"a"}, {"a"}]
    assert spread(chain, {0: "a", 2: "c"}, {}, [2]) == [set(), {"a"}, {"a"}, {"c"}]
    assert spread([[1], [0]], {0: "a"}, {}, ()) == [{"a"}, {"a"}]


@pytest.mark.parametrize("number", range(0, len(LAYOUTS), 10))
def test_what_arrives_at_a_sink_is_in_its_set(number: int) -> None:
    layout = layout_from_json(LAYOUTS[number])
    seeds = {
        place: [item for item in (one.left, one.right, one.recipe) if item]
        for place, one in enumerate(layout.entities)
    }
    machines = [place for place, one in enumerate(layout.entities) if one.recipe]
    flow = item_flow(layout.entities)
    arriving = spread(flow.after, seeds, {}, machines)
    for rate in verify(layout).rates:
        if rate.rate:
            assert rate.item in arriving[flow.at[rate.x, rate.y]]
