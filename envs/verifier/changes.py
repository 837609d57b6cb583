"""Single changes to a layout that might lift its rate. Jax-free.

In: a layout and what its parts do. Out: changed layouts, the most promising first: the next faster
machine, a faster inserter, one more inserter beside another, an item on an empty source lane.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

from envs.item_flow import arm_ends
from envs.layout import BELT_KINDS, DIRECTION_VECTORS, Entity, Layout
from envs.verifier.diagnosis import Diagnosis

FASTER = {
    "burner-inserter": "fast-inserter",
    "inserter": "fast-inserter",
    "assembling-machine-1": "assembling-machine-2",
    "assembling-machine-2": "assembling-machine-3",
    "stone-furnace": "steel-furnace",
}
"""What can stand in a prototype's place and does the same work faster (R20, R37)."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change: at which tile, in words, and the layout that results.

    `subject` is what the words call the entity that limits the layout if the change helps.
    """

    x: int
    y: int
    subject: str
    words: str
    layout: Layout


def propose_changes(
    layout: Layout, diagnosis: Diagnosis, within: Container[tuple[int, int]]
) -> Iterator[Change]:
    """Changes of the entities that stand at certain tiles.

    Those of the busiest entities come first; ties in row-major order.
    """
    use: dict[tuple[int, int], Fraction] = {}
    for one in (*diagnosis.machines, *diagnosis.inserters):
        use[one.x, one.y] = one.use
    owner = {tile: entity for entity in layout.entities for tile in entity.tiles()}
    chosen = [entity for entity in layout.entities if (entity.x, entity.y) in within]
    for entity in sorted(chosen, key=lambda one: (-use.get((one.x, one.y), 0), one.y, one.x)):
        yield from _swaps(layout, entity)
        if entity.kind == "inserter" and use[entity.x, entity.y] > 0:
            yield from _doubles(layout, entity, owner)
        elif entity.kind == "source":
            yield from _fills(layout, entity)


def with_instead(layout: Layout, old: Entity, *new: Entity) -> Layout:
    """The layout with other entities, or none, in the place of one."""
    kept = ((entity,) if entity != old else new for entity in layout.entities)
    return replace(layout, entities=tuple(chain.from_iterable(kept)))


def _swaps(layout: Layout, entity: Entity) -> Iterator[Change]:
    """A faster entity in the same place."""
    faster = FASTER.get(entity.prototype)
    if faster is not None:
        changed = with_instead(layout, entity, replace(entity, prototype=faster))
        subject = f"{entity.prototype} at ({entity.x}, {entity.y})"
        yield Change(entity.x, entity.y, subject, f"{article(faster)} there", changed)


def _doubles(layout: Layout, arm: Entity, owner: dict[tuple[int, int], Entity]) -> Iterator[Change]:
    """One more inserter on a free tile that moves from and to the same things."""
    assert arm.direction is not None
    dx, dy = DIRECTION_VECTORS[arm.direction]
    subject = f"{arm.prototype} at ({arm.x}, {arm.y})"

    here = [owner.get(tile) for tile in arm_ends(arm)]
    for shift in (-2, -1, 1, 2):
        x, y = arm.x + shift * abs(dy), arm.y + shift * abs(dx)
        free = 0 <= x < layout.width and 0 <= y < layout.height and (x, y) not in owner
        another = replace(arm, x=x, y=y)
        if free and all(map(_alike, here, map(owner.get, arm_ends(another)))):
            changed = replace(layout, entities=(*layout.entities, another))
            words = f"a second {arm.prototype} beside it at ({x}, {y})"
            yield Change(x, y, subject, words, changed)


def _alike(one: Entity | None, other: Entity | None) -> bool:
    """Whether an inserter at either does the same: the same machine or chest, or two belts."""
    if one is None or other is None:
        return False
    if one.kind in BELT_KINDS:
        return other.kind in BELT_KINDS
    return one == other


def _fills(layout: Layout, source: Entity) -> Iterator[Change]:
    """The same item on the other lane of a source that has one lane empty."""
    if (source.left is None) == (source.right is None):
        return
    item = source.left or source.right
    side = "left" if source.left is None else "right"
    changed = with_instead(layout, source, replace(source, left=item, right=item))
    subject = f"input at ({source.x}, {source.y}), which has {item} on one lane only"
    yield Change(source.x, source.y, subject, f"{item} on its {side} lane too", changed)


def article(name: str) -> str:
    """A name with its indefinite article."""
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
