"""Where items enter and leave a blueprint, as a user names it. Jax-free.

In: `x,y=item[,lane]` and `x,y[=item]`, tiles counted from the top left of the blueprint. Out: what
each named belt or chest gets, by entity number. A blueprint itself holds no ports.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

from envs.blueprint.text import BlueprintError, shown
from envs.catalogue import ITEMS
from envs.item_flow import ItemFlow, Tile
from envs.layout import Entity

LANES = ("left", "right")

EMPTY = "none"
"""Stands for no item: an input that stays empty, a belt end where nothing leaves."""

_INPUT = re.compile(r"\s*(\d{1,6})\s*,\s*(\d{1,6})\s*=\s*([^\s,=]+)\s*(?:,\s*([^\s,=]*)\s*)?")
_OUTPUT = re.compile(r"\s*(\d{1,6})\s*,\s*(\d{1,6})\s*(?:=\s*([^\s,=]+)\s*)?")


class Feed(NamedTuple):
    """Items on the lanes of an input belt; for a chest `left` alone counts. None: empty."""

    left: str | None
    right: str | None


@dataclass(frozen=True, slots=True)
class InputPort:
    """A belt or chest at tile (x, y) that gets `item` without limit, on one lane or both.

    `item` None leaves it empty. A belt of which one lane is named leaves the other lane empty.
    """

    x: int
    y: int
    item: str | None
    lane: str | None = None


@dataclass(frozen=True, slots=True)
class OutputPort:
    """A belt or chest at tile (x, y) where `item` is counted.

    None: the item is inferred. `EMPTY`: the belt stays closed, the chest counts no item of its own.
    """

    x: int
    y: int
    item: str | None = None


class GivenPorts(NamedTuple):
    """Ports that the user named, by entity number; `closed` are outputs without an item."""

    feeds: Mapping[int, Feed]
    sinks: Mapping[int, str | None]
    closed: frozenset[int]


def parse_input(text: str) -> InputPort:
    """Reads `x,y=item[,lane]`; item `none` means empty. Raises BlueprintError."""
    found = _INPUT.fullmatch(text)
    if found is None or found[4] not in (None, *LANES):
        raise BlueprintError(
            f"--input {shown(text)} is not x,y=item or x,y=item,lane with lane left or right, "
            "e.g. 0,3=iron-plate,left"
        )
    item = None if found[3] == EMPTY else _known_item(found[3], "--input")
    return InputPort(int(found[1]), int(found[2]), item, found[4])


def parse_output(text: str) -> OutputPort:
    """Reads `x,y[=item]`; item `none` closes a belt end. Raises BlueprintError."""
    found = _OUTPUT.fullmatch(text)
    if found is None:
        raise BlueprintError(
            f"--output {shown(text)} is not x,y or x,y=item, e.g. 12,3=transport-belt"
        )
    item = found[3]
    if item not in (None, EMPTY):
        item = _known_item(item, "--output")
    return OutputPort(int(found[1]), int(found[2]), item)


def _known_item(name: str, option: str) -> str:
    if name in ITEMS:
        return name
    near = get_close_matches(name[:40], ITEMS, 1)
    meant = f"did you mean {near[0]}?" if near else f"known are {', '.join(ITEMS)}"
    raise BlueprintError(f"{option}: no recipe has an item {shown(name)}; {meant}")


def place_ports(
    entities: Sequence[Entity],
    flow: ItemFlow,
    inputs: Sequence[InputPort],
    outputs: Sequence[OutputPort],
) -> GivenPorts:
    """The entities that the named tiles mean. Raises BlueprintError for a tile that is no port."""
    feeds: dict[int, Feed] = {}
    lanes_taken: set[tuple[int, str]] = set()
    for port in inputs:
        number = _input_entity(port, entities, flow)
        lanes = LANES if port.lane is None else (port.lane,)
        if any((number, lane) in lanes_taken for lane in lanes):
            raise BlueprintError(f"--input {port.x},{port.y} is given twice for one lane")
        lanes_taken |= {(number, lane) for lane in lanes}
        feed = feeds.get(number, Feed(None, None))
        feeds[number] = feed._replace(**dict.fromkeys(lanes, port.item))
    sinks: dict[int, str | None] = {}
    closed: set[int] = set()
    for port in outputs:
        number = _output_entity(port, entities, flow)
        if number in sinks or number in closed or any(feeds.get(number, ())):
            raise BlueprintError(f"--output {port.x},{port.y}: this tile is named twice as a port")
        if port.item == EMPTY:
            closed.add(number)
        else:
            sinks[number] = port.item
    return GivenPorts(feeds, sinks, frozenset(closed))


def _entity_at(
    option: str, tile: Tile, kinds: Sequence[str], entities: Sequence[Entity], flow: ItemFlow
) -> int:
    number = flow.at.get(tile)
    if number is not None and entities[number].kind in kinds:
        return number
    there = "an empty tile" if number is None else f"the {entities[number].prototype} there"
    role = "empty" if "chest_src" in kinds else "fill"
    raise BlueprintError(
        f"{option} {tile[0]},{tile[1]} names {there}, not a belt or a chest that inserters only "
        f"{role}; tiles count from 0,0 at the top left of all that moves items"
    )


def _input_entity(port: InputPort, entities: Sequence[Entity], flow: ItemFlow) -> int:
    """The unfed belt or emptied chest that an input names."""
    number = _entity_at("--input", (port.x, port.y), ("belt", "chest_src"), entities, flow)
    if entities[number].kind == "chest_src" and port.lane is not None:
        raise BlueprintError(f"--input {port.x},{port.y} is a chest, which has no lanes")
    givers = [entities[giver] for giver in flow.before[number]]
    if entities[number].kind == "belt" and givers:
        raise BlueprintError(
            f"--input {port.x},{port.y}: the {givers[0].prototype} at ({givers[0].x}, "
            f"{givers[0].y}) puts items on this belt; name the first tile of a belt"
        )
    return number


def _output_entity(port: OutputPort, entities: Sequence[Entity], flow: ItemFlow) -> int:
    """The last belt of a line or the filled chest that an output names."""
    number = _entity_at("--output", (port.x, port.y), ("belt", "chest_sink"), entities, flow)
    takers = [entities[taker] for taker in flow.after[number] if entities[taker].kind == "belt"]
    if entities[number].kind == "belt" and takers:
        raise BlueprintError(
            f"--output {port.x},{port.y}: the belt goes on to ({takers[0].x}, {takers[0].y}); "
            "name its last tile"
        )
    return number
