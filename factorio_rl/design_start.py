"""What a player has built already, as the placements that a design goes on from. Jax-free.

In: a task, and a layout JSON or a blueprint. Out: placements. A layout lies on the task's grid as
its cells say. A blueprint has no place of its own: it goes where it has a belt on every port of
the task, or to the only place where it fits. What cannot be is refused, with every reason.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from envs.blueprint.book import choose, is_blueprint
from envs.blueprint.pieces import read_pieces
from envs.blueprint.structure import ON_GROUND, counted, read_structure
from envs.blueprint.text import BlueprintError
from envs.catalogue import TASK_MACHINE
from envs.errors import UserError
from envs.item_flow import arm_ends
from envs.layout import DIRECTION_NAMES, PROTOTYPES, Entity, LayoutError
from envs.layout_input import MAX_MESSAGE, read_object
from envs.layout_json import layout_from_json
from envs.task_checks import name_of
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, Port, TaskSpec

Offset = tuple[int, int]

MAX_REASONS = 10
"""Most reasons that a message lists."""

_PORT_KINDS = ("belt", "source", "sink")


class StartError(UserError):
    """A start that a design cannot go on from; the message has a line for each reason."""

    def __init__(self, name: str, reasons: Sequence[str]) -> None:
        more = [f"and {len(reasons) - MAX_REASONS} more"] if len(reasons) > MAX_REASONS else []
        separator = " " if len(reasons) == 1 else "\n  "
        super().__init__(separator.join([f"start {name}:", *reasons[:MAX_REASONS], *more]))


@dataclass(frozen=True)
class Start:
    """Placements that stand already, and what a player should know about how they were read."""

    placements: tuple[Placement, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Read:
    """The entities of a file, whether they may be moved, and names of what was left out."""

    name: str
    entities: tuple[Entity, ...]
    may_move: bool
    left_out: tuple[str, ...]


def read_start(argument: str, spec: TaskSpec, offset: Offset | None) -> Start:
    """The start that an argument names: a file, `-`, or a blueprint string.

    `offset` is the cell of a blueprint's top left; None where it is to be found.

    Raises:
        UserError: it cannot be read, fits nowhere or at several places, or holds what an agent
            cannot have.
    """
    found = _read(argument)
    if not found.may_move:
        if offset is not None:
            raise StartError(found.name, ["a layout has a place; --start-at is for blueprints"])
        offset = (0, 0)
    elif offset is None:
        offset = _place(found, spec)
    moved = _moved(found.entities, offset)
    reasons = list(_reasons(moved, spec))
    placements = _placements(moved, spec)
    if not reasons and len(placements) >= spec.placement_limit:
        reasons = [
            f"it has {len(placements)} pieces, and the task's placement_limit is "
            f"{spec.placement_limit}; raise it, or take pieces away"
        ]
    if reasons:
        raise StartError(found.name, reasons)
    notes = [f"left out of the start: {', '.join(found.left_out)}"] if found.left_out else []
    if found.may_move:
        notes.append(f"the start's top left is at ({offset[0]}, {offset[1]})")
    return Start(placements, tuple(notes))


def _read(argument: str) -> _Read:
    name, obj, is_string = read_object(argument, sys.stdin)
    if is_string or is_blueprint(obj):
        try:
            return _of_blueprint(name, obj)
        except BlueprintError as error:
            raise BlueprintError(f"{name}: {error}") from None
    if isinstance(obj, list):
        raise StartError(name, [f"it is a list of {len(obj)} layouts; give one layout"])
    try:
        return _Read(name, layout_from_json(obj).entities, False, ())
    except LayoutError as error:
        raise StartError(name, [str(error)[:MAX_MESSAGE]]) from None


def _of_blueprint(name: str, obj: Mapping[str, Any]) -> _Read:
    """Entities without ports, which the task has. Raises BlueprintError, StartError."""
    structure = read_structure(read_pieces(choose(obj, ())))
    reasons = [
        f"{one.piece.name} at ({one.piece.x}, {one.piece.y}): {one.reason}"
        for one in structure.omitted
    ]
    for number, reason in structure.objections.items():
        # Something may be built between two inserters yet.
        if reason != ON_GROUND:
            one = structure.entities[number]
            reasons.append(f"{structure.names[number]} at ({one.x}, {one.y}): {reason}")
    if reasons:
        raise StartError(name, reasons)
    left_out = counted((*structure.ignored, *structure.tracks))
    return _Read(name, structure.entities, True, left_out)


def _place(found: _Read, spec: TaskSpec) -> Offset:
    """The only place where a blueprint fits, or where it has a belt on every port of the task."""
    offsets = [(x, y) for y in range(spec.height) for x in range(spec.width)]
    moved = {offset: _moved(found.entities, offset) for offset in offsets}
    fitting = [at for at in offsets if next(_reasons(moved[at], spec), None) is None]
    if not fitting:
        reasons = list(_reasons(found.entities, spec))
        raise StartError(found.name, ["it fits nowhere; with its top left at (0, 0):", *reasons])
    joined = [
        offset
        for offset in fitting
        if sum(_port_of(one, spec) is not None for one in moved[offset]) == len(spec.ports)
    ]
    best = joined or fitting
    if len(best) == 1:
        return best[0]
    x, y = best[0]
    raise StartError(
        found.name,
        [
            f"it fits at {len(best)} places; say where its top left is, as in --start-at {x},{y}, "
            "or blueprint it together with the belts at the ports of the task"
        ],
    )


def _moved(entities: Sequence[Entity], offset: Offset) -> list[Entity]:
    return [replace(one, x=one.x + offset[0], y=one.y + offset[1]) for one in entities]


def _port_of(one: Entity, spec: TaskSpec) -> Port | None:
    """The port of the task that an entity stands for."""
    if one.kind not in _PORT_KINDS:
        return None
    for port in spec.ports:
        role = "sink" if port.is_sink else "source"
        if (port.x, port.y, port.direction) == (one.x, one.y, one.direction):
            return port if one.kind in ("belt", role) else None
    return None


def _reasons(entities: Sequence[Entity], spec: TaskSpec) -> Iterator[str]:
    """Why entities cannot stand on the board of a task."""
    for one in entities:
        if _port_of(one, spec) is None:
            where = (
                f"{one.kind if one.kind in _PORT_KINDS else one.prototype} at ({one.x}, {one.y})"
            )
            yield from (f"{where} {reason}" for reason in _reasons_of(one, spec))


def _reasons_of(one: Entity, spec: TaskSpec) -> Iterator[str]:
    if one.kind in ("source", "sink"):
        yield f"is no {one.kind} of the task, which has {', '.join(map(_with_flow, spec.ports))}"
        return
    if one.prototype not in _USABLE:
        yield f"is nothing that a design uses; those are {', '.join(_USABLE)}"
        return
    if one.kind == "asm" and one.recipe not in spec.recipes:
        has = f"has the recipe {one.recipe}" if one.recipe else "has no recipe"
        yield f"{has}; the task's are {', '.join(spec.recipes)}"
    ports = {(port.x, port.y): port for port in spec.ports}
    ends = arm_ends(one) if one.kind == "inserter" else ()
    if not all(_is_inside(cell, spec) for cell in one.tiles()):
        yield f"leaves the grid of {spec.width} x {spec.height} cells"
    elif not all(_is_inside(cell, spec) for cell in ends):
        yield "reaches out of the grid"
    elif any(cell in spec.blocked for cell in one.tiles()):
        yield "stands on a blocked cell"
    elif on_ports := [ports[cell] for cell in one.tiles() if cell in ports]:
        yield f"stands on the {_with_flow(on_ports[0])}"


_USABLE = (PROTOTYPES["belt"][0], PROTOTYPES["inserter"][0], TASK_MACHINE.prototype)


def _with_flow(port: Port) -> str:
    return f"{name_of(port)} to {DIRECTION_NAMES[port.direction]}"


def _is_inside(cell: tuple[int, int], spec: TaskSpec) -> bool:
    return 0 <= cell[0] < spec.width and 0 <= cell[1] < spec.height


def _placements(entities: Sequence[Entity], spec: TaskSpec) -> tuple[Placement, ...]:
    """The entities that are no ports; those that have reasons against them may be missing."""
    found = []
    for one in entities:
        if _port_of(one, spec) is not None:
            continue
        if one.kind == "asm" and one.recipe in spec.recipes:
            slot = spec.recipes.index(one.recipe)
            found.append(Placement(MACHINE, one.x + 1, one.y + 1, slot))
        elif one.kind in ("belt", "inserter") and one.direction is not None:
            kind = BELT if one.kind == "belt" else INSERTER
            found.append(Placement(kind, one.x, one.y, one.direction))
    return tuple(found)
