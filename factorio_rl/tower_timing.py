"""Times a network's residual blocks on this device, in its own arithmetic and in FP8.

In: network, shape of the environment, batch size; nothing of a run's parameters. Out: milliseconds
of an evaluation in both arithmetics, which took turns in this process. Choosing the algorithms of
FP8 convolutions takes a GPU a minute, so `cached_times` keeps what it measured: one small JSON file
for each device, version, network and batch, beside the compiled programs.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.extend.backend import get_backend
from jaxtyping import Array, Float

from envs.types import EnvShape
from factorio_rl.config import Config
from factorio_rl.env_shape import env_shape
from factorio_rl.network import Network, Params, ResidualBlock, init_params, make_network

TURNS = 9
MIN_TURNS = 3
BUDGET_S = 3.0
"""After this time and `MIN_TURNS` turns no further turn begins."""

BIAS_SPREAD = 0.1
"""Standard deviation of random biases; kernels have that of their initialisation."""


class Tower(nn.Module):
    """The residual blocks of a network, which are all that differs; takes its variables."""

    network: Network

    @nn.compact
    def __call__(self, features: Float[Array, "B H W C"]) -> Float[Array, "B H W C"]:
        net = self.network
        for index in range(net.blocks):
            name, is_middle = f"ResidualBlock_{index}", index == net.blocks // 2
            block = ResidualBlock(net.channels, is_middle, net.dtype, net.conv, name=name)
            features = block(features)
        return features


class TowerTimes(NamedTuple):
    """Milliseconds of one evaluation of a batch; bf16 stands for the network's own arithmetic."""

    bf16_ms: float
    fp8_ms: float


def time_towers(network: Network, shape: EnvShape, batch: int) -> TowerTimes:
    """Times both arithmetics in turns: medians, on random parameters and features."""
    from factorio_rl.fp8_network import fp8_network, frozen_variables, unit_scales

    params_key, features_key = jax.random.split(jax.random.key(0))
    params = random_params(network, shape, params_key)
    size = (batch, shape.height, shape.width, network.channels)
    features = jax.random.normal(features_key, size).astype(network.dtype)
    freeze = jax.jit(frozen_variables, static_argnums=0)
    frozen = freeze(network, params, unit_scales(network))
    # The waits between the iterations of a loop are small beside many evaluations on a GPU.
    count = 16 if jax.default_backend() == "gpu" else 2
    runs = [
        _compiled(network, params, features, count),
        _compiled(fp8_network(network), frozen, features, count),
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


def tower_evaluations(
    network: Network, variables: Params, features: Float[Array, "B H W C"], count: int
) -> Float[Array, "B H W C"]:
    """Evaluates the same batch `count` times, one after the other, and returns the last output.

    What goes in depends on what came out before, which the compiler cannot see through: no
    evaluation can leave the loop or run beside another one.
    """

    def body(_: Array, before: Array) -> Array:
        usual = jnp.isfinite(before[:, :1, :1, :1])
        result = Tower(network).apply(variables, jnp.where(usual, features, -features))
        assert isinstance(result, jax.Array)
        return result

    return jax.lax.fori_loop(0, count, body, jnp.zeros_like(features))


def random_params(network: Network, shape: EnvShape, key: Array) -> Params:
    """Parameters none of which is zero, as the second convolutions of new blocks are."""

    def make(key: Array) -> Params:
        leaves, tree = jax.tree.flatten(init_params(network, shape, key))
        keys = jax.random.split(key, len(leaves))
        return jax.tree.unflatten(tree, list(map(_random_like, leaves, keys)))

    return jax.jit(make)(key)


def _random_like(leaf: Array, key: Array) -> Array:
    fan_in = leaf.size / leaf.shape[-1]
    spread = BIAS_SPREAD if leaf.ndim == 1 else fan_in**-0.5
    return spread * jax.random.normal(key, leaf.shape, leaf.dtype)


def _compiled(
    network: Network, variables: Params, features: Array, count: int
) -> Callable[[], Any]:
    program = jax.jit(tower_evaluations, static_argnums=(0, 3))
    compiled = program.lower(network, variables, features, count).compile()
    return lambda: compiled(variables, features)


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
        "dtype": network.dtype.name,
        "grid": [shape.height, shape.width],
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
        fresh = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        fresh.write_text(json.dumps(content, indent=1), encoding="utf-8")
        os.replace(fresh, path)
    except OSError:
        return
