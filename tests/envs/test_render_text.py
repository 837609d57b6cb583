"""A layout as text shows every entity, its direction and its items."""

from envs.layout import Entity, Layout
from envs.render_text import render_text

N, E, S, W = range(4)

GEAR = Layout(
    7,
    4,
    (
        Entity("source", 0, 1, E, left="iron-plate", right="iron-plate"),
        Entity("inserter", 1, 1, E),
        Entity("asm", 2, 0, recipe="iron-gear-wheel"),
        Entity("inserter", 5, 2, E),
        Entity("belt", 6, 2, N),
        Entity("sink", 6, 1, N, item="iron-gear-wheel"),
    ),
)


def test_whole_picture() -> None:
    assert render_text(GEAR, [(0, 3)], "6/7 items/s").splitlines() == [
        "   0 1 2 3 4 5 6",
        " 0 · · ┌────┐· ·",
        " 1 a→▶ │gear│· b↑",
        " 2 · · └────┘▶ ↑",
        " 3 ▒▒· · · · · ·",
        "",
        "↑→↓← belt   ▲▶▼◀ inserter, points where it drops   ▒▒ blocked",
        "a  source (0, 1) E: iron-plate",
        "b  sink (6, 1) N: iron-gear-wheel",
        "gear  assembling-machine-1: 2 iron-plate → 1 iron-gear-wheel",
        "6/7 items/s",
    ]


def test_lanes_of_a_mixed_source_are_named() -> None:
    text = render_text(Layout(1, 1, (Entity("source", 0, 0, W, left="pipe"),)))
    assert "a  source (0, 0) W: left lane pipe, right lane empty" in text


def test_empty_layout_has_only_a_grid() -> None:
    assert render_text(Layout(2, 2, ())).split() == ["0", "1", "0", "·", "·", "1", "·", "·"]


def test_machine_without_recipe_is_drawn() -> None:
    text = render_text(Layout(3, 3, (Entity("asm", 0, 0),)))
    assert "-  assembling-machine-1: no recipe" in text


def test_more_ports_than_letters_are_still_drawn() -> None:
    ports = tuple(Entity("source", x, y, E, left="pipe") for x in range(8) for y in range(8))
    text = render_text(Layout(8, 8, ports))
    assert "?→" in text
    assert "?  source (7, 7) E: left lane pipe" in text


SMELTER = Layout(
    9,
    4,
    (
        Entity("chest_src", 0, 0, item="iron-ore"),
        Entity("inserter", 1, 0, E, prototype="fast-inserter"),
        Entity("furnace", 2, 0, recipe="iron-plate"),
        Entity("inserter", 4, 0, E, prototype="long-handed-inserter"),
        Entity("furnace", 6, 0, recipe="steel-plate", prototype="electric-furnace"),
        Entity("inserter", 6, 3, W, prototype="burner-inserter"),
        Entity("chest_sink", 5, 3, item="steel-plate"),
        Entity("furnace", 2, 2, recipe="stone-brick", prototype="steel-furnace"),
    ),
)


def test_picture_of_furnaces_chests_and_all_inserters() -> None:
    assert render_text(SMELTER).splitlines() == [
        "   0 1 2 3 4 5 6 7 8",
        " 0 a■▶▶╔ir╗▶2· ╔════╗",
        " 1 · · ╚on╝· · ║stee║",
        " 2 · · ╔br╗· · ╚═══3╝",
        " 3 · · ╚i2╝· b□◀*· ·",
        "",
        "▲▶▼◀ inserter, points where it drops   ▶* burner   ▶▶ fast   ▶2 long-handed",
        "a  source chest (0, 0): iron-ore",
        "b  sink chest (5, 3): steel-plate",
        "bri2  steel-furnace: 2 stone → 1 stone-brick",
        "iron  stone-furnace: 1 iron-ore → 1 iron-plate",
        "stee  electric-furnace: 5 iron-plate → 1 steel-plate",
    ]


def test_chest_without_an_item_says_so() -> None:
    chests = (Entity("chest_sink", 0, 0), Entity("chest_src", 1, 0))
    lines = render_text(Layout(2, 1, chests)).splitlines()
    assert lines[-2:] == ["a  sink chest (0, 0): scores nothing", "b  source chest (1, 0): empty"]


def test_tier_of_an_assembler_stands_in_its_box() -> None:
    text = render_text(Layout(3, 3, (Entity("asm", 0, 0, prototype="assembling-machine-3"),)))
    assert "└───3┘" in text


def test_equal_machines_share_a_line_and_other_types_do_not() -> None:
    machines = [
        Entity("asm", x, 0, recipe="pipe", prototype=f"assembling-machine-{tier}")
        for x, tier in ((0, 1), (3, 1), (6, 2))
    ]
    text = render_text(Layout(9, 3, tuple(machines)))
    assert text.count("pipe  assembling-machine-1:") == 1
    assert text.count("pipe  assembling-machine-2:") == 1
