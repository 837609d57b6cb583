"""Random layouts that `factory-sim` can run too: belts, burner inserters, chests, ports.

In: a seed. Out: a layout of walks, rings and loose belts with curves, sideloads, loops and dead
ends; sources of one or two items; arms anywhere, often between belts and chests; sinks and chests
that count. Only what the peer cannot be given is taken out again.
"""

import random
from collections.abc import Mapping

from envs.layout import BELT_KINDS, DIRECTION_VECTORS, Entity, Layout

ITEMS = ("iron-plate", "copper-plate", "iron-gear-wheel", "transport-belt")
"""Items that both know and that stack to 100, of which a chest of the peer holds 1,600."""

BURNER = "burner-inserter"

Tile = tuple[int, int]
Tiles = dict[Tile, Entity]


def step(tile: Tile, direction: int, distance: int = 1) -> Tile:
    """The tile some steps towards a direction."""
    dx, dy = DIRECTION_VECTORS[direction % 4]
    return tile[0] + distance * dx, tile[1] + distance * dy


def by_tile(layout: Layout) -> Tiles:
    """The entities of a layout without machines, by tile."""
    return {(entity.x, entity.y): entity for entity in layout.entities}


def active_arms(tiles: Mapping[Tile, Entity]) -> frozenset[Tile]:
    """Tiles of the inserters that take part (R6)."""
    found = set()
    for tile, entity in tiles.items():
        if entity.kind != "inserter":
            continue
        drop = entity.direction or 0
        source, target = tiles.get(step(tile, drop + 2)), tiles.get(step(tile, drop))
        picks = source is not None and source.kind in (*BELT_KINDS, "chest_src")
        drops = target is not None and target.kind in ("belt", "sink", "chest_sink")
        if picks and drops:
            found.add(tile)
    return frozenset(found)


def spare_tile(port: Entity) -> Tile:
    """Where the peer needs a belt beside a port's own: behind a source, ahead of a sink."""
    direction = port.direction or 0
    return step((port.x, port.y), direction + 2 if port.kind == "source" else direction)


def _feeders(belts: Mapping[Tile, int], tile: Tile) -> set[Tile]:
    """The belts behind a belt and at its sides that point at it (R7)."""
    behind_and_sides = [(belts[tile] + turn) % 4 for turn in (1, 2, 3)]
    near = [(step(tile, side), side) for side in behind_and_sides]
    return {other for other, side in near if belts.get(other) == (side + 2) % 4}


def misfits(tiles: Mapping[Tile, Entity]) -> set[Tile]:
    """Tiles of belts and ports that would make belts flow otherwise in the peer; empty is good.

    There ports are belts too, each with one more on its spare tile, so all that can differ is
    which belts feed which: none but that belt may feed a source (R9), a sink may feed that belt
    only (R18), and those belts nothing else.
    """
    kinds = {tile: entity for tile, entity in tiles.items() if entity.kind in BELT_KINDS}
    belts = {tile: entity.direction or 0 for tile, entity in kinds.items()}
    owners: Tiles = {}
    found = set()
    for tile, entity in kinds.items():
        if entity.kind == "belt":
            continue
        spare = spare_tile(entity)
        if spare in tiles or spare in owners:
            found.add(tile)
        else:
            owners[spare] = entity
    belts |= {spare: owner.direction or 0 for spare, owner in owners.items()}
    for tile in belts:
        for feeder in _feeders(belts, tile):
            owner, entity = owners.get(feeder), kinds.get(tile)
            if owner is not None:  # a spare tile's belt feeds its source alone
                if owner.kind != "source" or spare_tile(owner) != feeder or entity is not owner:
                    found.add((owner.x, owner.y))
            elif entity is None:  # and is fed by its sink alone
                if kinds[feeder] is not owners[tile] or owners[tile].kind != "sink":
                    found.add(feeder)
            elif entity.kind == "source" or kinds[feeder].kind == "sink":
                found.add(feeder)
    return found


def untrue_drops(tiles: Mapping[Tile, Entity]) -> set[Tile]:
    """Arms that drop onto the inner lane of a sink that is a turn; empty is good.

    There alone, at position 53, an item that has just left matters to a drop: what is ahead within
    64 refuses it. Behind a sink nothing is ahead (R11, R18), in the peer there is a belt.
    """
    kinds = {tile: entity for tile, entity in tiles.items() if entity.kind in BELT_KINDS}
    belts = {tile: entity.direction or 0 for tile, entity in kinds.items()}
    found = set()
    for tile in active_arms(tiles):
        drop = tiles[tile].direction or 0
        sink = step(tile, drop)
        if tiles[sink].kind != "sink":
            continue
        feeders = _feeders(belts, sink)
        sides = [side for side in (1, 3) if step(sink, belts[sink] + side) in feeders]
        if len(feeders) == 1 and sides and (drop - belts[sink]) % 4 in (0, sides[0]):
            found.add(tile)
    return found


class _Draft:
    """A layout in the making."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.width, self.height = self.rng.randint(5, 10), self.rng.randint(5, 10)
        self.tiles: Tiles = {}
        self.spares: set[Tile] = set()

    def free(self, tile: Tile) -> bool:
        inside = 0 <= tile[0] < self.width and 0 <= tile[1] < self.height
        return inside and tile not in self.tiles and tile not in self.spares

    def random_tile(self) -> Tile:
        return self.rng.randrange(self.width), self.rng.randrange(self.height)

    def put(self, entity: Entity) -> None:
        if self.free((entity.x, entity.y)):
            self.tiles[entity.x, entity.y] = entity

    def item(self) -> str:
        return self.rng.choice(ITEMS)

    def put_port(self, port: Entity) -> None:
        """Puts a source or sink where the peer's belt beside it has room."""
        tile, spare = (port.x, port.y), spare_tile(port)
        if self.free(tile) and spare not in self.tiles and spare not in self.spares:
            self.tiles[tile] = port
            self.spares.add(spare)

    def put_sink(self, tile: Tile, direction: int) -> None:
        self.put_port(Entity("sink", *tile, direction, item=self.item()))

    def put_source(self, tile: Tile, direction: int) -> None:
        left, right = self.item(), self.item()
        if self.rng.random() < 0.4:
            right = left
        empty = self.rng.random()
        left, right = None if empty < 0.15 else left, None if empty > 0.85 else right
        self.put_port(Entity("source", *tile, direction, left=left, right=right))

    def walk(self, tile: Tile, direction: int, length: int) -> None:
        """Belts one after another, which end as a sink, in another belt or nowhere."""
        rng = self.rng
        for left in range(length, 0, -1):
            direction = direction if rng.random() < 0.7 else (direction + rng.choice((1, 3))) % 4
            if left == 1 or (not self.free(step(tile, direction)) and rng.random() < 0.5):
                self.put_sink(tile, direction)
            if not self.free(tile):
                return
            self.put(Entity("belt", *tile, direction))
            tile = step(tile, direction)

    def ring(self) -> None:
        """Belts round a rectangle, either way; the way stays clear where something stands."""
        rng = self.rng
        x0, y0 = rng.randrange(self.width - 1), rng.randrange(self.height - 1)
        x1 = rng.randint(x0 + 1, min(self.width - 1, x0 + 4))
        y1 = rng.randint(y0 + 1, min(self.height - 1, y0 + 4))
        way = [(x, y0) for x in range(x0, x1)] + [(x1, y) for y in range(y0, y1)]
        way += [(x, y1) for x in range(x1, x0, -1)] + [(x0, y) for y in range(y1, y0, -1)]
        if rng.random() < 0.5:
            way.reverse()
        for (x, y), ahead in zip(way, way[1:] + way[:1], strict=True):
            direction = DIRECTION_VECTORS.index((ahead[0] - x, ahead[1] - y))
            if rng.random() < 0.98:
                self.put(Entity("belt", x, y, direction))

    def put_arm(self) -> None:
        """An arm, mostly beside a belt; an empty tile at either end may get a chest or a sink."""
        rng = self.rng
        tile, drop = self.random_tile(), rng.randrange(4)
        belts = [tile for tile, entity in self.tiles.items() if entity.kind in BELT_KINDS]
        if belts and rng.random() < 0.9:
            tile = step(rng.choice(belts), drop + rng.choice((0, 2)))
        if not self.free(tile):
            return
        self.put(Entity("inserter", *tile, drop, prototype=BURNER))
        if rng.random() < 0.6:
            self.put(Entity("chest_src", *step(tile, drop + 2), item=self.item()))
        if rng.random() < 0.7:
            self.put(Entity("chest_sink", *step(tile, drop), item=self.item()))
        else:
            self.put_sink(step(tile, drop), rng.randrange(4))


def random_layout(seed: int) -> Layout:
    """A random layout that the peer can be given, the same for the same seed."""
    draft = _Draft(seed)
    rng = draft.rng
    if rng.random() < 0.15:
        draft.ring()
    for _ in range(rng.randint(1, 5)):
        tile, direction = draft.random_tile(), rng.randrange(4)
        if not draft.free(tile):
            continue
        draft.put_source(tile, direction)
        draft.walk(step(tile, direction), direction, rng.randint(1, 14))
    for _ in range(rng.randint(0, 6)):
        draft.put(Entity("belt", *draft.random_tile(), rng.randrange(4)))
    for _ in range(rng.choice((0, 0, 1, 2))):
        draft.put_sink(draft.random_tile(), rng.randrange(4))
    for _ in range(rng.randint(0, 12)):
        draft.put_arm()
    while unfit := misfits(draft.tiles) | untrue_drops(draft.tiles):
        del draft.tiles[rng.choice(sorted(unfit))]
    return Layout(draft.width, draft.height, tuple(draft.tiles.values()))
