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
        "gear  machine: 2 iron-plate → 1 iron-gear-wheel",
        "6/7 items/s",
    ]


def test_lanes_of_a_mixed_source_are_named() -> None:
    text = render_text(Layout(1, 1, (Entity("source", 0, 0, W, left="pipe"),)))
    assert "a  source (0, 0) W: left lane pipe, right lane empty" in text


def test_empty_layout_has_only_a_grid() -> None:
    assert render_text(Layout(2, 2, ())).split() == ["0", "1", "0", "·", "·", "1", "·", "·"]


def test_machine_without_recipe_is_drawn() -> None:
    text = render_text(Layout(3, 3, (Entity("asm", 0, 0),)))
    assert "machine: no recipe" in text


def test_more_ports_than_letters_are_still_drawn() -> None:
    ports = tuple(Entity("source", x, y, E, left="pipe") for x in range(8) for y in range(8))
    assert "?→" in render_text(Layout(8, 8, ports))
