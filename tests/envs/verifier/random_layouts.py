"""Random layouts by seed: garbage, mutated reference cases, rings of belts, working factories.

All kinds of entities take part. In: a seed. Out: a valid `Layout`.
"""

import random
from dataclasses import replace

from verifier_layouts import COPPER, GEAR, IRON, cases, rotated

from envs.catalogue import ARMS, MACHINES
from envs.layout import (
    DIRECTION_VECTORS,
    EAST,
    NORTH,
    PROTOTYPES,
    SOUTH,
    Entity,
    Layout,
    recipes_of,
)

COMMON_RECIPES = {
    "asm": ("iron-gear-wheel", "copper-cable", "electronic-circuit", "pipe", "iron-stick", None),
    "furnace": ("iron-plate", "copper-plate", "stone-brick", "steel-plate", None),
}
ITEMS = (IRON, IRON, COPPER, "copper-cable", "iron-ore", None)


class Board:
    """Entities that do not overlap, on a square grid."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.entities: list[Entity] = []
        self.taken: set[tuple[int, int]] = set()

    def add(self, entity: Entity) -> bool:
        """Adds an entity where it fits; whether it does."""
        tiles = entity.tiles()
        inside = all(min(tile) >= 0 and max(tile) < self.size for tile in tiles)
        if not inside or self.taken & set(tiles):
            return False
        self.taken |= set(tiles)
        self.entities.append(entity)
        return True

    def layout(self) -> Layout:
        return Layout(self.size, self.size, tuple(self.entities))


def random_entity(rng: random.Random, kind: str, x: int, y: int) -> Entity:
    """An entity of a kind with random fields."""
    entity = Entity(kind, x, y, prototype=rng.choice(PROTOTYPES[kind]))
    if kind in COMMON_RECIPES:
        return replace(entity, recipe=rng.choice(COMMON_RECIPES[kind]))
    if kind == "chest_src":
        return replace(entity, item=rng.choice(ITEMS))
    if kind in ("sink", "chest_sink"):
        entity = replace(entity, item=rng.choice([GEAR, IRON]))
    if kind == "source":
        entity = replace(entity, left=rng.choice(ITEMS), right=rng.choice(ITEMS))
    if kind == "chest_sink":
        return entity
    return replace(entity, direction=rng.randrange(4))


def random_layout(seed: int, size: int = 7) -> Layout:
    """Garbage: random entities of all kinds, many of them belts and arms."""
    rng, board = random.Random(seed), Board(size)
    kinds = [rng.choice(["asm", "furnace"]) for _ in range(rng.choice([0, 1, 1, 2]))]
    kinds += ["source"] * 3 + ["sink"] * 2 + ["inserter"] * rng.randint(0, 8)
    kinds += ["chest_src", "chest_sink"] * rng.choice([0, 0, 1, 2])
    kinds += ["belt"] * rng.randint(5, size * size)
    for kind in kinds:
        for _ in range(4):
            if board.add(random_entity(rng, kind, rng.randrange(size), rng.randrange(size))):
                break
    return board.layout()


def mutated_case(seed: int) -> Layout:
    """A reference case with a few entities turned, retyped, dropped or added."""
    rng = random.Random(seed)
    _, layout = rng.choice(list(cases().values()))
    entities = list(layout.entities)
    for _ in range(min(rng.randint(1, 4), len(entities))):
        index = rng.randrange(len(entities))
        entity = entities[index]
        if entity.kind in ("belt", "inserter", "source") and rng.random() < 0.7:
            entities[index] = replace(entity, direction=rng.randrange(4))
        elif entity.kind in ("inserter", "asm") and rng.random() < 0.7:
            entities[index] = replace(entity, prototype=rng.choice(PROTOTYPES[entity.kind]))
        elif entity.kind != "sink":
            entities.pop(index)
    board = Board(layout.width)
    for entity in entities:
        board.add(entity)
    for _ in range(rng.randint(0, 12)):
        kind = rng.choice(["belt", "belt", "inserter", "inserter", "chest_src", "chest_sink"])
        x, y = rng.randrange(layout.width), rng.randrange(layout.height)
        board.add(random_entity(rng, kind, x, y))
    return board.layout()


def random_rings(seed: int) -> Layout:
    """Overlapping rings of belts with random sources, arms, chests and sinks on them."""
    rng = random.Random(seed)
    board = Board(rng.choice([6, 7, 8]))
    for _ in range(rng.randint(1, 3)):
        for (x, y), ahead in _ring(rng, board.size):
            direction = DIRECTION_VECTORS.index((ahead[0] - x, ahead[1] - y))
            if rng.random() < 0.97:
                board.add(Entity("belt", x, y, direction))
    kinds = ("source", "source", "inserter", "inserter", "belt", "sink", "chest_src", "chest_sink")
    for _ in range(rng.randint(2, 12)):
        x, y = rng.randrange(board.size), rng.randrange(board.size)
        board.add(random_entity(rng, rng.choice(kinds), x, y))
    return board.layout()


def _ring(rng: random.Random, size: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Tiles of a rectangle's outline, each with the one ahead, either way round."""
    x0, y0 = rng.randrange(size - 1), rng.randrange(size - 1)
    x1, y1 = rng.randint(x0 + 1, min(size - 1, x0 + 4)), rng.randint(y0 + 1, min(size - 1, y0 + 4))
    tiles = [(x, y0) for x in range(x0, x1)] + [(x1, y) for y in range(y0, y1)]
    tiles += [(x, y1) for x in range(x1, x0, -1)] + [(x0, y) for y in range(y1, y0, -1)]
    if rng.random() < 0.5:
        tiles.reverse()
    return list(zip(tiles, tiles[1:] + tiles[:1], strict=True))


def random_crowd(seed: int) -> Layout:
    """A belt with few or many items, and arms on both sides that take the same ones."""
    rng, board = random.Random(seed), Board(9)
    if rng.random() < 0.5:
        left, right = rng.choice([IRON, COPPER, None]), rng.choice([IRON, COPPER])
        board.add(Entity("source", 0, 4, EAST, left=left, right=right))
    for x in range(rng.randint(6, 8)):
        board.add(Entity("belt", x, 4, EAST))
    board.add(Entity("sink", rng.choice([7, 8]), 4, EAST, item=IRON))
    for x in range(9):
        for y, drop in ((3, NORTH), (5, SOUTH)):
            if rng.random() < 0.3 or x > 6:
                continue
            arm = replace(_arm(rng, x, y, drop), direction=rng.choice([drop, drop, 2 - drop]))
            board.add(arm)
            place = y + (drop - 1) * arm.reach
            brings = arm.direction != drop
            item = rng.choice([IRON, COPPER])
            board.add(Entity("chest_src" if brings else "chest_sink", x, place, item=item))
    return rotated(board.layout(), rng.randrange(4))


EDGE = 4
"""x and y of a factory's machine."""


def random_factory(seed: int) -> Layout:
    """One machine with arms of all types, fed by belts and chests, emptied to belts and chests."""
    rng, board = random.Random(seed), Board(12)
    prototype = rng.choice(list(MACHINES))
    kind = "furnace" if MACHINES[prototype].smelts else "asm"
    recipe = rng.choice([r for r in recipes_of(kind).values() if len(r.ingredients) < 3])
    board.add(Entity(kind, EDGE, EDGE, recipe=recipe.product, prototype=prototype))
    items = [item for item, _ in recipe.ingredients]
    span = range(EDGE, EDGE + MACHINES[prototype].size)
    for row in (1, 2):
        left, right = rng.choice([*items, None]), rng.choice(items)
        board.add(Entity("source", 0, row, EAST, left=left, right=right))
        end = rng.randint(span[-1], 10)
        for x in range(1, end):
            board.add(Entity("belt", x, row, EAST))
        board.add(Entity(rng.choice(["belt", "sink"]), end, row, EAST, item=None))
    for place in span:
        if rng.random() < 0.7:
            board.add(_arm(rng, place, EDGE - 1, SOUTH))
        if rng.random() < 0.4:
            arm = _arm(rng, EDGE - 1, place, EAST)
            board.add(arm)
            board.add(Entity("chest_src", arm.x - arm.reach, place, item=rng.choice(items)))
    _add_exits(rng, board, span, recipe.product)
    return rotated(board.layout(), rng.randrange(4))


def _arm(rng: random.Random, x: int, y: int, direction: int) -> Entity:
    return Entity("inserter", x, y, direction, prototype=rng.choice(list(ARMS)))


def _add_exits(rng: random.Random, board: Board, span: range, product: str) -> None:
    """Arms that take a factory's product out, and where it goes."""
    beside = span[-1] + 1
    for place in span:
        if rng.random() < 0.6:
            board.add(_arm(rng, place, beside, SOUTH))
        if rng.random() < 0.3:
            arm = _arm(rng, beside, place, EAST)
            board.add(arm)
            board.add(Entity("chest_sink", beside + arm.reach, place, item=product))
    for row in (beside + 1, beside + 2):
        for x in range(EDGE - 1, 11):
            board.add(Entity("belt", x, row, EAST))
        board.add(Entity("sink", 11, row, EAST, item=product))
