"""Four solved 7x7 tasks of two families, and the types of what the fixtures hand out.

The scores of the incomplete layouts are made up, one for each, so that a test can tell which
layout a value came from; the targets of the tasks are the exact rates of their references.
"""

from dataclasses import dataclass
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np

from envs.layout import NORTH, SOUTH, WEST
from envs.solved import Solved
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, Port, TaskSpec
from envs.types import Board, board_placements
from factorio_rl.network import Params
from factorio_rl.selfplay import ActorState, Chunk

PLACEMENT_LIMIT = 10
Variants = list[list[tuple[tuple[bool, ...], float]]]


def _spec(
    item: str, blocked: tuple[tuple[int, int], ...], source: Port, sink: Port, rate: Fraction
) -> TaskSpec:
    return TaskSpec(7, 7, blocked, (source, sink), (item,), item, rate, PLACEMENT_LIMIT, f"{item}s")


def _source(x: int, y: int, direction: int, left: str | None = "iron-plate") -> Port:
    return Port(x, y, direction, False, left, "iron-plate")


def _sink(x: int, y: int, direction: int, item: str) -> Port:
    return Port(x, y, direction, True, item, item)


SOLVED = [
    Solved(
        _spec("pipe", ((1, 2),), _source(2, 0, SOUTH), _sink(0, 2, WEST, "pipe"), Fraction(6, 7)),
        (
            Placement(BELT, 2, 1, SOUTH),
            Placement(INSERTER, 2, 2, SOUTH),
            Placement(MACHINE, 3, 4, 0),
            Placement(INSERTER, 1, 3, WEST),
            Placement(BELT, 0, 3, NORTH),
        ),
    ),
    Solved(
        _spec("pipe", (), _source(6, 3, SOUTH), _sink(1, 0, NORTH, "pipe"), Fraction(15, 16)),
        (
            Placement(INSERTER, 5, 3, WEST),
            Placement(MACHINE, 3, 3, 0),
            Placement(INSERTER, 2, 1, NORTH),
            Placement(INSERTER, 3, 1, NORTH),
            Placement(BELT, 2, 0, WEST),
            Placement(BELT, 3, 0, WEST),
        ),
    ),
    Solved(
        _spec(
            "iron-gear-wheel",
            ((3, 1), (3, 5)),
            Port(6, 3, SOUTH, False, "iron-plate", None),
            _sink(0, 6, SOUTH, "iron-gear-wheel"),
            Fraction(6, 7),
        ),
        (
            Placement(BELT, 6, 4, SOUTH),
            Placement(INSERTER, 5, 3, WEST),
            Placement(MACHINE, 3, 3, 0),
            Placement(INSERTER, 5, 4, WEST),
            Placement(INSERTER, 1, 4, WEST),
            Placement(BELT, 0, 4, SOUTH),
            Placement(BELT, 0, 5, SOUTH),
        ),
    ),
    Solved(
        _spec(
            "iron-gear-wheel",
            ((4, 0),),
            _source(6, 6, NORTH),
            _sink(0, 4, WEST, "iron-gear-wheel"),
            Fraction(5, 11),
        ),
        (
            Placement(INSERTER, 6, 5, NORTH),
            Placement(MACHINE, 5, 3, 0),
            Placement(INSERTER, 3, 4, WEST),
            Placement(BELT, 2, 4, WEST),
            Placement(BELT, 1, 4, WEST),
        ),
    ),
]


def make_variants(solved: list[Solved]) -> Variants:
    """Per task a prefix of two placements, and the reference without its third placement."""
    made = []
    for index, entry in enumerate(solved):
        length = len(entry.placements)
        prefix = tuple(position < 2 for position in range(length))
        subset = tuple(position != 2 for position in range(length))
        made.append([(prefix, 0.1 * index), (subset, 0.1 * index + 0.05)])
    return made


def kept_positions(solved: list[Solved], task: np.ndarray, board: Board) -> list[list[int]]:
    """Which placements of its reference each board holds; fails on anything else."""
    positions = []
    for index, entity, rotation in zip(task, board.entity, board.rotation, strict=True):
        order = {put: at for at, put in enumerate(solved[index].placements)}
        positions.append(sorted(order[put] for put in board_placements(entity, rotation)))
    return positions


def overflowing_on_gears(params: Params) -> Params:
    """Parameters that give every action the same logit, and tasks of gears a value of NaN.

    A gear takes two plates, a pipe one. By the sum over the 64 hidden numbers of the value head
    that makes 2.3e38 for pipes, and for gears more than float32 can hold.
    """
    weights = jax.tree.map(lambda leaf: np.zeros(leaf.shape, np.float32), params)
    layers = weights["params"]
    layers["Dense_0"]["kernel"][0] = 1e20
    layers["Dense_3"]["kernel"][:] = 9e15
    layers["Dense_4"]["kernel"][:] = 1.0
    return jax.tree.map(jnp.asarray, weights)


@dataclass(frozen=True)
class Played:
    """Chunks of self-play one after another: the actor before each chunk and after the last."""

    actors: list[ActorState]
    chunks: list[Chunk]
