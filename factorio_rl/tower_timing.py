"""Times the network on this device, as it is and in FP8, for `actor.precision: auto`.

In: network, shape of the environment, batch size; nothing of a run's parameters. Out: milliseconds
of an evaluation in both arithmetics, which took turns in this process. Choosing the algorithms of
FP8 convolutions takes a GPU a minute, so `cached_times` keeps what it measured: one small JSON file
for each device, version, network and batch, beside the compiled programs.
"""

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.backend import get_backend
from jaxtyping import Array

from envs.observation import Observation, num_context, num_planes
from envs.types import EnvShape
from factorio_rl.config import Config
from factorio_rl.env_shape import env_shape
from factorio_rl.network import (
    Network,
    NetworkOutput,
    Params,
    evaluate,
    init_params,
    make_network,
)

TURNS = 9
MIN_TURNS = 3
BUDGET_S = 3.0
"""After this time and `MIN_TURNS` turns no further turn begins."""

BIAS_SPREAD = 0.1
"""Standard deviation of random biases; kernels have that of their initialisation."""


class TowerTimes(NamedTuple):
    """Milliseconds of one evaluation of a batch; bf16 stands for the network's own arithmetic."""

    bf16_ms: float
    fp8_ms: float


def time_towers(network: Network, shape: EnvShape, batch: int) -> TowerTimes:
    """Times both arithmetics in turns: medians, on random parameters and observations."""
    from factorio_rl.fp8_network import calibrate, fp8_network, frozen_variables

    params_key, observation_key = jax.random.split(jax.random.key(0))
    params = random_params(network, shape, params_key)
    observation = random_observation(shape, batch, observation_key)
    scales = jax.jit(calibrate, static_argnums=0)(network, params, observation)
    frozen = jax.jit(frozen_variables, static_argnums=0)(network, params, scales)
    # The waits between the iterations of a loop are small beside many evaluations on a GPU.
    count = 16 if jax.default_backend() == "gpu" else 2
    runs = [
        _compiled(network, params, observation, count),
        _compiled(fp8_network(network), frozen, observation, count),
    ]
    bf16_ms, fp8_ms = (1e3 * seconds / count for seconds in _in_turns(runs))
    return TowerTimes(bf16_ms, fp8_ms)


def cached_times(config: Config, folder: Path | None) -> TowerTimes:
    """The times of a run's network and `actor.num_envs` positions, measured once.

    Args:
        folder: where they are kept, usually that of the compilation cache; None keeps nothing.
            Files that cannot be read, understood or written are passed over.
    """
    network, shape, batch = make_network(config.network), env_shape(config), config.actor.num_envs
    if folder is None:
        return time_towers(network, shape, batch)
    key = _circumstances(network, shape, batch)
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
    path = folder / f"towers-{digest[:16]}.json"
    times = _read(path, key)
    if times is None:
        times = time_towers(network, shape, batch)
        _write(path, {"circumstances": key, **times._asdict()})
    return times


def evaluations(
    network: Network, variables: Params, observation: Observation, count: int
) -> NetworkOutput:
    """Evaluates the same batch `count` times, one after the other, and returns the last output.

    What goes in depends on what came out before, which the compiler cannot see through: no
    evaluation can leave the loop or run beside another one.
    """

    def body(_: Array, before: NetworkOutput) -> NetworkOutput:
        usual = jnp.isfinite(before.value_logits[:, 0])
        planes = jnp.where(usual[:, None, None, None], observation.planes, 1 - observation.planes)
        context = jnp.where(usual[:, None], observation.context, 1 - observation.context)
        return evaluate(network, variables, Observation(planes, context))

    like = jax.eval_shape(lambda: evaluate(network, variables, observation))
    start = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), like)
    return jax.lax.fori_loop(0, count, body, start)


def random_params(network: Network, shape: EnvShape, key: Array) -> Params:
    """Parameters none of which is zero, as the second convolutions of new blocks are."""

    def make(key: Array) -> Params:
        leaves, tree = jax.tree.flatten(init_params(network, shape, key))
        keys = jax.random.split(key, len(leaves))
        return jax.tree.unflatten(tree, list(map(_random_like, leaves, keys)))

    return jax.jit(make)(key)


def random_observation(shape: EnvShape, batch: int, key: Array) -> Observation:
    """Planes of zeros and ones `[batch, H, W, C]`, and a context `[batch, G]` in [0, 1]."""
    planes_key, context_key = jax.random.split(key)
    size = (batch, shape.height, shape.width, num_planes(shape))
    planes = jax.random.bernoulli(planes_key, 0.5, size).astype(jnp.uint8)
    return Observation(planes, jax.random.uniform(context_key, (batch, num_context(shape))))


def _random_like(leaf: Array, key: Array) -> Array:
    fan_in = leaf.size / leaf.shape[-1]
    spread = BIAS_SPREAD if leaf.ndim == 1 else fan_in**-0.5
    return spread * jax.random.normal(key, leaf.shape, leaf.dtype)


def _compiled(
    network: Network, variables: Params, observation: Observation, count: int
) -> Callable[[], Any]:
    program = jax.jit(evaluations, static_argnums=(0, 3))
    compiled = program.lower(network, variables, observation, count).compile()
    return lambda: compiled(variables, observation)


def _in_turns(runs: list[Callable[[], Any]]) -> list[float]:
    """Median seconds of each."""
    for run in runs:
        _seconds(run)
    began, turns = time.perf_counter(), []
    while len(turns) < TURNS:
        if len(turns) >= MIN_TURNS and time.perf_counter() - began > BUDGET_S:
            break
        turns.append([_seconds(run) for run in runs])
    return [median(times) for times in zip(*turns, strict=True)]


def _seconds(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    jax.block_until_ready(run())
    return time.perf_counter() - began


def _circumstances(network: Network, shape: EnvShape, batch: int) -> dict[str, Any]:
    """All that the times depend on."""
    return {
        "device": jax.devices()[0].device_kind,
        "platform": jax.default_backend(),
        "platform_version": get_backend().platform_version,
        "jax": version("jax"),
        "jaxlib": version("jaxlib"),
        "channels": network.channels,
        "blocks": network.blocks,
        "value_bins": network.value_bins,
        "dtype": network.dtype.name,
        "grid": [shape.height, shape.width],
        "planes": num_planes(shape),
        "context": num_context(shape),
        "batch": batch,
    }


def _read(path: Path, circumstances: dict[str, Any]) -> TowerTimes | None:
    """The times of a file, None without one that is whole and of the same circumstances."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        times = TowerTimes(*(float(content[name]) for name in TowerTimes._fields))
        is_same = content["circumstances"] == circumstances
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return times if is_same and all(0 < ms < float("inf") for ms in times) else None


def _write(path: Path, content: dict[str, Any]) -> None:
    """Puts the file there whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump(content, file, indent=1)
        os.replace(file.name, path)
    except OSError:
        return
