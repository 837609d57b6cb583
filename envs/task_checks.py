"""Checks of a user's task that need no space to be looked at: cells, names, the chain of recipes.

In: a task. Out: messages; those that begin with `warning:` do not make it impossible. Jax-free.
"""

from collections import Counter
from collections.abc import Iterator

from envs.actions import NUM_ROTATIONS
from envs.catalogue import ITEMS, RECIPES
from envs.families import MAX_SOURCES
from envs.labels import rate_text
from envs.suggestion import nearest
from envs.task_bound import demand_of
from envs.task_room import BELT_ITEMS_PER_S, LANE_ITEMS_PER_S
from envs.task_spec import Port, TaskSpec

WARNING = "warning: "

MIN_SIDE, MAX_SIDE = 4, 32
"""Sides of a grid, cells."""

MAX_RECIPES = NUM_ROTATIONS
"""The rotation of a machine's action is its recipe slot."""

MAX_ITEMS = 8
"""Item slots of the environment."""


def placing(spec: TaskSpec) -> Iterator[str]:
    """Grid, cells and numbers of ports."""
    for name, side in (("width", spec.width), ("height", spec.height)):
        if not MIN_SIDE <= side <= MAX_SIDE:
            yield f"{name} is {side}; give {MIN_SIDE} to {MAX_SIDE} cells"
    cells = [
        *((name_of(port), port.x, port.y) for port in spec.ports),
        *((f"blocked cell ({x}, {y})", x, y) for x, y in spec.blocked),
    ]
    for what, x, y in cells:
        if not (0 <= x < spec.width and 0 <= y < spec.height):
            yield (
                f"{what} is outside the grid; x is 0 to {spec.width - 1}, y is 0 to "
                f"{spec.height - 1}, from the top left"
            )
    for (x, y), count in Counter((x, y) for _, x, y in cells).items():
        if count > 1:
            whats = [what for what, *cell in cells if cell == [x, y]]
            yield f"{' and '.join(whats)} are on one cell; move one or drop it"
    sinks = sum(port.is_sink for port in spec.ports)
    sources = len(spec.ports) - sinks
    if sinks != 1:
        yield f"there are {sinks} ports with role sink; give exactly one, where the product leaves"
    if not 1 <= sources <= MAX_SOURCES:
        yield (
            f"there are {sources} ports with role source; give 1 to {MAX_SOURCES}: one source "
            "can give two items, one on each lane"
        )


def naming(spec: TaskSpec) -> Iterator[str]:
    """Names of recipes and items, and how many recipes there are."""
    if not 1 <= len(spec.recipes) <= MAX_RECIPES:
        yield f"there are {len(spec.recipes)} recipes; give 1 to {MAX_RECIPES}"
    for name, count in Counter(spec.recipes).items():
        if name not in RECIPES:
            yield f"recipe {name!r} is not known to assembling machines; {nearest(name, RECIPES)}"
        elif count > 1:
            yield f"recipe {name} stands {count} times; give it once"
    if spec.target_item not in ITEMS:
        yield f"target_item {spec.target_item!r} is no item; {nearest(spec.target_item, ITEMS)}"
    for port in spec.ports:
        for lane in dict.fromkeys(lanes_of(port)):
            if lane not in ITEMS and not (port.is_sink and lane == spec.target_item):
                yield f"{name_of(port)} has item {lane!r}, which is none; {nearest(lane, ITEMS)}"
        if port.is_sink and {port.left, port.right} != {spec.target_item}:
            got = " and ".join(dict.fromkeys(lanes_of(port))) or "no item"
            yield (
                f"{name_of(port)} has {got}; it takes the target_item, {spec.target_item}: leave "
                "its item out"
            )
        elif not port.is_sink and not lanes_of(port):
            yield f"{name_of(port)} gives no item; give item, or left or right for one lane"


def numbers(spec: TaskSpec) -> Iterator[str]:
    """The target rate and the placement limit on their own."""
    if spec.target_rate <= 0:
        yield f"the rate is {spec.target_rate}; give items per second above 0, such as 15/16"
    elif spec.target_rate > BELT_ITEMS_PER_S:
        yield (
            f"the rate is {rate_text(spec.target_rate)}; a belt carries at most "
            f"{BELT_ITEMS_PER_S}, {float(LANE_ITEMS_PER_S)} on each lane: ask for that or less"
        )
    if spec.placement_limit < 1:
        yield f"the placement limit is {spec.placement_limit}; give 1 or more"


def chain(spec: TaskSpec) -> Iterator[str]:
    """Whether recipes and ports make the target and nothing else; the names are known."""
    items = spec.items
    if len(items) > MAX_ITEMS:
        yield (
            f"the recipes use and make {len(items)} items: {', '.join(items)}; at most "
            f"{MAX_ITEMS} fit, so drop a recipe and let a source give its product"
        )
    if spec.target_item not in spec.recipes:
        yield (
            f"the product, {spec.target_item}, is not made by the recipes "
            f"({', '.join(spec.recipes)}); add a recipe or ask for a product of one"
        )
        return
    demand = demand_of(spec)
    given = {item for port in sources_of(spec) for item in lanes_of(port)}
    for item in demand.supplied:
        if item not in given:
            advice = "add the recipe or a source" if item in RECIPES else "add a source"
            yield f"{item} is needed, and no source gives it and no recipe makes it; {advice}"
    for name in spec.recipes:
        if name in given:
            yield f"{WARNING}a source gives {name}, so its recipe is not needed; drop one of them"
        elif name not in demand.crafts:
            yield f"{WARNING}recipe {name} is of no use for {spec.target_item}; drop it"
    for port in sources_of(spec):
        for item in dict.fromkeys(lanes_of(port)):
            if item not in items:
                yield (
                    f"{name_of(port)} gives {item}, which no recipe of the task uses or makes; its "
                    f"items are {', '.join(items)}"
                )
            elif item not in demand.supplied:
                yield f"{WARNING}{name_of(port)} gives {item}, which is not needed; leave it out"


def sources_of(spec: TaskSpec) -> list[Port]:
    return [port for port in spec.ports if not port.is_sink]


def lanes_of(port: Port) -> list[str]:
    """Items of the lanes that have one."""
    return [lane for lane in (port.left, port.right) if lane is not None]


def name_of(port: Port) -> str:
    return f"{'sink' if port.is_sink else 'source'} at ({port.x}, {port.y})"
