"""The engine against `factory-sim`, which replays measurements of the game (R7-R18, R20-R35)."""

import pytest
from peer import STEP_TICKS, Peer
from peer_comparison import Pair, compare, larger_differences, shares
from peer_layouts import BURNER, active_arms, by_tile, misfits, random_layout, untrue_drops
from verifier_layouts import COPPER, IRON, Stepped, delivered_after, draw, sink, source

from envs.layout import EAST, NORTH, SOUTH, WEST, Entity, Layout, validate
from envs.verifier.compile import compile_layout
from envs.verifier.records import DEAD_END, SIDELOAD

SEEDS, TICKS = range(600), 12_000


@pytest.mark.slow
def test_counts_of_random_layouts_agree_with_an_independent_simulator():
    """In none of these layouts the order of simultaneous events (R13, R14, R16) decides a count."""
    pairs = compare(SEEDS, TICKS)
    identical, near = shares(pairs)
    print(f"{len(pairs)} pairs: {identical:.2%} identical, {near:.2%} within 2 %")
    print(larger_differences(pairs))
    assert len(pairs) > 1_000
    assert (identical, near) == (1, 1)


def stands_alike(seed: int, ticks: int) -> bool:
    """Whether every item on the belts of a seed's layout has the same position in the peer."""
    layout = random_layout(seed)
    ours, peer = Stepped(layout, ticks), Peer(layout)
    peer.run(ticks)
    return all(
        ours.items(x, y, lane) == peer.items(x, y, lane) for x, y in peer.belts for lane in (0, 1)
    )


def test_items_of_random_layouts_stand_where_they_do_in_an_independent_simulator():
    """In five of these layouts two items reach an empty lane at once, or loops have a seam."""
    unlike = [seed for seed in range(300) if not stands_alike(seed, 1_600)]
    assert len(unlike) <= 5, f"seeds {unlike}"


def arm(drop: int) -> Entity:
    return Entity("inserter", 0, 0, drop, prototype=BURNER)


PORTS = draw("S>>v\n..vK\n..>^", S=source(EAST, IRON, COPPER), K=sink(EAST))
CHESTS = draw(
    """
    CAK.
    .B..
    S>>E
    """,
    S=source(EAST, COPPER, None),
    E=sink(SOUTH),
    C=Entity("chest_src", 0, 0, item=IRON),
    K=Entity("chest_sink", 0, 0, item=IRON),
    A=arm(EAST),
    B=arm(NORTH),
)


@pytest.mark.parametrize("layout", [PORTS, CHESTS])
def test_items_arrive_in_the_same_tick(layout: Layout):
    for ticks in range(STEP_TICKS, 60 * STEP_TICKS, STEP_TICKS):
        assert Peer(layout).run(ticks) == delivered_after(layout, ticks), f"{ticks} ticks"


def test_pairs_are_judged_by_two_percent_of_the_larger_count():
    pairs = [Pair(0, 0, 0, IRON, *counts) for counts in ((50, 49), (49, 50), (49, 48), (0, 1))]
    assert [pair.near for pair in pairs] == [True, True, False, False]
    assert shares([*pairs, Pair(0, 0, 0, IRON, 7, 7)]) == (0.2, 0.6)


def test_random_layouts_are_valid_repeatable_and_have_everything_the_peer_knows():
    kinds, links, loops, arms, mixed = set(), set(), 0, 0, 0
    for seed in range(100):
        layout = random_layout(seed)
        validate(layout)
        assert layout == random_layout(seed)
        plan, _ = compile_layout(layout)
        kinds |= {entity.kind for entity in layout.entities}
        links |= set(plan.lanes["link"][plan.lanes["length"] > 0])
        links |= {"turn"} if 106 in plan.lanes["length"] else set()
        loops += bool(plan.chains["is_loop"].any())
        arms += len(plan.arms) > 1
        mixed += any(e.left != e.right for e in layout.entities if e.kind == "source")
    assert kinds == {"belt", "source", "sink", "inserter", "chest_src", "chest_sink"}
    assert {DEAD_END, SIDELOAD, "turn"} <= links
    assert min(loops, arms, mixed) > 5


def test_arms_that_the_peer_is_given_are_those_that_take_part():
    for seed in range(100):
        layout = random_layout(seed)
        tiles = {y * layout.width + x for x, y in active_arms(by_tile(layout))}
        assert tiles == set(compile_layout(layout)[0].arms["tile"])


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        (">S>", {(0, 0), (1, 0)}),  # no room for the belt behind a source
        ("..v.\n..S>", {(2, 0)}),  # pushes into a source
        (">.S", {(0, 0)}),  # and into the belt behind it
        ("K.>", {(0, 0)}),  # the belt behind a sink would feed another
        ("v..\nK..", set()),
        ("K>>", {(0, 0)}),  # no room for that belt
        ("..S\n<..", set()),
    ],
)
def test_what_would_flow_otherwise_in_the_peer_is_found(text: str, bad: set):
    layout = draw(text, S=source(EAST), K=sink(EAST))
    assert misfits(by_tile(layout)) == bad


@pytest.mark.parametrize(
    ("text", "drop", "found"),
    [(".v\nAK", EAST, True), ("v.\nKA", WEST, False), (".A\n>K", SOUTH, False)],
)
def test_drops_at_which_the_belt_behind_a_sink_matters_are_found(text: str, drop: int, found: bool):
    tiles = by_tile(draw(text, A=arm(drop), K=sink(EAST)))
    tiles[9, 9] = Entity("chest_src", 9, 9, item=IRON)
    if found:
        tiles[-1, 1] = Entity("chest_src", -1, 1, item=IRON)
    assert bool(untrue_drops(tiles)) == found
