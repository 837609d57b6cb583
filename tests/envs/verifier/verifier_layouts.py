"""Helpers of the verifier's tests: layouts drawn as text, reference cases, stepping by ticks."""

import json
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from merged_parts import merged_plan, merged_state, part_ranges

from envs.catalogue import ARMS
from envs.layout import DIRECTION_VECTORS, EAST, NORTH, SOUTH, WEST, Entity, Layout
from envs.layout_json import layout_from_json
from envs.verifier.compile import compile_layout
from envs.verifier.encode import Rows
from envs.verifier.engine import advance
from envs.verifier.jit import entry, source_stamp
from envs.verifier.parts import take_part
from envs.verifier.records import Plan, RecordArray, State
from envs.verifier.state import start
from envs.verifier.targets import targets

DATA = Path(__file__).parents[2] / "data"
IRON, COPPER, GEAR = "iron-plate", "copper-plate", "iron-gear-wheel"

_BELTS = {">": EAST, "<": WEST, "^": NORTH, "v": SOUTH}


def source(direction: int, left: str | None = IRON, right: str | None = IRON) -> Entity:
    return Entity("source", 0, 0, direction, left=left, right=right)


def sink(direction: int, item: str | None = IRON) -> Entity:
    return Entity("sink", 0, 0, direction, item=item)


def arm(drop: int, prototype: str = "inserter") -> Entity:
    return Entity("inserter", 0, 0, drop, prototype=prototype)


def asm(recipe: str | None = GEAR, prototype: str = "assembling-machine-1") -> Entity:
    return Entity("asm", 0, 0, recipe=recipe, prototype=prototype)


def furnace(recipe: str | None = IRON, prototype: str = "stone-furnace") -> Entity:
    return Entity("furnace", 0, 0, recipe=recipe, prototype=prototype)


def chest(item: str | None = IRON) -> Entity:
    """A chest that never runs out."""
    return Entity("chest_src", 0, 0, item=item)


def chest_sink(item: str | None = IRON) -> Entity:
    return Entity("chest_sink", 0, 0, item=item)


def draw(text: str, **legend: Entity) -> Layout:
    """A layout from a drawing: `<>^v` belts, `.` empty, letters as in the legend.

    A machine's letter stands at its top-left tile.
    """
    rows = [row.strip() for row in text.strip().splitlines()]
    entities = []
    for y, row in enumerate(rows):
        for x, letter in enumerate(row):
            if letter in _BELTS:
                entities.append(Entity("belt", x, y, _BELTS[letter]))
            elif letter != ".":
                entities.append(replace(legend[letter], x=x, y=y))
    return Layout(max(len(row) for row in rows), len(rows), tuple(entities))


def arm_line(drop: int, prototype: str, pickup: Entity, target: Entity) -> Layout:
    """An inserter in the middle of an empty grid, with what it picks from and drops to."""
    dx, dy = DIRECTION_VECTORS[drop]
    reach = ARMS[prototype].reach_tiles
    ends = (
        replace(end, x=2 + side * reach * dx, y=2 + side * reach * dy)
        for side, end in ((-1, pickup), (1, target))
    )
    return Layout(5, 5, (Entity("inserter", 2, 2, drop, prototype=prototype), *ends))


Cases = dict[str, tuple[dict[str, Any], Layout]]


def _read(name: str) -> Cases:
    listed = json.loads((DATA / name).read_text())
    return {case["name"]: (case, layout_from_json(case)) for case in listed}


@cache
def cases() -> Cases:
    """The reference cases by name: rates, transient and period are given."""
    return _read("cases_public.json")


@cache
def public_layouts() -> Cases:
    """The further layouts by name: rates and period are given."""
    return _read("layouts_public.json")


def rotated(layout: Layout, quarters: int) -> Layout:
    """A layout turned clockwise by quarter turns."""
    for _ in range(quarters % 4):
        turned = []
        for entity in layout.entities:
            x, y = layout.height - entity.y - entity.size, entity.x
            direction = None if entity.direction is None else (entity.direction + 1) % 4
            turned.append(replace(entity, x=x, y=y, direction=direction))
        layout = Layout(layout.height, layout.width, tuple(turned))
    return layout


def _make_run_part(stamp: str):
    @entry
    def run_part(plan, targets, number, ticks):
        _ = stamp
        part = take_part(plan, number)
        state = start(part)
        for _tick in range(ticks):
            advance(part, targets, state)
        return state

    return run_part


_run_part = _make_run_part(source_stamp())


def run_parts(plan: Plan, ticks: int) -> list[State]:
    """The states of a plan's parts after some ticks."""
    return [State(*_run_part(plan, targets(), n, ticks)) for n in range(len(plan.parts))]


def delivered_after(layout: Layout, ticks: int) -> dict[tuple[int, int, str], int]:
    """Items counted after some ticks, by x and y of the sink and item name (R43)."""
    plan, rows = compile_layout(layout)
    counts: dict[tuple[int, int, str], int] = {}
    for state, part in zip(run_parts(plan, ticks), part_ranges(plan, "sinks"), strict=True):
        for row, item in zip(*state.delivered.nonzero(), strict=True):
            sink = rows.sinks[plan.sinks[part][row]]
            key = sink.x, sink.y, rows.items[item]
            counts[key] = counts.get(key, 0) + int(state.delivered[row, item])
    return counts


@lru_cache(maxsize=64)
def _compiled(layout: Layout) -> tuple[Plan, Plan, Rows]:
    """A layout's plan as it is run, the same as one part, and its names."""
    plan, rows = compile_layout(layout)
    return plan, merged_plan(plan, len(rows.sinks)), rows


def whole_plan(layout: Layout) -> tuple[Plan, Rows]:
    """`compile_layout` with the plan's parts made one again."""
    _, merged, rows = _compiled(layout)
    return merged, rows


class Stepped:
    """A layout after some ticks, with its state readable by tile.

    Each part runs for itself, as in the verifier; `plan` and `state` hold them as one.
    """

    def __init__(self, layout: Layout, ticks: int) -> None:
        self.layout = layout
        parts, self.plan, self.rows = _compiled(layout)
        self.state = merged_state(parts, run_parts(parts, ticks), len(self.rows.sinks))

    def items(self, x: int, y: int, lane: int) -> list[tuple[int, str]]:
        """(position, item) on a lane of a tile, front first."""
        spot = self.plan.lanes[2 * (y * self.layout.width + x) + lane]
        chain = self.state.chains[spot["chain"]]
        found = []
        for index in range(chain["first"], chain["first"] + chain["count"]):
            position = int(self.state.position[index] - spot["offset"])
            if 0 <= position < spot["length"]:
                found.append((position, self.rows.items[self.state.item[index]]))
        return found

    def positions(self, x: int, y: int, lane: int) -> list[int]:
        """Positions of the items on a lane of a tile, front first."""
        return [position for position, _ in self.items(x, y, lane)]

    def delivered(self, item: str) -> int:
        """Items of a name counted at all sinks so far."""
        return int(self.state.delivered[:, self.rows.items.index(item)].sum())

    def stock(self, item: str, machine: int = 0) -> int:
        """Ingredients of a name in a machine."""
        needs = list(self.plan.needs["item"][machine])
        return int(self.state.stock[machine, needs.index(self.rows.items.index(item))])


def arm_trace(layout: Layout, ticks: int, number: int = 0) -> list[RecordArray]:
    """An arm's record at the end of each tick before `ticks`, beginning with the start."""
    return [Stepped(layout, tick).state.arms[number] for tick in range(ticks)]
