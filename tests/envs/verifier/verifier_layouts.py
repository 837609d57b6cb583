"""Helpers of the verifier's tests: layouts drawn as text, random layouts, stepping by ticks."""

import json
import random
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from envs.catalogue import RECIPES
from envs.layout import (
    DIRECTION_VECTORS,
    EAST,
    NORTH,
    SOUTH,
    WEST,
    Entity,
    Layout,
    LayoutError,
    layout_from_json,
)
from envs.verifier.compile import compile_layout
from envs.verifier.engine import advance
from envs.verifier.jit import entry, source_stamp
from envs.verifier.records import Plan, State
from envs.verifier.state import start
from envs.verifier.targets import targets

DATA = Path(__file__).parents[2] / "data"
IRON, COPPER, GEAR = "iron-plate", "copper-plate", "iron-gear-wheel"

_BELTS = {">": EAST, "<": WEST, "^": NORTH, "v": SOUTH}


def source(direction: int, left: str | None = IRON, right: str | None = IRON) -> Entity:
    return Entity("source", 0, 0, direction, left=left, right=right)


def sink(direction: int, item: str | None = IRON) -> Entity:
    return Entity("sink", 0, 0, direction, item=item)


def arm(drop: int) -> Entity:
    return Entity("inserter", 0, 0, drop)


def asm(recipe: str | None = GEAR) -> Entity:
    return Entity("asm", 0, 0, recipe=recipe)


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


@cache
def supported_cases() -> dict[str, tuple[dict[str, Any], Layout]]:
    """The reference cases made only of entities that this version knows, by name."""
    cases = {}
    for case in json.loads((DATA / "cases_public.json").read_text()):
        try:
            cases[case["name"]] = case, layout_from_json(case)
        except LayoutError:
            continue
    return cases


def _make_stepper(stamp: str):
    @entry
    def run_ticks(plan, targets, ticks):
        _ = stamp
        state = start(plan)
        for _tick in range(ticks):
            advance(plan, targets, state)
        return state

    return run_ticks


_run_ticks = _make_stepper(source_stamp())


class Stepped:
    """A layout after some ticks, with its state readable by tile."""

    def __init__(self, layout: Layout, ticks: int) -> None:
        self.layout = layout
        plan, self.rows = compile_layout(layout)
        self.plan: Plan = plan
        self.state: State = State(*_run_ticks(plan, targets(), ticks))

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


def _random_entity(rng: random.Random, kind: str, x: int, y: int) -> Entity:
    items = [IRON, IRON, COPPER, "copper-cable", None]
    if kind == "asm":
        return Entity("asm", x, y, recipe=rng.choice([*list(RECIPES)[:6], GEAR, GEAR, None]))
    entity = Entity(kind, x, y, rng.randrange(4))
    if kind == "source":
        return replace(entity, left=rng.choice(items), right=rng.choice(items))
    return replace(entity, item=rng.choice([GEAR, IRON])) if kind == "sink" else entity


def random_layout(seed: int, size: int = 7) -> Layout:
    """Garbage: random entities, where belts often follow one another."""
    rng = random.Random(seed)
    taken: dict[tuple[int, int], Entity] = {}
    entities = []
    machines = rng.choice([0, 1, 1, 2])
    kinds = ["asm"] * machines + ["source"] * 3 + ["sink"] * 2 + ["inserter"] * rng.randint(0, 8)
    kinds += ["belt"] * rng.randint(5, size * size)
    for kind in kinds:
        for _ in range(4):
            entity = _random_entity(rng, kind, rng.randrange(size), rng.randrange(size))
            tiles = entity.tiles()
            if any(max(tile) >= size or tile in taken for tile in tiles):
                continue
            taken.update(dict.fromkeys(tiles, entity))
            entities.append(entity)
            break
    return Layout(size, size, tuple(entities))


def mutated_case(seed: int) -> Layout:
    """A reference case with a few entities turned, dropped or added."""
    rng = random.Random(seed)
    _, layout = rng.choice(list(supported_cases().values()))
    entities = list(layout.entities)
    for _ in range(rng.randint(1, 4)):
        index = rng.randrange(len(entities))
        entity = entities[index]
        if entity.kind in ("belt", "inserter", "source") and rng.random() < 0.7:
            entities[index] = replace(entity, direction=rng.randrange(4))
        elif entity.kind != "sink":
            entities.pop(index)
    taken = {tile for entity in entities for tile in entity.tiles()}
    for _ in range(rng.randint(0, 12)):
        tile = (rng.randrange(layout.width), rng.randrange(layout.height))
        if tile not in taken:
            entities.append(_random_entity(rng, rng.choice(["belt", "inserter"]), *tile))
            taken.add(tile)
    return Layout(layout.width, layout.height, tuple(entities))


def random_rings(seed: int) -> Layout:
    """Overlapping rings of belts with random sources, arms, sinks and belts on them."""
    rng = random.Random(seed)
    size = rng.choice([6, 7, 8])
    taken: dict[tuple[int, int], Entity] = {}
    for _ in range(rng.randint(1, 3)):
        for (x, y), ahead in _ring(rng, size):
            direction = DIRECTION_VECTORS.index((ahead[0] - x, ahead[1] - y))
            if rng.random() < 0.97:
                taken.setdefault((x, y), Entity("belt", x, y, direction))
    for _ in range(rng.randint(2, 12)):
        kind = rng.choice(["source", "source", "inserter", "inserter", "belt", "sink"])
        tile = (rng.randrange(size), rng.randrange(size))
        taken.setdefault(tile, _random_entity(rng, kind, *tile))
    return Layout(size, size, tuple(taken.values()))


def _ring(rng: random.Random, size: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Tiles of a rectangle's outline, each with the one ahead, either way round."""
    x0, y0 = rng.randrange(size - 1), rng.randrange(size - 1)
    x1, y1 = rng.randint(x0 + 1, min(size - 1, x0 + 4)), rng.randint(y0 + 1, min(size - 1, y0 + 4))
    tiles = [(x, y0) for x in range(x0, x1)] + [(x1, y) for y in range(y0, y1)]
    tiles += [(x, y1) for x in range(x1, x0, -1)] + [(x0, y) for y in range(y1, y0, -1)]
    if rng.random() < 0.5:
        tiles.reverse()
    return list(zip(tiles, tiles[1:] + tiles[:1], strict=True))
