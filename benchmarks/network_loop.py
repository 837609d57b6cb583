"""Evaluations of a whole network in a loop, as a search makes them, on random observations."""

import jax
import jax.numpy as jnp
from jaxtyping import Array

from envs.observation import Observation, num_context, num_planes
from envs.types import EnvShape
from factorio_rl.network import Network, NetworkOutput, Params, evaluate


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


def random_observation(shape: EnvShape, batch: int, key: Array) -> Observation:
    """Planes of zeros and ones `[batch, H, W, C]`, and a context `[batch, G]` in [0, 1]."""
    planes_key, context_key = jax.random.split(key)
    size = (batch, shape.height, shape.width, num_planes(shape))
    planes = jax.random.bernoulli(planes_key, 0.5, size).astype(jnp.uint8)
    return Observation(planes, jax.random.uniform(context_key, (batch, num_context(shape))))
