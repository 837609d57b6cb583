"""Task, board and state as arrays: frozen pytrees, unbatched, integers only.

Array letters: B batch, T time, H W grid, C planes, A actions, P ports, I item slots, R recipe
slots. `task_arrays` turns a `TaskSpec` into a `Task` of numpy arrays; callers stack and `vmap`.
"""

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Array, Bool, Int, UInt8

from envs.catalogue import RECIPES
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


@dataclass(frozen=True)
class EnvShape:
    """Static sizes that all tasks of a run share.

    Attributes:
        height, width: grid size in cells.
        item_slots: I, at most 8 (the observation packs them into one byte).
        recipe_slots: R, at most 4 (the rotations of a machine action).
        max_ports: P.
    """

    height: int
    width: int
    item_slots: int
    recipe_slots: int
    max_ports: int


class TaskShapeError(UserError):
    """A task that does not fit the sizes of the environment."""


def task_arrays(spec: TaskSpec, shape: EnvShape) -> Task:
    """The arrays of a task, padded to the slots of `shape`; numpy, int32 and bool.

    Raises:
        TaskShapeError: the task does not fit into `shape`.
    """
    needed = EnvShape(spec.height, spec.width, len(spec.items), len(spec.recipes), len(spec.ports))
    if (needed.height, needed.width) != (shape.height, shape.width):
        raise TaskShapeError(
            f"the task's grid is {needed.width} x {needed.height}, the environment's "
            f"{shape.width} x {shape.height}; set env.width and env.height to the task's"
        )
    for name in ("item_slots", "recipe_slots", "max_ports"):
        got, allowed = getattr(needed, name), getattr(shape, name)
        if got > allowed:
            raise TaskShapeError(f"the task needs env.{name} >= {got}, it is {allowed}; raise it")
    slot = {item: index for index, item in enumerate(spec.items)}
    slot[None] = NO_SLOT
    ports, recipes = shape.max_ports, shape.recipe_slots
    blocked = np.zeros((shape.height, shape.width), np.bool_)
    for x, y in spec.blocked:
        blocked[y, x] = True
    port_cell = np.full(ports, NO_SLOT, np.int32)
    port_direction = np.zeros(ports, np.int32)
    port_is_sink = np.zeros(ports, np.bool_)
    port_items = np.full((ports, 2), NO_SLOT, np.int32)
    for index, port in enumerate(spec.ports):
        port_cell[index] = port.y * spec.width + port.x
        port_direction[index] = port.direction
        port_is_sink[index] = port.is_sink
        port_items[index] = slot[port.left], slot[port.right]
    ingredients = np.zeros((recipes, shape.item_slots), np.int32)
    products = np.zeros((recipes, shape.item_slots), np.int32)
    craft_ticks = np.zeros(recipes, np.int32)
    for index, name in enumerate(spec.recipes):
        recipe = RECIPES[name]
        for item, amount in recipe.ingredients:
            ingredients[index, slot[item]] = amount
        products[index, slot[name]] = recipe.products_per_craft
        craft_ticks[index] = recipe.craft_ticks
    return Task(
        blocked=blocked,  # pyright: ignore[reportArgumentType]: numpy stands in for jax here
        port_cell=port_cell,
        port_direction=port_direction,
        port_is_sink=port_is_sink,
        port_items=port_items,
        ingredients=ingredients,
        products=products,
        craft_ticks=craft_ticks,
        target_slot=np.int32(slot[spec.target_item]),
        target_numerator=np.int32(spec.target_rate.numerator),
        target_denominator=np.int32(spec.target_rate.denominator),
        placement_limit=np.int32(spec.placement_limit),
    )


def stack_tasks(tasks: list[Task]) -> Task:
    """Tasks of one shape as a batch: every leaf gets a leading axis; numpy."""
    return jax.tree.map(lambda *leaves: np.stack(leaves), *tasks)


def board_placements(entity: np.ndarray, rotation: np.ndarray) -> list[Placement]:
    """The placements on a board (`[H, W]` each), in row-major order of their cells."""
    return [
        Placement(int(entity[y, x]) - 1, int(x), int(y), int(rotation[y, x]))
        for y, x in zip(*np.nonzero(entity), strict=True)
    ]
