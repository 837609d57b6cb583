"""A task in plain Python: grid, ports, recipes, target rate. Jax-free.

`TaskSpec` is what files hold, the generator makes and the renderer draws; `envs.types.Task` is
the same as arrays. `Placement` is one entity that the agent puts down. `layout_of` joins both
into a `Layout` that the verifier can run.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from envs.catalogue import RECIPES
from envs.layout import DIRECTION_NAMES, DIRECTION_VECTORS, Entity, Layout

MACHINE, BELT, INSERTER = 0, 1, 2
"""Kind of a placement: the first digit of an action."""


@dataclass(frozen=True, slots=True)
class Port:
    """A fixed belt tile: a source keeps each lane with an item full, a sink empties each tick.

    Attributes:
        x, y: its cell.
        direction: its flow.
        is_sink: role.
        left, right: item of each lane; a sink has its scored item in both.
    """

    x: int
    y: int
    direction: int
    is_sink: bool
    left: str | None
    right: str | None

    @property
    def front(self) -> tuple[int, int]:
        """(x, y) of the cell that it flows into."""
        dx, dy = DIRECTION_VECTORS[self.direction]
        return self.x + dx, self.y + dy


@dataclass(frozen=True, slots=True)
class Placement:
    """One entity put down by the agent.

    Attributes:
        kind: MACHINE, BELT or INSERTER.
        x, y: its cell; a machine's is its centre.
        rotation: direction of a belt, drop direction of an inserter, recipe slot of a machine.
    """

    kind: int
    x: int
    y: int
    rotation: int

    def cells(self) -> list[tuple[int, int]]:
        """(x, y) of each cell of the footprint."""
        reach = range(-1, 2) if self.kind == MACHINE else range(1)
        return [(self.x + dx, self.y + dy) for dy in reach for dx in reach]


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """What has to be built.

    Attributes:
        width, height: grid size in cells.
        blocked: cells (x, y) where nothing can stand, sorted.
        ports: sources and exactly one sink.
        recipes: recipe names by recipe slot.
        target_item: the item that the sink scores.
        target_rate: items per second, exact.
        placement_limit: placements after which the episode ends; a constant of the family.
        family: name of the generator family.
    """

    width: int
    height: int
    blocked: tuple[tuple[int, int], ...]
    ports: tuple[Port, ...]
    recipes: tuple[str, ...]
    target_item: str
    target_rate: Fraction
    placement_limit: int
    family: str

    @property
    def items(self) -> tuple[str, ...]:
        """Item names by item slot: ingredients and products in recipe order."""
        slots: dict[str, None] = {}
        for name in self.recipes:
            for item, _ in RECIPES[name].ingredients:
                slots.setdefault(item)
            slots.setdefault(name)
        return tuple(slots)

    @property
    def sink(self) -> Port:
        """The scored sink."""
        return next(port for port in self.ports if port.is_sink)

    @property
    def geometry(self) -> tuple[Any, ...]:
        """Ports, recipes and blocked cells: what the train/held-out split looks at."""
        return (self.width, self.height, self.blocked, self.ports, self.recipes)


def layout_of(spec: TaskSpec, placements: Iterable[Placement]) -> Layout:
    """The layout of a task with these placements on it."""
    entities = [
        Entity("sink", port.x, port.y, port.direction, item=spec.target_item)
        if port.is_sink
        else Entity("source", port.x, port.y, port.direction, left=port.left, right=port.right)
        for port in spec.ports
    ]
    for put in placements:
        if put.kind == MACHINE:
            recipe = spec.recipes[put.rotation]
            entities.append(Entity("asm", put.x - 1, put.y - 1, recipe=recipe))
        else:
            kind = "belt" if put.kind == BELT else "inserter"
            entities.append(Entity(kind, put.x, put.y, put.rotation))
    return Layout(spec.width, spec.height, tuple(entities))


def spec_to_json(spec: TaskSpec) -> dict[str, Any]:
    """The JSON form of a task."""
    return {
        "width": spec.width,
        "height": spec.height,
        "blocked": [list(cell) for cell in spec.blocked],
        "ports": [
            {
                "x": port.x,
                "y": port.y,
                "d": DIRECTION_NAMES[port.direction],
                "role": "sink" if port.is_sink else "source",
                "left": port.left,
                "right": port.right,
            }
            for port in spec.ports
        ],
        "recipes": list(spec.recipes),
        "target_item": spec.target_item,
        "target_rate": str(spec.target_rate),
        "placement_limit": spec.placement_limit,
        "family": spec.family,
    }


def spec_from_json(obj: dict[str, Any]) -> TaskSpec:
    """The task of a JSON form that `spec_to_json` wrote."""
    ports = tuple(
        Port(
            port["x"],
            port["y"],
            DIRECTION_NAMES.index(port["d"]),
            port["role"] == "sink",
            port["left"],
            port["right"],
        )
        for port in obj["ports"]
    )
    return TaskSpec(
        obj["width"],
        obj["height"],
        tuple((x, y) for x, y in obj["blocked"]),
        ports,
        tuple(obj["recipes"]),
        obj["target_item"],
        Fraction(obj["target_rate"]),
        obj["placement_limit"],
        obj["family"],
    )
