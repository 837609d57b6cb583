"""A blueprint as a layout that the verifier reads. Jax-free.

In: the JSON object of a blueprint or book, and ports. Out: the layout, what was inferred, what has
no effect, and what is not simulated together with the sinks whose rates that makes unknown.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from envs.blueprint.book import choose
from envs.blueprint.inference import infer_inputs, mixed_furnaces
from envs.blueprint.outputs import infer_outputs
from envs.blueprint.pieces import read_pieces
from envs.blueprint.ports import Feed, InputPort, OutputPort, place_ports
from envs.blueprint.site import Known, Site
from envs.blueprint.structure import Structure, counted, read_structure
from envs.blueprint.taint import find_taint
from envs.item_flow import item_flow, machine_numbers, sink_numbers
from envs.layout import Entity, Layout, validate

MAX_LABEL = 100
"""Longest label that is kept, characters."""

MAX_PLACES = 6
"""Most positions in one sentence."""

_BURNING = ("stone-furnace", "steel-furnace", "burner-inserter")


@dataclass(frozen=True, slots=True)
class Unsupported:
    """An entity that is not simulated; (x, y) is its top-left tile in the layout's grid."""

    name: str
    x: int
    y: int
    reason: str


@dataclass(frozen=True, slots=True)
class Imported:
    """A blueprint read.

    Attributes:
        layout: valid; (0, 0) is the top left of all that may move items.
        label: the blueprint's label on one line, "" without one.
        inferred: sentences on what was inferred or assumed.
        ignored: names without effect on items, e.g. "4 medium-electric-pole".
        unsupported: what is not simulated, in row-major order.
        unknown: (x, y) of the entities whose work what is not simulated makes unknown, sinks
            among them.
    """

    layout: Layout
    label: str
    inferred: tuple[str, ...]
    ignored: tuple[str, ...]
    unsupported: tuple[Unsupported, ...]
    unknown: frozenset[tuple[int, int]]

    @property
    def unknown_sinks(self) -> frozenset[tuple[int, int]]:
        """(x, y) of the sinks whose rates are unknown."""
        entities = self.layout.entities
        tiles = {(entities[number].x, entities[number].y) for number in sink_numbers(entities)}
        return self.unknown & tiles


def import_blueprint(
    obj: Mapping[str, Any],
    *,
    index: Sequence[int] = (),
    inputs: Sequence[InputPort] = (),
    outputs: Sequence[OutputPort] = (),
) -> Imported:
    """Reads a blueprint; ports that are not given are inferred.

    Args:
        obj: `{"blueprint": ...}`, `{"blueprint_book": ...}` or what is inside the former.
        index: 1-based position in each level of books.
        inputs, outputs: ports by tile of the layout.

    Raises:
        BlueprintError: the blueprint cannot be read, or a port or furnace cannot be told; the
            message names the option to pass.
    """
    blueprint = choose(obj, index)
    grid = read_pieces(blueprint)
    structure = read_structure(grid)
    flow = item_flow(structure.entities)
    taint = find_taint(structure)
    site = Site(
        entities=structure.entities,
        flow=flow,
        unknown=taint.unknown,
        fed=taint.fed,
        occupied=structure.occupied,
        requested=structure.requested,
        given=place_ports(structure.entities, flow, inputs, outputs),
        has_machines=bool(machine_numbers(structure.entities)),
    )
    known = infer_inputs(site)
    mixed = mixed_furnaces(site, known)
    if mixed:
        taint = find_taint(structure, mixed)
        site = replace(site, unknown=taint.unknown)
    found = infer_outputs(site, known)
    entities = [
        _with_ports(number, one, known, found.sinks)
        for number, one in enumerate(structure.entities)
    ]
    layout = Layout(grid.width, grid.height, tuple(entities))
    validate(layout)
    return Imported(
        layout=layout,
        label=_one_line(blueprint.get("label")),
        inferred=(*_input_notes(site, known), *found.notes, *_assumed(site, structure, entities)),
        ignored=counted(structure.ignored) + counted(structure.tracks),
        unsupported=_unsupported(structure, mixed),
        unknown=frozenset((entities[number].x, entities[number].y) for number in taint.unknown),
    )


def _with_ports(number: int, one: Entity, known: Known, sinks: Mapping[int, str | None]) -> Entity:
    """The entity as it is simulated: port belts become sources and sinks."""
    feed = known.feeds.get(number, Feed(None, None))
    if one.kind == "belt" and any(feed):
        return replace(one, kind="source", left=feed.left, right=feed.right)
    if one.kind == "belt" and number in sinks:
        return replace(one, kind="sink", item=sinks[number])
    if one.kind == "chest_src":
        return replace(one, item=feed.left)
    if one.kind == "chest_sink":
        return replace(one, item=sinks[number])
    if one.kind == "furnace":
        return replace(one, recipe=known.recipes.get(number))
    return one


def _input_notes(site: Site, known: Known) -> Iterable[str]:
    """What was inferred of entries and furnaces."""
    furnaces: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, reason in known.reasons.items():
        if number in known.recipes:
            furnaces[known.recipes[number], reason].append(number)
    for number, feed in sorted(known.feeds.items()):
        if number in site.given.feeds:
            continue
        chest = site.entities[number].kind == "chest_src"
        on_lanes = "never runs out" if chest else "on both lanes"
        what = f"{feed.left} {on_lanes}" if feed.left else "left empty"
        reason = known.reasons.get(number, "what is not simulated takes part")
        yield f"input {site.where(number)}: {what} (inferred: {reason})"
    for (product, reason), numbers in sorted(furnaces.items()):
        yield f"furnace {_places(site, numbers)}: {product} (inferred {reason})"


def _assumed(site: Site, structure: Structure, entities: Sequence[Entity]) -> Iterable[str]:
    """What the simulation takes for granted here."""
    still = [
        number
        for number, one in enumerate(entities)
        if one.kind == "inserter" and not site.flow.after[number] and number not in site.unknown
    ]
    idle = [
        number
        for number in machine_numbers(entities)
        if entities[number].recipe is None and number not in site.unknown
    ]
    burning = sum(name in _BURNING for name in structure.names)
    if still:
        yield f"inserter {_places(site, still)}: stands still, it has nothing to take from or fill"
    if idle:
        yield f"machine {_places(site, idle)}: makes nothing, it has no recipe or gets no items"
    if burning:
        yield f"{burning} entities burn fuel, which is taken as given; arms bring none"


def _places(site: Site, numbers: Sequence[int]) -> str:
    shown = [site.where(number) for number in numbers[:MAX_PLACES]]
    more = len(numbers) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _unsupported(structure: Structure, mixed: Mapping[int, str]) -> tuple[Unsupported, ...]:
    found = [
        Unsupported(one.piece.name, one.piece.x, one.piece.y, one.reason)
        for one in structure.omitted
    ]
    for number, reason in {**mixed, **structure.objections}.items():
        one = structure.entities[number]
        found.append(Unsupported(structure.names[number], one.x, one.y, reason))
    return tuple(sorted(found, key=lambda one: (one.y, one.x)))


def _one_line(label: object) -> str:
    """A label without control characters, so that it can be printed anywhere."""
    text = label[:MAX_LABEL] if isinstance(label, str) else ""
    return "".join(" " if unicodedata.category(char)[0] == "C" else char for char in text).strip()
