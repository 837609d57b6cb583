"""Cells of the FP8 benchmark without a search: the whole network, and its residual blocks alone.

Parameters and observations are random; the scales come from a calibration on the same batch. All
evaluations of a call run in one loop, each on what the one before it lets through.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from benchmarks.fp8_cell import Cell, Variant, relative_error
from benchmarks.network_loop import evaluations, random_observation
from benchmarks.search_moves import CONFIG
from envs.observation import Observation
from envs.types import EnvShape
from factorio_rl.config import Config
from factorio_rl.config_file import load_config
from factorio_rl.env_shape import env_shape
from factorio_rl.fp8_network import Scales, calibrate, fp8_network, frozen_variables
from factorio_rl.network import Network, Params, evaluate, make_network
from factorio_rl.tower_timing import Tower, random_params, tower_evaluations

EVALUATIONS = 16
"""Evaluations in one call; `QUICK_EVALUATIONS` with small batches, which run on CPUs."""

QUICK_EVALUATIONS = 2
SMALL_BATCH = 64

ROWS_COMPARED = 256
"""Positions of a batch whose error is looked at."""


class Setting(NamedTuple):
    """A network with random parameters and their scales, and a batch for it."""

    network: Network
    shape: EnvShape
    params: Params
    observation: Observation
    scales: Scales


def benchmark_config(network: str, *overrides: str) -> Config:
    """The settings of the 12x12 task with a network `CHANNELSxBLOCKS` in bfloat16."""
    channels, blocks = network.split("x")
    of_network = [f"channels={channels}", f"blocks={blocks}", "compute_dtype=bfloat16"]
    return load_config(CONFIG, [*(f"--network.{text}" for text in of_network), *overrides])


def random_setting(network: str, batch: int) -> Setting:
    """What a cell without a search needs."""
    config = benchmark_config(network)
    net, shape = make_network(config.network), env_shape(config)
    params = random_params(net, shape, jax.random.key(2))
    observation = random_observation(shape, batch, jax.random.key(3))
    scales = jax.jit(calibrate, static_argnums=0)(net, params, observation)
    return Setting(net, shape, params, observation, scales)


def network_cell(network: str, batch: int) -> Cell:
    """Whole evaluations, and the errors of their policy logits."""
    net, _, params, observation, scales = random_setting(network, batch)
    with jax.default_matmul_precision("highest"):
        exact_network = net.clone(dtype=jnp.dtype(jnp.float32))
        few = jax.tree.map(lambda leaf: leaf[:ROWS_COMPARED], observation)
        exact = jax.jit(partial(evaluate, exact_network))(params, few).policy_logits
    frozen = jax.jit(partial(frozen_variables, net))(params, scales)
    count = _evaluations(batch)

    def loop(network: Network, key: jax.Array, inputs: Any) -> jax.Array:
        del key
        variables, seen = inputs
        return evaluations(network, variables, seen, count).policy_logits

    return Cell(
        variants=[
            Variant("bf16", partial(loop, net), (params, observation)),
            Variant("fp8", partial(loop, fp8_network(net)), (frozen, observation)),
        ],
        per_call=count,
        error_of=lambda _, logits: relative_error(logits[:ROWS_COMPARED], exact),
    )


def tower_cell(network: str, batch: int) -> Cell:
    """Residual blocks alone, and the errors of what they hand to the heads."""
    net, shape, params, _, scales = random_setting(network, batch)
    size = (batch, shape.height, shape.width, net.channels)
    features = 0.5 * jax.random.normal(jax.random.key(5), size).astype(net.dtype)
    with jax.default_matmul_precision("highest"):
        exact_tower = Tower(net.clone(dtype=jnp.dtype(jnp.float32)))
        few = features[:ROWS_COMPARED].astype(jnp.float32)
        exact = jax.jit(exact_tower.apply)(params, few)
    frozen = jax.jit(partial(frozen_variables, net))(params, scales)
    count = _evaluations(batch)

    def loop(network: Network, key: jax.Array, inputs: Any) -> jax.Array:
        del key
        variables, start = inputs
        return tower_evaluations(network, variables, start, count)

    return Cell(
        variants=[
            Variant("bf16", partial(loop, net), (params, features)),
            Variant("fp8", partial(loop, fp8_network(net)), (frozen, features)),
        ],
        per_call=count,
        error_of=lambda _, result: relative_error(_float32(result[:ROWS_COMPARED]), exact),
    )


def _evaluations(batch: int) -> int:
    return QUICK_EVALUATIONS if batch <= SMALL_BATCH else EVALUATIONS


def _float32(values: jax.Array) -> jax.Array:
    return values.astype(jnp.float32)
