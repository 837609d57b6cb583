"""Cells of the FP8 benchmark with whole moves of self-play: search, environment and network."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from benchmarks.fp8_cell import Cell, Variant
from benchmarks.fp8_tower import benchmark_config
from benchmarks.search_moves import start_states
from envs.dynamics import legal_actions, step
from envs.observe_choice import choose_observe
from envs.types import State
from factorio_rl.env_shape import env_shape
from factorio_rl.fp8_network import calibrate, fp8_network, frozen_variables
from factorio_rl.model import make_predict, plan
from factorio_rl.network import Params, make_network
from factorio_rl.selfplay import search_settings
from factorio_rl.tower_timing import random_params


class MoveInputs(NamedTuple):
    """Variables of the networks, and positions to move from."""

    variables: Params
    states: State


def move_cell(network: str, batch: int, simulations: int) -> Cell:
    """A move from real positions, with the tree that a run would choose."""
    config = benchmark_config(network)
    net, growth_rule = make_network(config.network), config.env.growth_rule
    states = start_states(config, batch)
    params = random_params(net, env_shape(config), jax.random.key(2))
    observation = jax.jit(jax.vmap(choose_observe()))(states)
    scales = jax.jit(partial(calibrate, net))(params, observation)
    frozen = jax.jit(partial(frozen_variables, net))(params, scales)
    considered = min(simulations, config.search.max_num_considered_actions)
    move = partial(_move, search_settings(config, simulations, considered), growth_rule)
    in_bf16 = make_predict(net, growth_rule)
    in_fp8 = make_predict(fp8_network(net), growth_rule)
    return Cell(
        variants=[
            Variant("bf16", partial(move, in_bf16, None), MoveInputs(params, states), "bf16"),
            Variant("fp8", partial(move, in_fp8, in_bf16), MoveInputs(frozen, states), "bf16"),
            Variant("fp8", partial(move, in_fp8, None), MoveInputs(frozen, states), "fp8"),
        ]
    )


def _move(
    settings: Any,
    growth_rule: bool,
    predict: Callable[..., Any],
    root_predict: Callable[..., Any] | None,
    key: jax.Array,
    inputs: MoveInputs,
) -> tuple[jax.Array, State]:
    """The policy targets, and the positions after the move."""
    states = inputs.states
    legal = jax.vmap(partial(legal_actions, growth_rule=growth_rule))(states)
    found = plan(
        predict, inputs.variables, key, states, settings, jnp.float32(1.0), legal, root_predict
    )
    return found.action_weights, jax.vmap(step)(states, found.action)
