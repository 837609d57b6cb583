"""Poles supply every consumer as one network, out of the way, and are as few as needed."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from power_checker import PlacedPole, power_faults
from public_layouts import PUBLIC, public_layout

from envs.blueprint.power import Power, plan_power
from envs.layout import EAST, WEST, Entity, Layout


def placed(power: Power) -> list[PlacedPole]:
    return [
        (pole.kind.prototype, pole.x + pole.kind.size / 2, pole.y + pole.kind.size / 2)
        for pole in power.poles
    ]


def faults(layout: Layout) -> list[str]:
    power = plan_power(layout)
    return power_faults(layout, placed(power), power.wires)


def arms(width: int, height: int, cells: Iterable[tuple[int, int]]) -> Layout:
    """Inserters on some cells of a grid."""
    return Layout(width, height, tuple(Entity("inserter", x, y, EAST) for x, y in cells))


def full(width: int, height: int) -> Layout:
    return arms(width, height, product(range(width), range(height)))


def turned(layout: Layout) -> Layout:
    """The layout mirrored at the diagonal."""
    entities = (replace(entity, x=entity.y, y=entity.x) for entity in layout.entities)
    return Layout(layout.height, layout.width, tuple(entities))


def names(layout: Layout) -> list[str]:
    return [pole.kind.prototype for pole in plan_power(layout).poles]


@pytest.mark.parametrize("name", PUBLIC)
def test_at_most_two_substations_outside_the_grid_power_a_public_layout(name: str) -> None:
    layout = public_layout(name)
    power = plan_power(layout)
    assert power.complete
    assert power_faults(layout, placed(power), power.wires) == []
    assert names(layout) == ["substation"] * len(power.poles)
    assert len(power.poles) <= 2
    for pole in power.poles:
        assert not (-2 < pole.x < layout.width and -2 < pole.y < layout.height)


def test_what_burns_fuel_or_needs_nothing_gets_no_poles() -> None:
    entities = (
        Entity("belt", 0, 0, EAST),
        Entity("inserter", 1, 0, EAST, prototype="burner-inserter"),
        Entity("furnace", 2, 0, prototype="stone-furnace"),
        Entity("furnace", 4, 0, prototype="steel-furnace"),
        Entity("chest_src", 6, 0),
    )
    assert plan_power(Layout(12, 12, entities)) == Power((), (), complete=True)


@pytest.mark.parametrize(
    "entity",
    [
        Entity("inserter", 5, 5, EAST),
        Entity("inserter", 5, 5, EAST, prototype="long-handed-inserter"),
        Entity("inserter", 5, 5, EAST, prototype="fast-inserter"),
        Entity("asm", 5, 5),
        Entity("asm", 5, 5, prototype="assembling-machine-3"),
        Entity("furnace", 5, 5, prototype="electric-furnace"),
    ],
    ids=lambda entity: entity.prototype,
)
def test_one_electric_entity_gets_one_substation(entity: Entity) -> None:
    layout = Layout(12, 12, (entity,))
    assert names(layout) == ["substation"]
    assert faults(layout) == []


@pytest.mark.parametrize("turn", [lambda layout: layout, turned], ids=["upright", "turned"])
@pytest.mark.parametrize(
    ("width", "height", "count"),
    [(8, 18, 1), (9, 18, 2), (16, 18, 2), (16, 19, 4), (16, 36, 4), (8, 54, 3), (8, 55, 4)],
)
def test_a_full_module_gets_no_more_substations_than_its_area_needs(
    turn: Callable[[Layout], Layout], width: int, height: int, count: int
) -> None:
    layout = turn(full(width, height))
    assert faults(layout) == []
    assert names(layout) == ["substation"] * count


def test_two_sides_are_joined_where_only_one_pair_of_places_is_in_reach() -> None:
    # Across 16 tiles the wire is exactly 18 long, so both substations stand in the same row.
    layout = arms(16, 16, [(0, 0), (15, 15)])
    first, second = plan_power(layout).poles
    assert (second.x - first.x, second.y - first.y) == (18, 0)
    assert faults(layout) == []


@pytest.mark.parametrize("turn", [lambda layout: layout, turned], ids=["upright", "turned"])
def test_a_gap_along_a_side_is_bridged(turn: Callable[[Layout], Layout]) -> None:
    layout = turn(arms(8, 100, [(3, 0), (3, 99)]))
    assert faults(layout) == []
    # 17 rows from the first arm's to the last one's substation, at most 18 apart: 82 / 18.
    assert len(names(layout)) == 6


def test_ports_along_both_sides_stay_open() -> None:
    ports = [
        port
        for y in range(12)
        for port in (
            Entity("source", 0, y, EAST, left="iron-plate"),
            Entity("sink", 11, y, EAST, item="iron-plate"),
        )
    ]
    layout = Layout(12, 12, (*ports, *full(10, 12).entities))
    shifted = [replace(entity, x=entity.x + 1) for entity in layout.entities[len(ports) :]]
    layout = replace(layout, entities=(*ports, *shifted))
    assert set(names(layout)) == {"substation"}
    assert faults(layout) == []


def test_substations_stand_back_where_ports_are_on_all_four_sides() -> None:
    ports = [
        port
        for place in range(1, 11)
        for port in (
            Entity("source", 0, place, EAST, left="iron-plate"),
            Entity("sink", 11, place, EAST),
            Entity("source", place, 0, 2, left="iron-plate"),
            Entity("sink", place, 11, 2),
        )
    ]
    inside = [replace(arm, x=arm.x + 5, y=arm.y + 5) for arm in full(2, 2).entities]
    layout = Layout(12, 12, (*ports, *inside))
    assert set(names(layout)) == {"substation"}
    assert faults(layout) == []


def test_a_wide_module_gets_medium_poles_on_free_cells() -> None:
    machines = [Entity("asm", x, y) for x in range(0, 29, 4) for y in range(0, 29, 4)]
    layout = Layout(31, 31, tuple(machines))
    power = plan_power(layout)
    assert set(names(layout)) == {"medium-electric-pole"}
    assert faults(layout) == []
    assert any(0 <= pole.x < 31 and 0 <= pole.y < 31 for pole in power.poles)
    # 64 machines, at most 9 of them within one supply area of 7 x 7 tiles.
    assert 64 / 9 <= len(power.poles) <= 30


def test_medium_poles_bridge_free_land_in_the_fewest_hops() -> None:
    layout = arms(60, 60, [(0, 30), (59, 30)])
    assert faults(layout) == []
    # 59 tiles less 3 at either end is 53, in hops of 9 at most: 6, hence 7 poles.
    assert len(names(layout)) == 7


def test_medium_poles_go_round_what_they_cannot_cross() -> None:
    wall = [Entity("chest_src", x, y) for x in range(15, 27) for y in range(1, 40)]
    layout = Layout(42, 40, (*wall, *arms(42, 40, [(5, 30), (36, 30)]).entities))
    assert faults(layout) == []
    assert set(names(layout)) == {"medium-electric-pole"}


def test_a_packed_module_is_said_to_be_unpowered_and_gets_no_poles() -> None:
    machines = tuple(Entity("asm", x, y) for x in range(0, 21, 3) for y in range(0, 21, 3))
    assert plan_power(Layout(21, 21, machines)) == Power((), (), complete=False)


def test_an_arm_beyond_the_reach_of_every_wire_leaves_the_module_unpowered() -> None:
    # One free cell beside the inner arm; eleven tiles of chests between it and any other pole.
    cells = set(product(range(25), range(25))) - {(12, 12), (12, 13)}
    chests = tuple(Entity("chest_src", x, y) for x, y in cells)
    outer = replace(chests[0], kind="inserter", direction=EAST, prototype="inserter")
    inner = Entity("inserter", 12, 12, EAST)
    assert not plan_power(Layout(25, 25, (outer, *chests[1:], inner))).complete


@pytest.mark.parametrize(
    "layout",
    [full(16, 36), full(9, 40), arms(8, 100, [(3, 0), (3, 99)]), arms(40, 40, [(0, 0), (39, 39)])],
    ids=["16x36", "9x40", "gap", "wide"],
)
def test_no_pole_can_be_left_out(layout: Layout) -> None:
    power = plan_power(layout)
    poles = placed(power)
    for gone in range(len(poles)):
        left = [pole for number, pole in enumerate(poles) if number != gone]
        everything = [(a, b) for a in range(len(left)) for b in range(a)]
        short = [pair for pair in everything if not power_faults(Layout(1, 1, ()), left, [pair])]
        assert power_faults(layout, left, short)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_layout_is_powered_without_fault_or_said_to_be_unpowered(data: st.DataObject) -> None:
    width, height = data.draw(st.tuples(st.integers(3, 30), st.integers(3, 30)))
    taken: set[tuple[int, int]] = set()
    entities = []
    for kind in data.draw(st.lists(st.sampled_from(["asm", "inserter", "source", "sink"]))):
        size = 3 if kind == "asm" else 1
        x = data.draw(st.integers(0, width - size))
        y = data.draw(st.integers(0, height - size))
        direction = None if kind == "asm" else data.draw(st.integers(0, 3))
        entity = Entity(kind, x, y, direction)
        if taken.isdisjoint(entity.tiles()):
            taken.update(entity.tiles())
            entities.append(entity)
    layout = Layout(width, height, tuple(entities))
    power = plan_power(layout)
    if power.complete:
        assert power_faults(layout, placed(power), power.wires) == []
    else:
        assert not power.poles
    assert plan_power(replace(layout, entities=layout.entities[::-1])) == power


def test_the_checker_finds_each_kind_of_fault() -> None:
    layout = Layout(
        12, 12, (Entity("inserter", 0, 0, EAST), Entity("source", 5, 5, WEST, left="iron-plate"))
    )
    near: PlacedPole = ("substation", -1, 5)
    assert power_faults(layout, [near], []) == []
    assert power_faults(layout, [("substation", -9, 5)], []) == ["inserter at (0, 0) has no power"]
    far: PlacedPole = ("substation", -1, 24)
    assert "too long" in power_faults(layout, [near, far], [(0, 1)])[0]
    assert power_faults(layout, [near, ("substation", -1, 20)], []) == [
        "the poles are not one network"
    ]
    mixed: PlacedPole = ("medium-electric-pole", 8.5, 5.5)
    assert "too long" in power_faults(layout, [near, mixed], [(0, 1)])[0]
    assert "stands on inserter" in power_faults(layout, [("substation", 1, 1)], [])[0]
    assert "source's end" in power_faults(layout, [near, ("substation", 7, 5)], [(0, 1)])[0]
