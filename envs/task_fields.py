"""The fields of a task as a file writes them, to a `TaskSpec`. Jax-free.

In: parsed YAML or JSON. Out: the task, or None with faults: each says what was got, what is
allowed and, for an unknown key, the nearest known one.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from envs.actions import NUM_KINDS, NUM_ROTATIONS
from envs.blueprint.text import shown
from envs.families import LARGE_MULTIPLE, MULTIPLE, SINGLE
from envs.layout import DEFAULT_SIZE, DIRECTION_NAMES
from envs.suggestion import nearest
from envs.task_spec import MACHINE, Placement, Port, TaskSpec

TASK_KEYS = (
    "width",
    "height",
    "blocked",
    "ports",
    "recipes",
    "target_item",
    "target_rate",
    "placement_limit",
    "family",
    "name",
)
PORT_KEYS = ("x", "y", "direction", "role", "left", "right", "item")
ROLES = ("source", "sink")

DEFAULT_FAMILY = "user"
DEFAULT_LIMITS = (SINGLE, MULTIPLE, MULTIPLE, LARGE_MULTIPLE)
"""Placement limits by number of recipes, as of the generator's families."""

MAX_NAME = 100
"""Longest name, characters."""

MAX_ENTRIES = 1_024
"""Most entries of a list: cells of the largest grid."""

MAX_NUMBER = 2**31 - 1
"""Largest number, also in a fraction; the environment holds 32 bits."""

SIMPLE_DENOMINATOR = 1_000_000

_RATE = re.compile(r"\s*-?[0-9]{1,10}(\.[0-9]{1,40}|\s*/\s*0*[1-9][0-9]{0,9})?\s*")

_SHORT_KEYS = {"d": "direction"}
"""Keys of held-out files by what they stand for."""


@dataclass(frozen=True)
class Faults:
    """What is wrong with a task's form: unknown keys, and values without which it is no task."""

    keys: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)

    def all(self) -> tuple[str, ...]:
        """Both."""
        return (*self.keys, *self.values)


@dataclass(frozen=True)
class Fields:
    """The keys and values of one mapping; its faults are added to those of the task."""

    values: Mapping[Any, Any]
    faults: Faults
    place: str = ""

    def fault(self, key: str, allowed: str) -> None:
        """Notes that a key is missing or has a value that is not allowed."""
        if key in self.values:
            self.faults.values.append(
                f"{self.place}{key}: got {shown(self.values[key])}; give {allowed}"
            )
        else:
            self.faults.values.append(f"{self.place}{key} is missing; give {allowed}")

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """Notes every key that is not known."""
        for key in self.values:
            if key not in known:
                advice = nearest(str(key), known)
                self.faults.keys.append(f"{self.place}{shown(key)[1:-1]} is no key; {advice}")

    def _given(self, key: str, default: Any) -> Any:
        """A value, or the default where the key is not there or has nothing behind it."""
        value = self.values.get(key)
        return default if value is None else value

    def number(self, key: str, default: int | None = None) -> int:
        """A whole number."""
        value = self._given(key, default)
        if type(value) is int and abs(value) <= MAX_NUMBER:
            return value
        self.fault(key, f"a whole number, at most {MAX_NUMBER:,}")
        return 0

    def text(self, key: str, allowed: str, default: str | None = None) -> str:
        """A short printable text."""
        value = self._given(key, default)
        if isinstance(value, str) and 0 < len(value) <= MAX_NAME and value.isprintable():
            return value
        self.fault(key, f"{allowed}, at most {MAX_NAME} printable characters")
        return ""

    def choice(self, key: str, known: Iterable[str]) -> str:
        """One of some words."""
        value = self.values.get(key)
        if isinstance(value, str) and value in known:
            return value
        self.fault(key, f"one of {', '.join(known)}")
        return next(iter(known))

    def listed(self, key: str, allowed: str, default: list[Any] | None = None) -> list[Any]:
        """A list."""
        value = self._given(key, default)
        if isinstance(value, list) and len(value) <= MAX_ENTRIES:
            return value
        if isinstance(value, list):
            allowed += f", {MAX_ENTRIES:,} entries at most"
        self.fault(key, allowed)
        return []

    def mapping(self, key: str) -> "Fields":
        """A mapping inside this one."""
        value = self.values.get(key)
        if isinstance(value, Mapping):
            return Fields(value, self.faults)
        self.fault(key, "keys with values")
        return Fields({}, Faults())


def read_spec(fields: Fields) -> TaskSpec | None:
    """The task of a mapping; None where a value is missing or not allowed."""
    fields.refuse_unknown(TASK_KEYS)
    target_item = fields.text("target_item", "an item name")
    recipes = read_recipes(fields)
    spec = TaskSpec(
        width=fields.number("width", DEFAULT_SIZE),
        height=fields.number("height", DEFAULT_SIZE),
        blocked=_read_blocked(fields),
        ports=_read_ports(fields, target_item),
        recipes=recipes,
        target_item=target_item,
        target_rate=_read_rate(fields),
        placement_limit=fields.number(
            "placement_limit", DEFAULT_LIMITS[max(0, min(len(recipes), len(DEFAULT_LIMITS)) - 1)]
        ),
        family=fields.text("family", "a name", DEFAULT_FAMILY),
    )
    return None if fields.faults.values else spec


def read_placements(rows: object, spec: TaskSpec, faults: Faults) -> tuple[Placement, ...]:
    """The reference of a held-out task: rows `[kind, x, y, rotation]`."""
    if not isinstance(rows, list | tuple) or not all(_is_placement(row, spec) for row in rows):
        faults.values.append("placements: give rows of [kind, x, y, rotation]")
        return ()
    return tuple(Placement(*row) for row in rows)


def _is_placement(row: object, spec: TaskSpec) -> bool:
    if not isinstance(row, list) or len(row) != 4 or any(type(value) is not int for value in row):
        return False
    kind, x, y, rotation = row
    rotations = len(spec.recipes) if kind == MACHINE else NUM_ROTATIONS
    if not (0 <= kind < NUM_KINDS and 0 <= rotation < rotations):
        return False
    cells = Placement(kind, x, y, rotation).cells()
    return all(0 <= x < spec.width and 0 <= y < spec.height for x, y in cells)


def _read_blocked(fields: Fields) -> tuple[tuple[int, int], ...]:
    allowed = "a list of cells such as [3, 0]"
    cells = fields.listed("blocked", allowed, [])
    if not all(
        isinstance(cell, list) and len(cell) == 2 and all(type(part) is int for part in cell)
        for cell in cells
    ):
        fields.fault("blocked", allowed)
        return ()
    return tuple(sorted({(x, y) for x, y in cells}))


def read_recipes(fields: Fields) -> tuple[str, ...]:
    """A list of recipe names, whether they are known or not."""
    allowed = "a list of recipe names"
    names = fields.listed("recipes", allowed)
    if not all(isinstance(name, str) and name.isprintable() for name in names):
        fields.fault("recipes", allowed)
        return ()
    return tuple(name[:MAX_NAME] for name in names)


def _read_rate(fields: Fields) -> Fraction:
    rate = rate_of(fields.values.get("target_rate"))
    if rate is None:
        allowed = "items per second, a number of at most 9 digits or such as 15/16"
        fields.fault("target_rate", allowed)
        return Fraction(1)
    return rate


def rate_of(value: object) -> Fraction | None:
    """A rate as it is written: 0.9375 and 15/16 are the same; None where it is none.

    A decimal with more digits than fit is the nearest simple fraction: 0.33333333333 is 1/3.
    """
    is_number = type(value) is int or (isinstance(value, float) and math.isfinite(value))
    text = repr(value) if is_number else value
    if is_number or (isinstance(text, str) and _RATE.fullmatch(text)):
        rate = Fraction(str(text).replace(" ", ""))
        if rate.denominator > MAX_NUMBER and "/" not in str(text):
            rate = rate.limit_denominator(SIMPLE_DENOMINATOR)
        if max(abs(rate.numerator), rate.denominator) <= MAX_NUMBER:
            return rate
    return None


def _read_ports(fields: Fields, target_item: str) -> tuple[Port, ...]:
    ports = []
    for number, obj in enumerate(fields.listed("ports", "a list of ports")):
        place = f"{fields.place}ports[{number}]"
        if isinstance(obj, Mapping):
            values = {_SHORT_KEYS.get(key, key): value for key, value in obj.items()}
            ports.append(_read_port(Fields(values, fields.faults, f"{place}."), target_item))
        else:
            fields.faults.values.append(
                f"{place}: got {shown(obj)}; give x, y, direction, role and items"
            )
    return tuple(ports)


def _read_port(fields: Fields, target_item: str) -> Port:
    fields.refuse_unknown(PORT_KEYS)
    is_sink = fields.choice("role", ROLES) == "sink"
    by_lane = [key for key in ("left", "right") if key in fields.values]
    if "item" in fields.values and by_lane:
        fields.fault("item", f"either item, for both lanes, or {' and '.join(by_lane)}")
    default = (target_item or None) if is_sink and not by_lane else None
    both = read_item(fields, "item", default) or None
    return Port(
        x=fields.number("x"),
        y=fields.number("y"),
        direction=DIRECTION_NAMES.index(fields.choice("direction", tuple(DIRECTION_NAMES))),
        is_sink=is_sink,
        left=read_item(fields, "left", both),
        right=read_item(fields, "right", both),
    )


def read_item(fields: Fields, key: str, default: str | None) -> str | None:
    """An item name; null is an empty lane."""
    if fields.values.get(key, default) is None:
        return None
    return fields.text(key, "an item name", default)
