"""The geometry of the rules once more, word by word: what a layout is before its first tick.

In: a `Layout`. Out: lanes, chains and their order (R7-R10, R14), arms in acting order (R6, R20-R22,
R27, R32, R34) and machines (R37-R40), all named by tile and item instead of by number. Shares
nothing with the engine's compiler but the recipe table, which has a test of its own.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from envs.catalogue import RECIPES, SMELTING
from envs.layout import Entity, Layout

Tile = tuple[int, int]
LaneKey = tuple[int, int, int]

VECTORS = ((0, -1), (1, 0), (0, 1), (-1, 0))
BELTS = ("belt", "source", "sink")
MACHINES = ("asm", "furnace")

FIGURES = {
    "burner-inserter": (1, 130_000, 8_960),
    "inserter": (1, 140_000, 8_960),
    "long-handed-inserter": (2, 200_000, 12_800),
    "fast-inserter": (1, 400_000, 25_600),
}
"""Reach, ROT and EXT (R20)."""

SPEEDS = {
    "assembling-machine-1": Fraction(1, 2),
    "assembling-machine-2": Fraction(3, 4),
    "assembling-machine-3": Fraction(5, 4),
    "stone-furnace": Fraction(1),
    "steel-furnace": Fraction(2),
    "electric-furnace": Fraction(2),
}
"""R37."""


@dataclass
class Lane:
    """A lane of a tile. `link`: dead, drain, continue or sideload, the last two to `target`."""

    length: int
    link: str = "dead"
    target: LaneKey | None = None
    entry: int = 0
    chain: int = -1
    offset: int = 0


@dataclass
class Chain:
    """Lanes from the front on. `feed`: the source lane at its tail and its item."""

    lanes: list[LaneKey]
    is_loop: bool
    total: int
    feed: tuple[LaneKey, str] | None


@dataclass
class Hand:
    """An inserter that takes part. Drops on a belt go to `lane` at `position`."""

    tile: Tile
    drop: int
    reach: int
    rotation: int
    extension: int
    source: Entity
    target: Entity
    group: int = 0
    first_lane: int = 0
    lane: LaneKey | None = None
    position: int = 0

    @property
    def facing(self) -> int:
        return (self.drop + 2) % 4

    @property
    def pickup(self) -> Tile:
        return ahead(self.tile, self.facing, self.reach)


@dataclass
class Works:
    """A machine. `needs`: item -> (amount per craft, limit)."""

    product: str | None
    craft_ticks: int
    per_craft: int
    stop_level: int
    needs: dict[str, tuple[int, int]]


@dataclass
class LiteralPlan:
    lanes: dict[LaneKey, Lane]
    chains: list[Chain]
    order: list[int]
    hands: list[Hand]
    works: dict[Tile, Works]


def ahead(tile: Tile, direction: int, distance: int = 1) -> Tile:
    dx, dy = VECTORS[direction]
    return tile[0] + distance * dx, tile[1] + distance * dy


def left_of(direction: int) -> Tile:
    ux, uy = VECTORS[direction]
    return uy, -ux


def right_of(direction: int) -> Tile:
    ux, uy = VECTORS[direction]
    return -uy, ux


def row_major(place: tuple[int, ...]) -> tuple[int, ...]:
    return (place[1], place[0], *place[2:])


class Geometry:
    """A layout with its entities by tile."""

    def __init__(self, layout: Layout) -> None:
        self.at: dict[Tile, Entity] = {t: e for e in layout.entities for t in e.tiles()}
        self.belts = {t: e for t, e in self.at.items() if e.kind in BELTS}

    def feeds(self, tile: Tile, vector: Tile) -> bool:
        """Whether a feeder of the belt on a tile stands on its side towards a vector (R7)."""
        feeder = self.at.get((tile[0] + vector[0], tile[1] + vector[1]))
        if feeder is None or feeder.kind not in ("belt", "source"):
            return False
        assert feeder.direction is not None
        return ahead((feeder.x, feeder.y), feeder.direction) == tile

    def shape(self, tile: Tile) -> str:
        """R7."""
        belt = self.belts[tile]
        assert belt.direction is not None
        ux, uy = VECTORS[belt.direction]
        if belt.kind == "source" or self.feeds(tile, (-ux, -uy)):
            return "straight"
        left = self.feeds(tile, left_of(belt.direction))
        right = self.feeds(tile, right_of(belt.direction))
        if left == right:
            return "straight"
        return "left" if left else "right"

    def lane(self, tile: Tile, number: int) -> Lane:
        """R8, R9, R18."""
        belt, shape = self.belts[tile], self.shape(tile)
        outer = number == (0 if shape == "right" else 1)
        lane = Lane(256 if shape == "straight" else (295 if outer else 106))
        if belt.kind == "sink":
            lane.link = "drain"
            return lane
        assert belt.direction is not None
        there = ahead(tile, belt.direction)
        other = self.at.get(there)
        if other is None or other.kind not in ("belt", "sink"):
            return lane
        assert other.direction is not None
        if (other.direction - belt.direction) % 4 == 2:
            return lane
        if other.direction == belt.direction or self.shape(there) != "straight":
            lane.link, lane.target = "continue", (*there, number)
            return lane
        ux, uy = VECTORS[belt.direction]
        comes_from_left = left_of(other.direction) == (-ux, -uy)
        side = left_of(belt.direction) if number == 0 else right_of(belt.direction)
        vx, vy = VECTORS[other.direction]
        lane.link, lane.target = "sideload", (*there, 0 if comes_from_left else 1)
        lane.entry = 188 if side == (-vx, -vy) else 67
        return lane

    def hand(self, arm: Entity) -> Hand | None:
        """R6, R20-R22, R27, R32; None for an inert arm."""
        assert arm.direction is not None
        reach, rotation, extension = FIGURES[arm.prototype]
        source = self.at.get(ahead((arm.x, arm.y), arm.direction, -reach))
        target = self.at.get(ahead((arm.x, arm.y), arm.direction, reach))
        if source is None or source.kind not in (*BELTS, *MACHINES, "chest_src"):
            return None
        if target is None or target.kind not in ("belt", "sink", *MACHINES, "chest_sink"):
            return None
        hand = Hand((arm.x, arm.y), arm.direction, reach, rotation, extension, source, target)
        if source.kind in BELTS:
            assert source.direction is not None
            k, shape = (source.direction - hand.facing) % 4, self.shape((source.x, source.y))
            hand.group = k + {"straight": 0, "right": 4, "left": 8}[shape]
            hand.first_lane = 1 if shape == "straight" and k == 1 else 0
        if target.kind in BELTS:
            self.aim(hand)
        return hand

    def aim(self, hand: Hand) -> None:
        """R32."""
        belt = hand.target
        assert belt.direction is not None
        ex, ey = VECTORS[hand.drop]
        ux, uy = VECTORS[belt.direction]
        shape = self.shape((belt.x, belt.y))
        if shape == "straight":
            number = 0 if -ex * uy + ey * ux < 0 else 1
            hand.position = 128 - 51 * (ex * ux + ey * uy)
        else:
            s = 1 if shape == "right" else -1
            inner = ex * (ux - s * uy) + ey * (uy + s * ux) > 0
            number = (1 if shape == "right" else 0) if inner else (0 if shape == "right" else 1)
            hand.position = 53 if inner else 147
        hand.lane = belt.x, belt.y, number


def chains_of(lanes: dict[LaneKey, Lane], belts: dict[Tile, Entity]) -> list[Chain]:
    """Open chains by their fronts, then loops by their first tiles (R10, R14)."""
    behind = {lane.target: key for key, lane in lanes.items() if lane.link == "continue"}
    chains: list[Chain] = []
    ordered = sorted(lanes, key=row_major)
    for is_loop in (False, True):
        for front in ordered:
            if lanes[front].chain >= 0 or (not is_loop and lanes[front].link == "continue"):
                continue
            chain = Chain([], is_loop, 0, None)
            key: LaneKey | None = front
            while key is not None and lanes[key].chain < 0:
                lanes[key].chain, lanes[key].offset = len(chains), chain.total
                chain.lanes.append(key)
                chain.total += lanes[key].length
                key = behind.get(key)
            tail = belts[chain.lanes[-1][:2]]
            item = tail.left if chain.lanes[-1][2] == 0 else tail.right
            if tail.kind == "source" and item is not None:
                chain.feed = chain.lanes[-1], item
            chains.append(chain)
    return chains


def order_of(chains: list[Chain], lanes: dict[LaneKey, Lane]) -> list[int]:
    """R14."""
    order: list[int] = []
    visited: set[int] = set()

    def side(number: int) -> Lane | None:
        front = lanes[chains[number].lanes[0]]
        return front if front.link == "sideload" else None

    def place(number: int) -> tuple[int, int]:
        front = side(number)
        if front is None or front.target is None:
            return -1, number
        return lanes[front.target].offset + front.entry, number

    def visit(number: int) -> None:
        if number in visited:
            return
        visited.add(number)
        front = side(number)
        if front is not None and front.target is not None:
            visit(lanes[front.target].chain)
        order.append(number)

    for number in sorted(range(len(chains)), key=place):
        visit(number)
    return order


def works_of(machine: Entity) -> Works:
    """R37, R38, R40."""
    if machine.recipe is None:
        return Works(None, 0, 0, 0, {})
    recipe = (SMELTING if machine.kind == "furnace" else RECIPES)[machine.recipe]
    speed, tenths = SPEEDS[machine.prototype], recipe.time_tenths_s
    ticks = 60 * Fraction(tenths, 10) / speed
    assert ticks.denominator == 1
    crafts = min(100, max(2, math.ceil(1166 * 100 * speed / (10_000 * tenths)) + 1))
    needs = {item: (amount, amount * crafts) for item, amount in recipe.ingredients}
    return Works(recipe.product, int(ticks), recipe.products_per_craft, recipe.stack_size, needs)


def literal_plan(layout: Layout) -> LiteralPlan:
    """Everything about a layout that does not change while it runs."""
    geometry = Geometry(layout)
    tiles = geometry.belts
    lanes = {(*tile, n): geometry.lane(tile, n) for tile in tiles for n in range(2)}
    chains = chains_of(lanes, tiles)
    arms = sorted(
        (entity for entity in layout.entities if entity.kind == "inserter"),
        key=lambda arm: (-arm.y, -arm.x),
    )
    hands = [hand for arm in arms if (hand := geometry.hand(arm)) is not None]
    machines = sorted(
        (entity for entity in layout.entities if entity.kind in MACHINES),
        key=lambda machine: (machine.y, machine.x),
    )
    works = {(machine.x, machine.y): works_of(machine) for machine in machines}
    return LiteralPlan(lanes, chains, order_of(chains, lanes), hands, works)
