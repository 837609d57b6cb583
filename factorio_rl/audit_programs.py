"""The programs that the audit compiles: those of training in FP8, and a tiny one as a probe.

In: a configuration. Out: functions with abstract arguments. Nothing runs, and only shapes matter:
the tasks are some of the run's held-out set, and their scores are made up.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from envs.actions import num_actions
from envs.heldout import load_heldout
from envs.solved import Solved
from factorio_rl.config import Config
from factorio_rl.demonstrations import References, make_references
from factorio_rl.env_shape import env_shape
from factorio_rl.fp8_network import frozen_variables, unit_scales
from factorio_rl.learner import Shares, make_update, start_learner
from factorio_rl.network import make_network
from factorio_rl.precision import make_fp8_run_chunk
from factorio_rl.quantize import E4M3, FORWARD_LAYOUT, LARGEST
from factorio_rl.replay import empty_replay
from factorio_rl.selfplay import start_actor

NUM_TASKS = 4


class Program(NamedTuple):
    """A function, and abstract arguments to compile it for."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


CompiledText = Callable[[Program], str]
"""Compiles a program; the text of what comes out, optimized HLO."""


def compiled_text(program: Program) -> str:
    """Compiles for this process's device. On a GPU it takes a minute to choose FP8 algorithms."""
    return jax.jit(program.function).lower(*program.arguments).compile().as_text() or ""


def move_program(config: Config) -> Program:
    """The chunk of self-play that training runs once the actor is in FP8.

    Raises:
        TaskSetError: the held-out set of the configuration cannot be read.
    """
    network, references = make_network(config.network), _references(config)
    weights = _level_weights(references)

    def start(references: References, weights: Array, key: Array) -> tuple[Any, Any]:
        params = start_learner(config, network, key).params
        frozen = frozen_variables(network, params, unit_scales(network))
        return frozen, start_actor(config, references, weights, key)

    key = _abstract_key()
    frozen, actor = jax.eval_shape(start, references, weights, key)
    arguments = (frozen, references, weights, actor, key)
    return Program(make_fp8_run_chunk(config, network), arguments)


def update_program(config: Config) -> Program:
    """An update of the learner; in FP8 with `learner.qat`. Raises as `move_program` does."""
    network = make_network(config.network)
    env, capacity = config.env, config.replay.capacity
    actions = num_actions(env.height, env.width)
    key = _abstract_key()
    learner = jax.eval_shape(lambda key: start_learner(config, network, key), key)
    replay = jax.eval_shape(lambda: empty_replay(capacity, env.height, env.width, actions))
    scales = jax.eval_shape(lambda: unit_scales(network))
    shares = jax.eval_shape(lambda: Shares(jnp.float32(0.5), jnp.float32(0.0)))
    arguments = (learner, replay, _references(config), shares, scales, key)
    return Program(make_update(config, network), arguments)


def probe_program() -> Program:
    """One FP8 convolution outside of a loop and one inside, in different computations."""

    def convolve(values: Array, kernel: Array) -> Array:
        codes = jnp.clip(values, -LARGEST, LARGEST).astype(E4M3)
        return jax.lax.conv_general_dilated(
            codes,
            kernel,
            (1, 1),
            "SAME",
            dimension_numbers=FORWARD_LAYOUT,
            preferred_element_type=jnp.float32,
        )

    def probe(values: Array, outside: Array, inside: Array) -> Array:
        return jax.lax.fori_loop(
            0, 4, lambda _, values: convolve(0.5 * values, inside), convolve(values, outside)
        )

    kernel = jax.ShapeDtypeStruct((32, 3, 3, 32), E4M3)
    return Program(probe, (jax.ShapeDtypeStruct((16, 8, 8, 32), jnp.float32), kernel, kernel))


def _references(config: Config) -> References:
    """Abstract references; `families` is as it is in the tasks."""
    solved = load_heldout(config.tasks.heldout).tasks[:NUM_TASKS]
    references = make_references(solved, _variants(solved), env_shape(config))
    return jax.eval_shape(lambda: references)


def _variants(solved: Sequence[Solved]) -> list[list[tuple[tuple[bool, ...], float]]]:
    return [[((True,) * len(entry.placements), 1.0)] for entry in solved]


def _level_weights(references: References) -> jax.ShapeDtypeStruct:
    families, longest = len(references.families), references.actions.shape[1]
    return jax.ShapeDtypeStruct((families, longest + 1), np.float32)


def _abstract_key() -> Any:
    return jax.eval_shape(lambda: jax.random.key(0))
