"""Random 12x12 layouts for benchmarks: machines with arms, belts that wander, and clutter.

In: a seed. Out: a valid layout that may or may not deliver. Only entities that factorion's flow
model knows too: belts, plain and long-handed inserters, assembling machine 1.
"""

import random

from envs.catalogue import RECIPES
from envs.layout import DIRECTION_VECTORS, Entity, Layout, validate

SIZE = 12
MAX_WALK = 8
MAX_CLUTTER = 12
PRODUCTS = ("iron-gear-wheel", "iron-stick", "pipe", "copper-cable", "electronic-circuit")

Tile = tuple[int, int]
Grid = dict[Tile, Entity]


def random_layout(seed: int) -> Layout:
    """The layout of a seed."""
    rng = random.Random(seed)
    grid: Grid = {}
    for _ in range(rng.randint(1, 2)):
        _add_machine(rng, grid)
    for _ in range(rng.randint(0, MAX_CLUTTER)):
        tile = rng.randrange(SIZE), rng.randrange(SIZE)
        kind = rng.choice(("belt", "belt", "inserter"))
        if _is_free(grid, tile):
            grid[tile] = Entity(kind, *tile, rng.randrange(4))
    layout = Layout(SIZE, SIZE, tuple(dict.fromkeys(grid.values())))
    validate(layout)
    return layout


def _add_machine(rng: random.Random, grid: Grid) -> None:
    """A machine, an arm that feeds it each ingredient and arms that empty it, with their belts."""
    machine = Entity("asm", rng.randrange(SIZE - 2), rng.randrange(SIZE - 2))
    if any(tile in grid for tile in machine.tiles()):
        return
    recipe = RECIPES[rng.choice(PRODUCTS)]
    machine = Entity("asm", machine.x, machine.y, recipe=recipe.product)
    grid.update(dict.fromkeys(machine.tiles(), machine))
    for item, _ in recipe.ingredients:
        _add_arm(rng, grid, machine, item, feeds=True)
    for _ in range(rng.randint(1, 2)):
        _add_arm(rng, grid, machine, recipe.product, feeds=False)


def _add_arm(rng: random.Random, grid: Grid, machine: Entity, item: str, feeds: bool) -> None:
    """An arm at a random side of a machine, with a belt from a source or to a sink."""
    side, along = rng.randrange(4), rng.randrange(3)
    prototype = rng.choice(("inserter", "inserter", "long-handed-inserter"))
    reach = 1 if prototype == "inserter" else 2
    (dx, dy), gap = DIRECTION_VECTORS[side], rng.randint(1, reach)
    x = machine.x + (along if dx == 0 else 1 + dx * (1 + gap))
    y = machine.y + (along if dy == 0 else 1 + dy * (1 + gap))
    if not _is_free(grid, (x, y)):
        return
    grid[x, y] = Entity("inserter", x, y, (side + 2) % 4 if feeds else side, prototype=prototype)
    path = _walk(rng, grid, (x + reach * dx, y + reach * dy))
    if feeds:
        path.reverse()
    _lay(rng, grid, path, item, feeds)


def _walk(rng: random.Random, grid: Grid, start: Tile) -> list[Tile]:
    """Free tiles from `start` on that never cross themselves."""
    path: list[Tile] = []
    tile, direction = start, rng.randrange(4)
    while len(path) < MAX_WALK and _is_free(grid, tile) and tile not in path:
        path.append(tile)
        if rng.random() < 0.3:
            direction = rng.randrange(4)
        dx, dy = DIRECTION_VECTORS[direction]
        tile = tile[0] + dx, tile[1] + dy
    return path


def _lay(rng: random.Random, grid: Grid, path: list[Tile], item: str, feeds: bool) -> None:
    """Belts along a path, with a source of the item at its head or a sink at its tail."""
    direction = rng.randrange(4)
    for at, (x, y) in enumerate(path):
        if at + 1 < len(path):
            direction = DIRECTION_VECTORS.index((path[at + 1][0] - x, path[at + 1][1] - y))
        grid[x, y] = Entity("belt", x, y, direction)
        if feeds and at == 0:
            lanes = rng.choice(((item, item), (item, item), (item, None), (None, item)))
            grid[x, y] = Entity("source", x, y, direction, left=lanes[0], right=lanes[1])
        elif not feeds and at + 1 == len(path):
            grid[x, y] = Entity("sink", x, y, direction, item=item)


def _is_free(grid: Grid, tile: Tile) -> bool:
    return 0 <= tile[0] < SIZE and 0 <= tile[1] < SIZE and tile not in grid
