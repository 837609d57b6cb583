"""A task as a player writes it in a minute: product, rate, inputs, output, obstacles. Jax-free.

In: parsed YAML or JSON. Out: a task, or None with faults as in `task_fields`. Recipes are worked
out from the product and what comes in; without a rate the target is the highest rate that ports
and machines allow. The keys: docs/tasks.md.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from envs.actions import NUM_ROTATIONS
from envs.blueprint.text import shown
from envs.catalogue import ITEMS, RECIPES
from envs.layout import DEFAULT_SIZE, DIRECTION_NAMES, EAST, NORTH, SOUTH, WEST
from envs.suggestion import nearest
from envs.task_checks import MAX_RECIPES, MAX_SIDE
from envs.task_fields import (
    DEFAULT_FAMILY,
    DEFAULT_LIMITS,
    MAX_NUMBER,
    TASK_KEYS,
    Fields,
    rate_of,
    read_item,
    read_recipes,
)
from envs.task_problems import bound_of
from envs.task_spec import Port, TaskSpec

BRIEF_KEYS = (
    "product",
    "rate",
    "grid",
    "inputs",
    "output",
    "obstacles",
    "recipes",
    "limit",
    "name",
    "start",
)
EDGES = {"north": SOUTH, "east": WEST, "south": NORTH, "west": EAST}
"""Direction of what comes in at an edge."""

MAX_START = 1_000
"""Longest path of a start, characters."""

_LANES = ("item", "left", "right")
_PER = re.compile(r"(.+)/\s*(s|min)\s*")
_SECONDS = {"s": 1, "min": 60}
_GRID = re.compile(r"\s*([0-9]{1,9})\s*[xX\u00d7]\s*([0-9]{1,9})\s*")
_UNKNOWN_RATE = Fraction(1, 60)
"""Target rate of a task that no layout can solve, so that the rest of it can still be checked."""


class Brief(NamedTuple):
    """What a brief says."""

    spec: TaskSpec | None  # None where a value is missing or not allowed
    target_is_bound: bool  # no rate is asked for
    start: str | None  # path of what stands already


def is_brief(values: Mapping[Any, Any]) -> bool:
    """Whether a task is of this form, judged by its keys."""
    keys, short, long = {*values}, {*BRIEF_KEYS}, {*TASK_KEYS}
    return "product" in keys or bool(keys & (short - long) and not keys & (long - short))


def read_brief(fields: Fields) -> Brief:
    """The task of a mapping, and whether its rate was asked for."""
    fields.refuse_unknown(BRIEF_KEYS)
    product = _read_product(fields)
    width, height = _read_grid(fields)
    inputs = tuple(_read_inputs(fields, width, height))
    output = _read_output(fields, width, height, product)
    recipes = _read_recipes(fields, product, inputs)
    limit = DEFAULT_LIMITS[max(0, min(len(recipes), len(DEFAULT_LIMITS)) - 1)]
    rate = _read_rate(fields)
    spec = TaskSpec(
        width=width,
        height=height,
        blocked=_read_obstacles(fields),
        ports=(*inputs, output),
        recipes=recipes,
        target_item=product,
        target_rate=rate or _UNKNOWN_RATE,
        placement_limit=fields.number("limit", limit),
        family=DEFAULT_FAMILY,
    )
    start = _read_start(fields)
    if fields.faults.values:
        return Brief(None, rate is None, start)
    if rate is None:
        spec = replace(spec, target_rate=bound_of(spec) or _UNKNOWN_RATE)
    return Brief(spec, rate is None, start)


def recipes_for(product: str, given: set[str]) -> tuple[str, ...]:
    """The recipes of a product and of all that it takes and nobody gives, the product last."""
    found: dict[str, None] = {}

    def add(item: str) -> None:
        if item not in RECIPES or item in found:
            return
        for used, _ in RECIPES[item].ingredients:
            if used not in given:
                add(used)
        found[item] = None

    add(product)
    return tuple(found)


def _read_product(fields: Fields) -> str:
    product = fields.text("product", "the name of an item")
    if product and product not in RECIPES:
        reason = f"it is no item: {nearest(product, RECIPES)}"
        if product in ITEMS:
            reason = "machines do not make it, so it can only be an input; name what they make"
        fields.faults.values.append(f"product: got {shown(product)}; {reason}")
    return product


def _read_rate(fields: Fields) -> Fraction | None:
    """Items per second; None where no rate is asked for."""
    value = fields.values.get("rate")
    if value is None:
        return None
    match = _PER.fullmatch(value) if isinstance(value, str) else None
    rate = rate_of(match[1] if match else value)
    rate = rate / _SECONDS[match[2]] if match and rate is not None else rate
    if rate is None or rate <= 0 or rate.denominator > MAX_NUMBER:
        allowed = "items per second above 0, such as 1.5, 15/16 or 90/min, or leave it out"
        fields.fault("rate", allowed)
        return None
    return rate


def _read_grid(fields: Fields) -> tuple[int, int]:
    value = fields.values.get("grid")
    value = [DEFAULT_SIZE, DEFAULT_SIZE] if value is None else value
    match = _GRID.fullmatch(value) if isinstance(value, str) else None
    sides: Any = [int(side) for side in match.groups()] if match else value
    if _is_cell(sides):
        return sides[0], sides[1]
    allowed = f"width and height in cells, at most {MAX_SIDE}, such as 12x12 or [12, 12]"
    fields.fault("grid", allowed)
    return DEFAULT_SIZE, DEFAULT_SIZE


def _read_inputs(fields: Fields, width: int, height: int) -> Iterator[Port]:
    for number, value in enumerate(fields.listed("inputs", "a list of inputs")):
        place = f"inputs[{number}]"
        if not isinstance(value, Mapping):
            fields.faults.values.append(
                f"{place}: got {shown(value)}; give edge, position and item"
            )
            continue
        one = Fields(value, fields.faults, f"{place}.")
        x, y, direction = _read_place(one, width, height, EDGES, _LANES)
        by_lane = [key for key in ("left", "right") if key in value]
        if "item" in value and by_lane:
            one.fault("item", f"either item, for both lanes, or {' and '.join(by_lane)}")
        elif "item" not in value and not by_lane:
            one.fault("item", "the name of an item, or left and right for one lane each")
        both = read_item(one, "item", None) or None
        left, right = read_item(one, "left", both), read_item(one, "right", both)
        yield Port(x, y, direction, False, left, right)


def _read_output(fields: Fields, width: int, height: int, product: str) -> Port:
    outward = {edge: (inward + 2) % NUM_ROTATIONS for edge, inward in EDGES.items()}
    value = fields.values.get("output")
    if not isinstance(value, Mapping):
        fields.fault("output", "edge and position, where the product leaves")
        return Port(0, 0, NORTH, True, product, product)
    one = Fields(value, fields.faults, "output.")
    x, y, direction = _read_place(one, width, height, outward, ())
    return Port(x, y, direction, True, product, product)


def _read_place(
    fields: Fields, width: int, height: int, edges: Mapping[str, int], others: tuple[str, ...]
) -> tuple[int, int, int]:
    """(x, y, direction) of an entry that has either edge and position or these three."""
    if not {"x", "y", "direction"} & {*fields.values}:
        fields.refuse_unknown(("edge", "position", *others))
        edge, at = fields.choice("edge", tuple(edges)), fields.number("position")
        cells = {"north": (at, 0), "east": (width - 1, at), "south": (at, height - 1)}
        return *cells.get(edge, (0, at)), edges[edge]
    fields.refuse_unknown(("x", "y", "direction", *others))
    direction = DIRECTION_NAMES.index(fields.choice("direction", tuple(DIRECTION_NAMES)))
    return fields.number("x"), fields.number("y"), direction


def _read_recipes(fields: Fields, product: str, inputs: tuple[Port, ...]) -> tuple[str, ...]:
    """The recipes that are named, else those that the product takes."""
    if "recipes" in fields.values:
        return read_recipes(fields)
    given = {item for port in inputs for item in (port.left, port.right) if item is not None}
    recipes = recipes_for(product, given)
    if product in given:
        fields.faults.values.append(
            f"inputs: one gives {product}, which is the product; leave it out"
        )
    elif len(recipes) > MAX_RECIPES:
        fields.faults.values.append(
            f"product: {product} takes {len(recipes)} recipes from what comes in "
            f"({', '.join(recipes)}); at most {MAX_RECIPES} fit: let an input give one of them"
        )
    return recipes


def _read_obstacles(fields: Fields) -> tuple[tuple[int, int], ...]:
    allowed = "a list of cells such as [3, 0], and of rectangles such as {from: [3, 0], to: [4, 2]}"
    cells: set[tuple[int, int]] = set()
    for number, value in enumerate(fields.listed("obstacles", allowed, [])):
        corners = value
        if isinstance(value, Mapping) and value.keys() == {"from", "to"}:
            corners = [value["from"], value["to"]]
        elif _is_cell(value):
            corners = [value, value]
        if not (isinstance(corners, list) and len(corners) == 2 and all(map(_is_cell, corners))):
            fields.faults.values.append(
                f"obstacles[{number}]: got {shown(value)}; give a cell such as [3, 0], or "
                f"{{from: [3, 0], to: [4, 2]}}, numbers from 0 to {MAX_SIDE - 1}"
            )
            continue
        (x1, x2), (y1, y2) = map(sorted, zip(*corners, strict=True))
        cells.update((x, y) for x in range(x1, x2 + 1) for y in range(y1, y2 + 1))
    return tuple(sorted(cells))


def _read_start(fields: Fields) -> str | None:
    value = fields.values.get("start")
    if value is None or (
        isinstance(value, str) and 0 < len(value) <= MAX_START and value.isprintable()
    ):
        return value
    fields.fault("start", "the path of a layout or blueprint file, seen from this file")
    return None


def _is_cell(value: object) -> bool:
    """Whether a value is two whole numbers that a grid can have."""
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(type(part) is int and 0 <= part <= MAX_SIDE for part in value)
    )
