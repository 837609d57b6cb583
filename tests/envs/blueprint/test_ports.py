"""Ports of a blueprint: what is inferred, what is asked for, and what a user may name."""

import pytest
from blueprint_examples import CHEST, FURNACE, asm, entity, picture, real

from envs.blueprint.importing import Imported, import_blueprint
from envs.blueprint.ports import InputPort, OutputPort, parse_input, parse_output
from envs.blueprint.text import BlueprintError
from envs.layout import Entity

GEARS = picture(
    """
    >>>>....
    ..s.....
    .A......
    ....e>>>
    ........
    """,
    A=asm("iron-gear-wheel"),
)
CIRCUITS = picture(
    """
    >>>>....
    ..s.....
    .A......
    ....e>>>
    ........
    ..n.....
    >>>>....
    """,
    A=asm("electronic-circuit"),
)
SMELTER = picture(
    """
    >>>>
    .s..
    .F..
    ....
    .s..
    >>>>
    """,
    F=FURNACE,
)
BELT_ONLY = picture(
    """
    >>>v
    ...v
    """
)

TAKEN_MIDWAY = picture(
    """
    >>>>>>>>>>....
    ..s......s....
    .A......B.....
    ....e>v....e>>
    ......v.......
    ......v..n....
    ......>>>>>>..
    """,
    A=asm("iron-gear-wheel"),
    B=asm("transport-belt"),
)
"""Gears go past the machine that takes them to an open belt end at (11, 6)."""


def read(obj, *ports: str) -> Imported:
    """Imports with ports as on the command line: `in x,y=item` and `out x,y=item`."""
    inputs = [parse_input(port[3:]) for port in ports if port.startswith("in ")]
    outputs = [parse_output(port[4:]) for port in ports if port.startswith("out ")]
    return import_blueprint(obj, inputs=inputs, outputs=outputs)


def ports_of(imported: Imported) -> dict[tuple[int, int], tuple[str | None, ...]]:
    """Items of sources (left, right), sinks and chests by tile."""
    kinds = {"source", "sink", "chest_src", "chest_sink"}
    return {
        (one.x, one.y): (one.left, one.right) if one.kind == "source" else (one.item,)
        for one in imported.layout.entities
        if one.kind in kinds
    }


def message_of(obj, *ports: str) -> str:
    with pytest.raises(BlueprintError) as caught:
        read(obj, *ports)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def at(imported: Imported, x: int, y: int) -> Entity:
    return next(one for one in imported.layout.entities if (one.x, one.y) == (x, y))


def test_an_input_carries_what_is_wanted_and_not_made_inside() -> None:
    found = read(GEARS)
    assert ports_of(found) == {
        (0, 0): ("iron-plate", "iron-plate"),
        (7, 3): ("iron-gear-wheel",),
    }
    told = "\n".join(found.inferred)
    assert "input (0, 0): iron-plate on both lanes" in told
    assert "output (7, 3): iron-gear-wheel" in told
    assert "belt end (3, 0): a dead end, since only iron-plate from outside gets there" in told


def test_real_blueprints_need_no_ports() -> None:
    assert ports_of(import_blueprint(real("circuitFac2"))) == {
        (0, 0): ("iron-plate", "iron-plate"),
        (0, 3): ("copper-plate", "copper-plate"),
        (12, 0): ("electronic-circuit",),
    }


def test_several_candidates_are_an_error_that_names_the_options() -> None:
    message = message_of(CIRCUITS)
    assert "--input 0,0=copper-cable " in message
    assert "--input 0,0=copper-cable,left --input 0,0=iron-plate,right" in message
    assert "(0, 6)" in message


def test_one_named_input_leaves_the_last_candidate_for_the_other() -> None:
    found = read(CIRCUITS, "in 0,0=iron-plate")
    assert ports_of(found)[0, 0] == ("iron-plate", "iron-plate")
    assert ports_of(found)[0, 6] == ("copper-cable", "copper-cable")


def test_a_named_lane_leaves_the_other_lane_empty() -> None:
    found = read(GEARS, "in 0,0=iron-plate,right")
    assert ports_of(found)[0, 0] == (None, "iron-plate")


def test_lanes_may_carry_different_items() -> None:
    ports = "in 0,0=iron-plate,left", "in 0,0=copper-cable,right", "in 0,6=none"
    found = read(CIRCUITS, *ports)
    assert ports_of(found) == {
        (0, 0): ("iron-plate", "copper-cable"),
        (7, 3): ("electronic-circuit",),
    }
    assert at(found, 0, 6).kind == "belt"


def test_a_furnace_smelts_what_it_is_brought() -> None:
    found = read(SMELTER, "in 0,0=stone")
    assert at(found, 1, 2).recipe == "stone-brick"
    assert ports_of(found)[3, 5] == ("stone-brick",)
    assert "furnace (1, 2): stone-brick (inferred from what is brought)" in found.inferred


def test_a_furnace_makes_what_its_output_is_named_as() -> None:
    found = read(SMELTER, "out 3,5=copper-plate")
    assert at(found, 1, 2).recipe == "copper-plate"
    assert ports_of(found)[0, 0] == ("copper-ore", "copper-ore")


def test_a_furnace_makes_what_machines_behind_it_want() -> None:
    obj = picture(
        """
        >>>>....
        .s......
        .F......
        ........
        .s......
        A.......
        ...e>>>>
        ........
        """,
        F=FURNACE,
        A=asm("iron-gear-wheel"),
    )
    found = read(obj)
    assert at(found, 1, 2).recipe == "iron-plate"
    assert ports_of(found)[0, 0] == ("iron-ore", "iron-ore")


def test_a_smelter_alone_asks_for_its_input() -> None:
    assert "--input 0,0=copper-ore" in message_of(SMELTER)


def test_a_furnace_that_gets_nothing_makes_nothing() -> None:
    found = read(SMELTER, "in 0,0=none")
    assert at(found, 1, 2).recipe is None
    assert "machine (1, 2): makes nothing, it has no recipe or gets no items" in found.inferred


def test_a_furnace_that_two_ores_can_reach_makes_its_rate_unknown() -> None:
    found = read(SMELTER, "in 0,0=iron-ore,left", "in 0,0=stone,right")
    assert found.unknown_sinks == {(3, 5)}
    assert [one.name for one in found.unsupported] == ["stone-furnace"]
    assert "iron-ore and stone" in found.unsupported[0].reason


def test_without_machines_every_belt_end_is_an_output() -> None:
    assert ports_of(read(BELT_ONLY, "in 0,0=stone")) == {
        (0, 0): ("stone", "stone"),
        (3, 1): ("stone",),
    }
    assert "--input 0,0=" in message_of(BELT_ONLY)
    mixed = "in 0,0=stone,left", "in 0,0=iron-ore,right"
    assert "--output 3,1=iron-ore" in message_of(BELT_ONLY, *mixed)
    assert ports_of(read(BELT_ONLY, *mixed, "out 3,1=stone"))[3, 1] == ("stone",)


def test_a_product_that_machines_inside_take_is_no_output() -> None:
    obj = picture(
        """
        >>>>>>>>>>>..
        ..s......s...
        .A......B....
        ....e>>e...e>
        .............
        """,
        A=asm("iron-gear-wheel"),
        B=asm("transport-belt"),
    )
    found = read(obj)
    assert ports_of(found) == {
        (0, 0): ("iron-plate", "iron-plate"),
        (12, 3): ("transport-belt",),
    }


def test_a_belt_of_an_intermediate_that_goes_on_stays_a_dead_end_and_says_so() -> None:
    found = read(TAKEN_MIDWAY)
    assert ports_of(found) == {
        (0, 0): ("iron-plate", "iron-plate"),
        (13, 3): ("transport-belt",),
    }
    told = "\n".join(found.inferred)
    assert "machines inside take its iron-gear-wheel (else pass --output 11,6=iron-gear" in told
    both = read(TAKEN_MIDWAY, "out 11,6")
    assert ports_of(both)[11, 6] == ("iron-gear-wheel",)


def test_a_belt_that_begins_before_the_first_drop_stays_empty() -> None:
    obj = picture(
        """
        >>>>...
        .s.....
        A......
        ...e...
        .......
        """,
        *(entity("transport-belt", 4, y, 2) for y in range(2, 6)),
        A=asm("iron-gear-wheel"),
    )
    found = read(obj)
    assert ports_of(found) == {
        (0, 0): ("iron-plate", "iron-plate"),
        (4, 5): ("iron-gear-wheel",),
    }
    assert "input (4, 2): left empty (inferred: nothing behind it takes anything)" in found.inferred


def test_a_belt_of_an_intermediate_may_begin_before_the_first_drop() -> None:
    obj = picture(
        """
        >>>>>>>>>>...
        ..s......s...
        .A...v..B....
        ....ev.....e>
        .....v.......
        .....v...n...
        .....>>>>>...
        """,
        A=asm("iron-gear-wheel"),
        B=asm("transport-belt"),
    )
    found = read(obj)
    assert ports_of(found) == {
        (0, 0): ("iron-plate", "iron-plate"),
        (12, 3): ("transport-belt",),
    }
    told = "\n".join(found.inferred)
    assert "input (5, 2): left empty (inferred: all that is wanted behind it comes" in told


def test_an_input_on_a_belt_that_also_gets_products_asks_for_its_lane() -> None:
    obj = picture(
        """
        >>>>>>>>>...
        .sn.....s...
        A......B....
        ..........e>
        ............
        """,
        A=asm("iron-gear-wheel"),
        B=asm("transport-belt"),
    )
    message = message_of(obj)
    assert "also gets items from an inserter at (2, 0)" in message
    assert "--input 0,0=iron-plate,left (or right)" in message
    assert "--input 0,0=none" in message
    assert ports_of(read(obj, "in 0,0=iron-plate,left"))[0, 0] == ("iron-plate", None)


def test_chests_give_and_count() -> None:
    obj = (
        picture("CeA..eC", "...", C=CHEST, A=asm("pipe"))
        if False
        else picture(
            """
        .......
        CeA..eC
        .......
        .......
        """,
            C=CHEST,
            A=asm("pipe"),
        )
    )
    assert ports_of(read(obj)) == {(0, 0): ("iron-plate",), (6, 0): ("pipe",)}
    named = read(obj, "in 0,0=stone", "out 6,0=stone")
    assert ports_of(named) == {(0, 0): ("stone",), (6, 0): ("stone",)}


def test_a_requester_chest_gives_what_it_asks_for() -> None:
    new = {"sections": [{"index": 1, "filters": [{"index": 1, "name": "stone", "count": 9}]}]}
    for name, requests in (
        ("requester-chest", new),
        ("logistic-chest-requester", [{"index": 1, "name": "stone", "count": 9}]),
    ):
        chest = {"name": name, "request_filters": requests}
        found = read(picture("ReC", R=chest, C=CHEST))
        assert ports_of(found) == {(0, 0): ("stone",), (2, 0): ("stone",)}


@pytest.mark.parametrize(
    ("port", "said"),
    [
        ("in 1,0=stone", "name the first tile"),
        ("in 5,3=stone", "name the first tile"),
        ("in 9,9=stone", "names an empty tile"),
        ("in 1,2=stone", "assembling-machine-1 there"),
        ("in 2,1=stone", "inserter there"),
        ("out 0,0=stone", "goes on to (1, 0); name its last tile"),
        ("out 2,2=stone", "chest that inserters only fill"),
    ],
)
def test_a_tile_that_can_be_no_port_is_refused(port: str, said: str) -> None:
    assert said in message_of(GEARS, port)


def test_a_tile_cannot_be_named_twice() -> None:
    assert "twice" in message_of(GEARS, "in 0,0=stone", "in 0,0=stone,left")
    assert "twice" in message_of(GEARS, "out 7,3=stone", "out 7,3")
    chest = picture("CeC", C=CHEST)
    assert "no lanes" in message_of(chest, "in 0,0=stone,left")
    assert "nothing gets to the output" in message_of(picture(">>"), "in 0,0=none", "out 1,0")


def test_ports_are_read_from_text() -> None:
    assert parse_input("0,3=iron-plate") == InputPort(0, 3, "iron-plate", None)
    assert parse_input(" 0 , 3 = iron-plate , left ") == InputPort(0, 3, "iron-plate", "left")
    assert parse_input("12,0=none") == InputPort(12, 0, None, None)
    assert parse_output("4,5") == OutputPort(4, 5, None)
    assert parse_output("4,5=stone") == OutputPort(4, 5, "stone")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0,3",
        "0=stone",
        "-1,3=stone",
        "0,3=",
        "0,3=stone,up",
        "a,b=stone",
        "0,3=stone,",
        "1.5,0=a",
    ],
)
def test_a_broken_port_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BlueprintError, match="0,3=iron-plate,left"):
        parse_input(text)


def test_an_unknown_item_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(BlueprintError, match="did you mean iron-plate"):
        parse_input("0,3=iron-plates")
    with pytest.raises(BlueprintError, match="no recipe has an item 'zzz'"):
        parse_output("0,3=zzz")
