"""What a player must know to run an exported layout: its ports, its power and its fuel. Jax-free.

In: a layout and its poles. Out: the text of the blueprint's description, and the warnings in it.
Tiles are counted from the top left of the module without poles, as the import of blueprints does.
"""

from collections import Counter
from collections.abc import Sequence

from envs.blueprint.power import FUELLED_PROTOTYPES, Power
from envs.layout import BELT_KINDS, DIRECTION_VECTORS, SINK_KINDS, Entity, Layout

MAX_DESCRIPTION = 500
"""Characters that the game's box for a blueprint's description takes, as players report."""

DIRECTION_WORDS = ("north", "east", "south", "west")

_PORT_KINDS = ("source", "chest_src", *SINK_KINDS)


def describe(layout: Layout, power: Power) -> tuple[str, tuple[str, ...]]:
    """The description, at most `MAX_DESCRIPTION` characters, and the warnings, one sentence each.

    A description that would be longer names the first ports and counts the others.
    """
    notes = _notes(layout, power)
    head = [*notes]
    if power.poles:
        head.append(f"Join a {power.poles[0].kind.prototype} to your power network.")
    ports = sorted(
        (entity for entity in layout.entities if entity.kind in _PORT_KINDS),
        key=lambda entity: (entity.kind in SINK_KINDS, entity.y, entity.x),
    )
    if ports:
        head.append("Ports (tile x,y from the top left of the module, without poles):")
    left = min((entity.x for entity in layout.entities), default=0)
    top = min((entity.y for entity in layout.entities), default=0)
    lines = [_port_line(entity, entity.x - left, entity.y - top) for entity in ports]
    return _fitted(head, lines), notes


def _notes(layout: Layout, power: Power) -> tuple[str, ...]:
    """Why the blueprint does not run as it is."""
    notes = []
    if not power.complete:
        notes.append("UNPOWERED: no room was found for all electric poles; place them by hand.")
    fuelled = Counter(
        entity.prototype for entity in layout.entities if entity.prototype in FUELLED_PROTOTYPES
    )
    if fuelled:
        counts = ", ".join(f"{number} {name}" for name, number in sorted(fuelled.items()))
        notes.append(f"Fuel must be put in by hand: {counts}.")
    joined = _joined_ports(layout)
    if joined:
        notes.append(
            f"Rates may differ: other belts of the module join {joined} of its inputs or outputs."
        )
    return tuple(notes)


def _joined_ports(layout: Layout) -> int:
    """Sources that a belt runs into and sinks that run onto a belt.

    By R9 belts never push into a source and by R18 a sink is emptied whatever stands ahead of it;
    as plain belts both hand their items on.
    """
    belts = {(one.x, one.y): one for one in layout.entities if one.kind in BELT_KINDS}
    joined = set()
    for belt in belts.values():
        assert belt.direction is not None
        dx, dy = DIRECTION_VECTORS[belt.direction]
        ahead = belts.get((belt.x + dx, belt.y + dy))
        if ahead is None or ahead.direction == (belt.direction + 2) % 4:
            continue
        if ahead.kind == "source":
            joined.add(ahead)
        if belt.kind == "sink":
            joined.add(belt)
    return len(joined)


def _port_line(port: Entity, x: int, y: int) -> str:
    way = "out" if port.kind in SINK_KINDS else "in"
    flow = "chest" if port.direction is None else f"going {DIRECTION_WORDS[port.direction]}"
    if port.kind == "source" and port.left != port.right:
        items = f"left lane {port.left or 'empty'}, right lane {port.right or 'empty'}"
    else:
        items = (port.left if port.kind == "source" else port.item) or "nothing"
    return f"{way} {x},{y} {flow}: {items}"


def _fitted(head: Sequence[str], lines: Sequence[str]) -> str:
    """All lines, or as many as fit with a count of the others."""
    for shown in range(len(lines), -1, -1):
        more = [f"and {len(lines) - shown} more"] if shown < len(lines) else []
        text = "\n".join([*head, *lines[:shown], *more])
        if len(text) <= MAX_DESCRIPTION:
            return text
    raise AssertionError("the head alone is longer than a description")
