"""Random tasks, states and walks for the tests, and the plain-Python rules they are held to."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envs.actions import encode, finish_action
from envs.dynamics import legal_actions, reset, step
from envs.layout import DIRECTION_VECTORS
from envs.task_spec import INSERTER, MACHINE, Placement, Port, TaskSpec
from envs.types import Board, EnvShape, State, board_placements, stack_tasks, task_arrays

Cell = tuple[int, int]

batch_step = jax.jit(jax.vmap(step))
batch_legal = jax.jit(jax.vmap(legal_actions))
batch_legal_anywhere = jax.jit(jax.vmap(partial(legal_actions, growth_rule=False)))
batch_reset = jax.jit(jax.vmap(reset))

RECIPE_SETS = (
    ("iron-gear-wheel",),
    ("copper-cable", "electronic-circuit"),
    ("iron-gear-wheel", "transport-belt", "burner-inserter"),
    ("electronic-circuit", "copper-cable", "pipe"),
)


def random_spec(rng: np.random.Generator, height: int, width: int, limit: int = 30) -> TaskSpec:
    """A task with random ports and blocked cells; nothing says that it can be solved."""
    recipes = RECIPE_SETS[rng.integers(len(RECIPE_SETS))]
    target = recipes[rng.integers(len(recipes))]
    bare = TaskSpec(width, height, (), (), recipes, target, Fraction(3, 4), limit, "random")
    cells = [divmod(int(cell), width) for cell in rng.permutation(height * width)]
    sources, blocked = int(rng.integers(1, 4)), int(rng.integers(0, 6))
    ports = [Port(x, y, int(rng.integers(4)), True, target, target) for y, x in cells[:1]]
    for y, x in cells[1 : 1 + sources]:
        left, right = (rng.choice([*bare.items, ""]) for _ in range(2))
        direction = int(rng.integers(4))
        ports.append(Port(x, y, direction, False, str(left) or None, str(right) or None))
    free = cells[1 + sources : 1 + sources + blocked]
    order = rng.permutation(len(ports))
    return replace(
        bare,
        blocked=tuple(sorted((x, y) for y, x in free)),
        ports=tuple(ports[index] for index in order),
        target_rate=Fraction(int(rng.integers(1, 90)), int(rng.integers(1, 90))),
    )


def state_of(
    spec: TaskSpec, shape: EnvShape, placements: Sequence[Placement], finished: bool = False
) -> State:
    """The state in which these placements have been made, written cell by cell; numpy."""
    entity = np.zeros((shape.height, shape.width), np.uint8)
    rotation = np.zeros_like(entity)
    for put in placements:
        entity[put.y, put.x] = put.kind + 1
        rotation[put.y, put.x] = put.rotation
    board = Board(entity, rotation, np.int32(len(placements)), np.bool_(finished))
    return State(task_arrays(spec, shape), board)


def batch_of(states: Sequence[State]) -> State:
    """The states as a batch, on a leading axis."""
    return jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *states)


def unbatched(states: Any, index: int) -> Any:
    """Entry `index` of a batch."""
    return jax.tree.map(lambda leaf: leaf[index], states)


def placements_on(board: Board) -> list[Placement]:
    """What stands on a board."""
    return board_placements(np.asarray(board.entity), np.asarray(board.rotation))


def can_be_placed(
    spec: TaskSpec, placements: Sequence[Placement], growth_rule: bool
) -> set[Placement]:
    """All legal placements beside the ones made, by the rules as the design words them."""
    grown = {(port.x, port.y) for port in spec.ports}
    grown.update(cell for put in placements for cell in put.cells())
    taken = grown | set(spec.blocked)

    def is_inside(cell: Cell) -> bool:
        return 0 <= cell[0] < spec.width and 0 <= cell[1] < spec.height

    def is_legal(put: Placement) -> bool:
        cells = put.cells()
        if not all(is_inside(cell) and cell not in taken for cell in cells):
            return False
        if put.kind == MACHINE and put.rotation >= len(spec.recipes):
            return False
        dx, dy = DIRECTION_VECTORS[put.rotation]
        ends = ((put.x + dx, put.y + dy), (put.x - dx, put.y - dy))
        if put.kind == INSERTER and not all(is_inside(end) for end in ends):
            return False
        beside = {(x + dx, y + dy) for x, y in cells for dx, dy in DIRECTION_VECTORS}
        return not growth_rule or bool(beside & grown)

    return {
        put
        for kind in range(3)
        for y in range(spec.height)
        for x in range(spec.width)
        for rotation in range(4)
        if is_legal(put := Placement(kind, x, y, rotation))
    }


def legal_mask(spec: TaskSpec, board: Board, growth_rule: bool) -> np.ndarray:
    """`[A]` bool: what `legal_actions` must say."""
    mask = np.zeros(finish_action(spec.height, spec.width) + 1, np.bool_)
    mask[-1] = True
    if not board.finished:
        for put in can_be_placed(spec, placements_on(board), growth_rule):
            mask[encode(put, spec.height, spec.width)] = True
    return mask


def random_action(rng: np.random.Generator, mask: np.ndarray, finish_chance: float = 0.0) -> int:
    """A legal action: first a kind that has one, then one of its actions."""
    if mask[:-1].any() and rng.random() >= finish_chance:
        kinds = mask[:-1].reshape(3, -1)
        kind = rng.choice(np.nonzero(kinds.any(axis=1))[0])
        return int(kind * kinds.shape[1] + rng.choice(np.nonzero(kinds[kind])[0]))
    return len(mask) - 1


def random_walk(
    rng: np.random.Generator,
    specs: Sequence[TaskSpec],
    shape: EnvShape,
    steps: int,
    visit: Callable[[State, np.ndarray], None] = lambda states, legal: None,
    growth_rule: bool = True,
    finish_chance: float = 0.0,
) -> State:
    """Plays all tasks side by side, from empty boards, and returns the last states.

    `visit(states, legal [B, A])` sees the first states and those after every step.
    """
    legal_of = batch_legal if growth_rule else batch_legal_anywhere
    states = batch_reset(stack_tasks([task_arrays(spec, shape) for spec in specs]))
    for step_number in range(steps + 1):
        legal = np.asarray(legal_of(states))
        visit(states, legal)
        if step_number < steps:
            actions = [random_action(rng, mask, finish_chance) for mask in legal]
            states = batch_step(states, jnp.asarray(actions, jnp.int32))
    return states


def random_states(
    seed: int, count: int, shape: EnvShape, steps: int
) -> tuple[list[TaskSpec], State]:
    """Random tasks with a batch of states reached by random legal actions."""
    rng = np.random.default_rng(seed)
    specs = [random_spec(rng, shape.height, shape.width, limit=99) for _ in range(count)]
    return specs, random_walk(rng, specs, shape, steps)
