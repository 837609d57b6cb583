"""How long the network takes on this device: its part of self-play, which runs as one program.

In: the network as searches ask it, variables, positions. Out: seconds of one evaluation.
"""

import time
from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32, Int32

from envs.types import State
from factorio_rl.model import Predict
from factorio_rl.network import Params

TURNS = 3


def evaluation_s(predict: Predict, variables: Params, states: State) -> float:
    """Seconds of one evaluation of the batch, observation and legal actions included."""
    # On a GPU enough of them that one call of a program is nothing beside.
    count = 16 if jax.default_backend() == "gpu" else 1
    compiled = jax.jit(_evaluations, static_argnums=(0, 3))
    arguments = (predict, variables, states, count)
    jax.block_until_ready(compiled(*arguments))
    return min(_seconds(compiled, *arguments) for _ in range(TURNS)) / count


def _evaluations(
    predict: Predict, variables: Params, states: State, count: int
) -> Float32[Array, "B"]:
    """The values after `count` evaluations in a row.

    What goes in depends on what came out before, which the compiler cannot see through: no
    evaluation can leave the loop or run beside another one. Values tell of policies too, since
    they are NaN where a logit is not finite.
    """

    def body(_: Int32[Array, ""], value: Float32[Array, "B"]) -> Float32[Array, "B"]:
        board = states.board
        finished = board.finished ^ ~jnp.isfinite(value)
        return predict(variables, State(states.task, replace(board, finished=finished))).value

    return jax.lax.fori_loop(0, count, body, jnp.zeros(states.board.finished.shape))


def _seconds(compiled, *arguments) -> float:
    began_s = time.perf_counter()
    jax.block_until_ready(compiled(*arguments))
    return time.perf_counter() - began_s
