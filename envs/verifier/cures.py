"""Single changes to a layout that delivers nothing which might make it flow. Jax-free.

In: a layout and its silent output. Out: changed layouts, those first that touch what could bring
items to the output: an input lane left empty, an inserter or belt turned, or removed.
"""

from collections.abc import Iterator
from dataclasses import replace

from envs.item_flow import Tile, item_flow, reached
from envs.layout import DIRECTION_VECTORS, Entity, Layout
from envs.verifier.changes import Change, with_instead
from envs.verifier.report import SinkRate

_SIDE_NAMES = ("north", "east", "south", "west")


def propose_cures(layout: Layout, output: SinkRate) -> Iterator[Change]:
    """Changes of inputs, inserters and belts: of the output's supply, next to it, elsewhere.

    Within each of the three, inputs come before inserters and these before belts, turning before
    removing; ties in row-major order.
    """
    supply = _supply(layout, (output.x, output.y))
    near: tuple[list[Entity], ...] = ([], [], [])
    for entity in sorted(layout.entities, key=lambda one: (one.y, one.x)):
        around = {(entity.x + dx, entity.y + dy) for dx, dy in DIRECTION_VECTORS}
        if (entity.x, entity.y) in supply:
            near[0].append(entity)
        else:
            near[1 if around & supply else 2].append(entity)
    for entities in near:
        for kind, propose in _PROPOSERS:
            for entity in entities:
                if entity.kind == kind:
                    yield from propose(layout, entity)


def _supply(layout: Layout, sink: Tile) -> set[Tile]:
    """Tiles of everything that could hand items on toward a sink, itself included."""
    flow = item_flow(layout.entities)
    found = reached(flow.before, {flow.at[sink]})
    return {tile for number in found for tile in layout.entities[number].tiles()}


def _empties(layout: Layout, source: Entity) -> Iterator[Change]:
    """A source with one lane or both emptied."""
    here = f"input at ({source.x}, {source.y})"
    for side in ("left", "right"):
        item = getattr(source, side)
        if item is not None:
            changed = with_instead(layout, source, replace(source, **{side: None}))
            subject = f"{here}, which brings {item} on its {side} lane"
            words = f"leaving its {side} lane empty"
            yield Change(source.x, source.y, subject, words, changed)
    if source.left is not None and source.right is not None:
        items = " and ".join(dict.fromkeys((source.left, source.right)))
        changed = with_instead(layout, source, replace(source, left=None, right=None))
        subject = f"{here}, which brings {items}"
        yield Change(source.x, source.y, subject, "leaving both its lanes empty", changed)


def _named(entity: Entity) -> str:
    """What the words call a belt or inserter."""
    name = entity.prototype if entity.kind == "inserter" else "belt"
    return f"{name} at ({entity.x}, {entity.y})"


def _turns(layout: Layout, entity: Entity) -> Iterator[Change]:
    """A belt or inserter turned to each other side."""
    assert entity.direction is not None
    verb = "drops" if entity.kind == "inserter" else "flows"
    subject = f"{_named(entity)}, which {verb} {_SIDE_NAMES[entity.direction]}"
    for quarter in (1, 2, 3):
        direction = (entity.direction + quarter) % 4
        changed = with_instead(layout, entity, replace(entity, direction=direction))
        words = f"turning it {_SIDE_NAMES[direction]}"
        yield Change(entity.x, entity.y, subject, words, changed)


def _removals(layout: Layout, entity: Entity) -> Iterator[Change]:
    """A belt or inserter removed."""
    changed = with_instead(layout, entity)
    yield Change(entity.x, entity.y, _named(entity), "removing it", changed)


_PROPOSERS = (
    ("source", _empties),
    ("inserter", _turns),
    ("inserter", _removals),
    ("belt", _turns),
    ("belt", _removals),
)
"""What is tried for each kind of entity, in order."""
