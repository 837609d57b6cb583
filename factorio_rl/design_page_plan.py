"""The plan of a design as SVG that a script can show step by step. Jax-free.

In: a task, its placements in build order, the poles. Out: one SVG in the style of the pictures.
Each piece says from which step to which it is seen: a belt that becomes a turn when the next belt
stands is drawn twice. Without a script the finished design is seen.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from envs.blueprint.power import Power
from envs.draw import (
    ARM_COATS,
    BLOCKED_LINE,
    BUILDING_COATS,
    CELL,
    GRID_LINE,
    INK,
    SINK_COAT,
    SOURCE_COAT,
    Brush,
)
from envs.draw_belts import paint_belt, paint_blocked, paint_port, paint_sideload
from envs.draw_entities import arms_in_order
from envs.draw_labels import labels_of
from envs.draw_machines import paint_assembler, paint_inserter
from envs.draw_svg import UNITS, painted, written
from envs.layout import Entity, Layout
from envs.task_spec import Placement, TaskSpec, layout_of
from envs.turns import belts_by_tile, sideloads, turn_of

MARGIN = 0.4
"""Space around everything, tiles."""

_NUMBERS = 0.7
"""Space for the numbers of rows and columns, tiles."""

_WIRE = "#b87333"
_POLE, _POLE_EDGE = "#8d99a6", "#4c5560"


class Look(NamedTuple):
    """How a belt looks for some steps: its turn, and whether it sideloads."""

    turn: int
    sideloads: bool
    first: int
    last: int


def plan_svg(spec: TaskSpec, placements: Sequence[Placement], power: Power) -> str:
    """The plan. Every piece is a group with data-from and data-to, first and last step seen."""
    layout, end = layout_of(spec, placements), len(placements) + len(power.poles)
    since = _first_steps(spec, layout)
    looks = _looks(spec, placements, end)
    pieces = [_group(painted(paint_blocked, x, y), 0, end, end) for x, y in spec.blocked]
    pieces += _belts(layout, looks, end)
    whole = [one for one in layout.entities if one.kind == "asm"] + arms_in_order(layout)
    pieces += [_group(_drawn(one), since[one], end, end) for one in whole]
    for entity in layout.entities:
        text = "".join(map(written, labels_of(entity)))
        if text:
            pieces.append(_group(text, since[entity], end, end))
    pieces += _poles(power, len(placements), end)
    return _framed(layout, power, _ground(layout) + "".join(pieces))


def _first_steps(spec: TaskSpec, layout: Layout) -> dict[Entity, int]:
    """The step at which each entity appears; 0 for ports."""
    first = len(spec.ports)
    return {one: max(0, place - first + 1) for place, one in enumerate(layout.entities)}


def _looks(
    spec: TaskSpec, placements: Sequence[Placement], end: int
) -> Mapping[tuple[int, int], list[Look]]:
    """The looks of each belt, source and sink in order."""
    found: dict[tuple[int, int], list[Look]] = {}
    for step in range(len(placements) + 1):
        belts = belts_by_tile(layout_of(spec, placements[:step]))
        for tile, belt in belts.items():
            now = Look(turn_of(belt, belts), sideloads(belt, belts), step, end)
            before = found.setdefault(tile, [])
            if before and before[-1][:2] == now[:2]:
                continue
            if before:
                before[-1] = before[-1]._replace(last=step - 1)
            before.append(now)
    return found


def _belts(
    layout: Layout, looks: Mapping[tuple[int, int], Sequence[Look]], end: int
) -> Iterator[str]:
    """Ends of belts that reach into the next tile first, ports last."""
    belts = belts_by_tile(layout)
    for tile, belt in belts.items():
        for look in looks[tile]:
            if look.sideloads:
                drawn = painted(paint_sideload, *tile, direction=belt.direction)
                yield _group(drawn, look.first, look.last, end)
    for tile, belt in belts.items():
        if belt.kind != "belt":
            coat = SINK_COAT if belt.kind == "sink" else SOURCE_COAT
            yield _group(painted(paint_port, *tile, coat, direction=belt.direction), 0, end, end)
            continue
        for look in looks[tile]:
            drawn = painted(paint_belt, *tile, look.turn, direction=belt.direction)
            yield _group(drawn, look.first, look.last, end)


def _drawn(entity: Entity) -> str:
    """A machine of a task, or an inserter."""
    at, size = (entity.x, entity.y), entity.size
    if entity.kind == "asm":
        return painted(paint_assembler, *at, size, BUILDING_COATS["asm"], False, size=size)
    coat = ARM_COATS[entity.prototype]
    return painted(paint_inserter, *at, entity.reach, coat, 1, direction=entity.direction)


def _poles(power: Power, before: int, end: int) -> Iterator[str]:
    """Wires, each when its second pole stands, then poles, one a step."""
    centres = [
        ((pole.x + pole.kind.size / 2) * UNITS, (pole.y + pole.kind.size / 2) * UNITS)
        for pole in power.poles
    ]
    for low, high in power.wires:
        (x, y), (other_x, other_y) = centres[low], centres[high]
        wire = (
            f'<line x1="{x:g}" y1="{y:g}" x2="{other_x:g}" y2="{other_y:g}" stroke="{_WIRE}" '
            'stroke-width="5"/>'
        )
        yield _group(wire, before + max(low, high) + 1, end, end)
    for number, pole in enumerate(power.poles, 1):
        size = pole.kind.size
        drawn = painted(_paint_pole, pole.x, pole.y, size, size=size)
        yield _group(drawn, before + number, end, end)


def _paint_pole(brush: Brush, size: int) -> None:
    brush.rounded(0.34 * size, 0.12, _POLE, _POLE_EDGE, 0.05)
    bolt = [(0.02, -0.2), (-0.14, 0.04), (-0.01, 0.04), (-0.03, 0.2), (0.14, -0.05), (0.01, -0.05)]
    brush.polygon([(size * u, size * v) for u, v in bolt], "#ffe27a")


def _group(body: str, first: int, last: int, end: int) -> str:
    hidden = "" if first <= end <= last else ' style="display:none"'
    return f'<g data-from="{first}" data-to="{last}"{hidden}>{body}</g>'


def _ground(layout: Layout) -> str:
    width, height = layout.width * UNITS, layout.height * UNITS
    lines = [f"M{x * UNITS} 0V{height}" for x in range(1, layout.width)]
    lines += [f"M0 {y * UNITS}H{width}" for y in range(1, layout.height)]
    box = f'<rect width="{width}" height="{height}" fill="{CELL}" stroke="{BLOCKED_LINE}" '
    grid = f'<path d="{"".join(lines)}" stroke="{GRID_LINE}" stroke-width="2"/>'
    return f'{box}stroke-width="4"/>{grid}'


def _framed(layout: Layout, power: Power, body: str) -> str:
    """The SVG with numbers of columns and rows, wide enough for poles outside of the grid."""
    low_x = min([0, *(pole.x for pole in power.poles)]) - _NUMBERS
    low_y = min([0, *(pole.y for pole in power.poles)]) - _NUMBERS
    high_x = max([layout.width, *(pole.x + pole.kind.size for pole in power.poles)]) + MARGIN
    high_y = max([layout.height, *(pole.y + pole.kind.size for pole in power.poles)]) + MARGIN
    box = [round(UNITS * one) for one in (low_x, low_y, high_x - low_x, high_y - low_y)]
    here = f'<rect id="here" rx="12" fill="none" stroke="{INK}" stroke-width="9" display="none"/>'
    return (
        f'<svg class="plan" viewBox="{box[0]} {box[1]} {box[2]} {box[3]}" role="img" '
        f'aria-label="the layout">{_numbers(layout, low_x, low_y)}{body}{here}</svg>'
    )


def _numbers(layout: Layout, low_x: float, low_y: float) -> str:
    """Coordinates along the upper and the left edge, outside of poles that stand there."""
    left, top = round(UNITS * (low_x + _NUMBERS / 2)), round(UNITS * (low_y + _NUMBERS / 2))
    marks = [
        f'<text class="tile-number" x="{x * UNITS + UNITS // 2}" y="{top}">{x}</text>'
        for x in range(layout.width)
    ]
    marks += [
        f'<text class="tile-number" x="{left}" y="{y * UNITS + UNITS // 2}">{y}</text>'
        for y in range(layout.height)
    ]
    return "".join(marks)
