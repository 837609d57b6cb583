"""The boards of a round of attempts, and the compiled moves that the agent makes on them.

In: a task, what stands on it, an agent. Out: after each move, the placements of every board in the
order in which they were put down, in the task's own orientation. Boards are played on turned
copies of the task, since the network is not the same in all directions.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from envs.actions import decode, finish_action
from envs.dynamics import legal_actions, step
from envs.geometry import NUM_ROTATIONS, transform_placement, transform_spec
from envs.task_spec import Placement, TaskSpec
from envs.types import Board, State, Task, stack_tasks, task_arrays
from factorio_rl.config import Config
from factorio_rl.env_shape import env_shape
from factorio_rl.evaluation import with_budget
from factorio_rl.model import Predict, make_predict, plan
from factorio_rl.network import Params, make_network
from factorio_rl.selfplay import search_settings

Order = tuple[Placement, ...]
"""Placements in the order in which they are put down."""


@dataclass(frozen=True)
class Round:
    """How the boards of a round are played.

    Attributes:
        use_search: by the search, or by the policy alone.
        noise: scale of the Gumbel noise of each board; 0 is greedy.
        rates: target that the agent is told for each board, items per second.
        starts: what stands on each board at the beginning.
    """

    use_search: bool
    noise: tuple[float, ...]
    rates: tuple[Fraction, ...]
    starts: tuple[Order, ...]


class Moment(NamedTuple):
    """The boards of a round between two moves."""

    tasks: Task  # leaves [B, ...]
    board: Board  # leaves [B, ...], each board turned as its task is
    orders: list[Order]
    finished: np.ndarray  # bool [B]


def config_for(config: Config, spec: TaskSpec, num_simulations: int) -> Config:
    """An agent's settings with the task's grid and a search budget."""
    env = config.env.model_copy(update={"width": spec.width, "height": spec.height})
    return with_budget(config.model_copy(update={"env": env}), num_simulations)


def make_player(
    config: Config, params: Params, spec: TaskSpec, num_boards: int, num_simulations: int
) -> "Player":
    """A player of a task that the agent of `config` and `params` can see (`design_task`)."""
    own = config_for(config, spec, num_simulations)
    predict = make_predict(make_network(own.network), own.env.growth_rule)
    return Player(own, predict, params, spec, num_boards)


class Player:
    """Plays boards of one task side by side."""

    def __init__(
        self, config: Config, predict: Predict, params: Params, spec: TaskSpec, num_boards: int
    ) -> None:
        """`config` by `config_for`. Raises TaskShapeError for a task that does not fit it."""
        quarter = 1 if spec.width == spec.height else 2
        turns = [quarter * number % NUM_ROTATIONS for number in range(num_boards)]
        shape = env_shape(config)
        self._spec, self._params, self._turns = spec, params, turns
        self.num_simulations = config.eval.num_simulations
        arrays = {turn: task_arrays(transform_spec(spec, turn), shape) for turn in set(turns)}
        self._tasks = stack_tasks([arrays[turn] for turn in turns])
        self._compiled: set[bool] = set()
        self._moves: dict[bool, Callable[..., Any]] = {
            use_search: jax.jit(_make_move(config, predict, use_search))
            for use_search in (False, True)
        }

    @property
    def num_boards(self) -> int:
        """Boards that are played side by side."""
        return len(self._turns)

    def compile(self, use_search: bool) -> None:
        """Makes the program of moves ready, so that no attempt pays for it."""
        if use_search in self._compiled:
            return
        count = len(self._turns)
        rates = (self._spec.target_rate,) * count
        moment = self.begin(Round(use_search, (0.0,) * count, rates, ((),) * count))
        move: Any = self._moves[use_search]
        noise, key = jnp.zeros(count), jax.random.key(0)
        lowered = move.lower(self._params, moment.tasks, moment.board, noise, key)
        self._moves[use_search] = lowered.compile()
        self._compiled.add(use_search)

    def begin(self, played: Round) -> Moment:
        """The boards of a round before the first move."""
        spec = self._spec
        shape = (len(self._turns), spec.height, spec.width)
        entity, rotation = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
        for index, (turn, order) in enumerate(zip(self._turns, played.starts, strict=True)):
            for put in order:
                turned = transform_placement(put, spec.width, spec.height, turn)
                entity[index, turned.y, turned.x] = turned.kind + 1
                rotation[index, turned.y, turned.x] = turned.rotation
        placed = np.array([len(order) for order in played.starts], np.int32)
        finished = placed >= spec.placement_limit
        tasks = replace(
            self._tasks,
            target_numerator=np.array([rate.numerator for rate in played.rates], np.int32),
            target_denominator=np.array([rate.denominator for rate in played.rates], np.int32),
        )
        tasks = jax.device_put(tasks)
        board = Board(*map(jnp.asarray, (entity, rotation, placed, finished)))
        return Moment(tasks, board, list(played.starts), finished)

    def move(self, played: Round, moment: Moment, key: Array) -> Moment:
        """One more move on every board that is not finished."""
        noise = jnp.asarray(played.noise, jnp.float32)
        board, action = jax.block_until_ready(
            self._moves[played.use_search](self._params, moment.tasks, moment.board, noise, key)
        )
        orders = [
            order if ended else self._with_action(order, int(chosen), turn)
            for order, ended, chosen, turn in zip(
                moment.orders, moment.finished, np.asarray(action), self._turns, strict=True
            )
        ]
        return Moment(moment.tasks, board, orders, np.asarray(board.finished))

    def _with_action(self, order: Order, action: int, turn: int) -> Order:
        """The placements after an action on a turned board."""
        height, width = self._spec.height, self._spec.width
        if action == finish_action(height, width):
            return order
        put = decode(action, height, width)
        return (*order, transform_placement(put, width, height, -turn % NUM_ROTATIONS))


def _make_move(config: Config, predict: Predict, use_search: bool):
    """The function (params, tasks, boards, noise, key) -> boards a move later, and the actions."""
    evaluation = config.eval
    settings = search_settings(
        config, evaluation.num_simulations, evaluation.max_num_considered_actions
    )
    growth_rule = config.env.growth_rule

    def choose(params: Params, states: State, noise: Float[Array, "B"], key: Array) -> Array:
        scale = noise[:, None]
        if not use_search:
            logits = predict(params, states).policy_logits
            gumbel = jax.random.gumbel(key, logits.shape, jnp.float32)
            return (logits + scale * gumbel).argmax(axis=-1).astype(jnp.int32)
        legal = jax.vmap(lambda state: legal_actions(state, growth_rule=growth_rule))(states)
        return plan(predict, params, key, states, settings, scale, legal).action

    def move(
        params: Params, tasks: Task, board: Board, noise: Float[Array, "B"], key: Array
    ) -> tuple[Board, Int[Array, "B"]]:
        states = State(tasks, board)
        action = choose(params, states, noise, key)
        return jax.vmap(step)(states, action).board, action

    return move
