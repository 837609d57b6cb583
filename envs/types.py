"""Task, board and state as arrays: frozen pytrees, unbatched, integers only.

Array letters: B batch, T time, H W grid, C planes, A actions, P ports, I item slots, R recipe
slots. `task_arrays` turns a `TaskSpec` into a `Task` of numpy arrays; callers stack and `vmap`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Bool, Int, UInt8

from envs.actions import NUM_ROTATIONS
from envs.catalogue import RECIPES, TASK_MACHINE
from envs.errors import UserError
from envs.task_spec import Placement, TaskSpec

EMPTY = 0
"""Entity code of a free cell; a placement of kind k has code k + 1, on its own cell only."""

NO_SLOT = -1
"""Item slot of an empty lane, cell of an absent port."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Task:
    """What has to be built; constant over an episode."""

    blocked: Bool[Array, "H W"]
    port_cell: Int[Array, "P"]  # y * W + x, NO_SLOT where absent
    port_direction: Int[Array, "P"]
    port_is_sink: Bool[Array, "P"]
    port_items: Int[Array, "P 2"]  # item slot of the left and right lane, or NO_SLOT
    ingredients: Int[Array, "R I"]  # items per craft
    products: Int[Array, "R I"]  # items per craft
    craft_ticks: Int[Array, "R"]  # 0 where the recipe slot is empty
    target_slot: Int[Array, ""]
    target_numerator: Int[Array, ""]  # target rate in items per second, as a fraction
    target_denominator: Int[Array, ""]
    placement_limit: Int[Array, ""]


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Board:
    """What the agent has built so far; the part of a state that moves."""

    entity: UInt8[Array, "H W"]  # EMPTY or kind + 1; a machine at its centre
    rotation: UInt8[Array, "H W"]
    placed: Int[Array, ""]  # placements made
    finished: Bool[Array, ""]


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class State:
    """A task and its board."""

    task: Task
    board: Board


class TaskShapeError(UserError):
    """Sizes that the environment cannot have, or a task that does not fit them."""


MAX_ITEM_SLOTS = 8
"""The observation packs item slots into one byte."""


@dataclass(frozen=True)
class EnvShape:
    """Static sizes that all tasks of a run share.

    Attributes:
        height, width: grid size in cells.
        item_slots: I, at most MAX_ITEM_SLOTS.
        recipe_slots: R, at most NUM_ROTATIONS: the rotation of a machine action is its recipe slot.
        max_ports: P.

    Raises TaskShapeError for too many slots.
    """

    height: int
    width: int
    item_slots: int
    recipe_slots: int
    max_ports: int

    def __post_init__(self) -> None:
        limits = {"item_slots": MAX_ITEM_SLOTS, "recipe_slots": NUM_ROTATIONS}
        for name, limit in limits.items():
            if not 1 <= getattr(self, name) <= limit:
                raise TaskShapeError(
                    f"env.{name} is {getattr(self, name)}; it must be 1 to {limit}"
                )


def task_arrays(spec: TaskSpec, shape: EnvShape) -> Task:
    """The arrays of a task, padded to the slots of `shape`; numpy, int32 and bool.

    Raises:
        TaskShapeError: the task does not fit into `shape`.
    """
    if (spec.height, spec.width) != (shape.height, shape.width):
        raise TaskShapeError(
            f"the task's grid is {spec.width} x {spec.height}, the environment's "
            f"{shape.width} x {shape.height}; set env.width and env.height to the task's"
        )
    needed = {"item_slots": spec.items, "recipe_slots": spec.recipes, "max_ports": spec.ports}
    for name, entries in needed.items():
        got, allowed = len(entries), getattr(shape, name)
        if got > allowed:
            raise TaskShapeError(f"the task needs env.{name} >= {got}, it is {allowed}; raise it")
    foreign = sorted({*_port_items(spec), spec.target_item} - set(spec.items))
    if foreign:
        raise TaskShapeError(
            f"the task's ports or target name {', '.join(foreign)}, which no recipe of the task "
            f"uses or makes; its items are {', '.join(spec.items)}"
        )
    blocked = np.zeros((shape.height, shape.width), np.bool_)
    for x, y in spec.blocked:
        blocked[y, x] = True
    slot = {item: index for index, item in enumerate(spec.items)}
    leaves: dict[str, Any] = {
        "blocked": blocked,
        **_port_arrays(spec, shape, slot),
        **_recipe_arrays(spec, shape, slot),
        "target_slot": np.int32(slot[spec.target_item]),
        "target_numerator": np.int32(spec.target_rate.numerator),
        "target_denominator": np.int32(spec.target_rate.denominator),
        "placement_limit": np.int32(spec.placement_limit),
    }
    return Task(**leaves)


def _port_items(spec: TaskSpec) -> set[str]:
    lanes = (item for port in spec.ports for item in (port.left, port.right))
    return {item for item in lanes if item is not None}


def _port_arrays(spec: TaskSpec, shape: EnvShape, slot: Mapping[str, int]) -> dict[str, Any]:
    """The fields of a task that describe its ports."""
    cell = np.full(shape.max_ports, NO_SLOT, np.int32)
    direction = np.zeros(shape.max_ports, np.int32)
    is_sink = np.zeros(shape.max_ports, np.bool_)
    items = np.full((shape.max_ports, 2), NO_SLOT, np.int32)
    for index, port in enumerate(spec.ports):
        cell[index] = port.y * spec.width + port.x
        direction[index] = port.direction
        is_sink[index] = port.is_sink
        for lane, item in enumerate((port.left, port.right)):
            items[index, lane] = NO_SLOT if item is None else slot[item]
    return {
        "port_cell": cell,
        "port_direction": direction,
        "port_is_sink": is_sink,
        "port_items": items,
    }


def _recipe_arrays(spec: TaskSpec, shape: EnvShape, slot: Mapping[str, int]) -> dict[str, Any]:
    """The fields of a task that describe its recipes."""
    ingredients = np.zeros((shape.recipe_slots, shape.item_slots), np.int32)
    products = np.zeros((shape.recipe_slots, shape.item_slots), np.int32)
    craft_ticks = np.zeros(shape.recipe_slots, np.int32)
    for index, name in enumerate(spec.recipes):
        recipe = RECIPES[name]
        for item, amount in recipe.ingredients:
            ingredients[index, slot[item]] = amount
        products[index, slot[name]] = recipe.products_per_craft
        craft_ticks[index] = recipe.craft_ticks(TASK_MACHINE)
    return {"ingredients": ingredients, "products": products, "craft_ticks": craft_ticks}


def stack_tasks(tasks: list[Task]) -> Task:
    """Tasks of one shape as a batch: every leaf gets a leading axis; numpy."""
    return jax.tree.map(lambda *leaves: np.stack(leaves), *tasks)


def board_placements(entity: np.ndarray, rotation: np.ndarray) -> list[Placement]:
    """The placements on a board (`[H, W]` each), in row-major order of their cells."""
    return [
        Placement(int(entity[y, x]) - 1, int(x), int(y), int(rotation[y, x]))
        for y, x in zip(*np.nonzero(entity), strict=True)
    ]
