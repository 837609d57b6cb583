"""The loop of whole evaluations: they are those of the network, and none leaves the loop."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.fp8_tower import random_setting
from benchmarks.network_loop import evaluations
from factorio_rl.network import evaluate

BATCH = 3


@pytest.fixture(scope="module")
def setting():
    """A network in float32 of one block, with a random batch."""
    made = random_setting("16x1", BATCH)
    return made._replace(network=made.network.clone(dtype=jnp.dtype(jnp.float32)))


def test_loop_evaluates_the_batch_itself(setting):
    network, params, observation = setting.network, setting.params, setting.observation
    looped = jax.jit(lambda p, o: evaluations(network, p, o, 3))(params, observation)
    once = jax.jit(lambda p, o: evaluate(network, p, o))(params, observation)
    for ours, expected in zip(looped, once, strict=True):
        assert np.allclose(ours, expected, rtol=1e-5, atol=1e-5)


def test_evaluations_stay_in_the_compiled_loop(setting):
    loop = jax.jit(lambda p, o: evaluations(setting.network, p, o, 5))
    text = loop.lower(setting.params, setting.observation).compile().as_text() or ""
    before_entry, entry = text.split("\nENTRY")
    assert '"known_trip_count":{"n":"5"}' in entry
    assert len(re.findall(r" convolution\(", before_entry)) == 3
    assert " convolution(" not in entry


def test_planes_are_zeros_and_ones(setting):
    assert setting.observation.planes.dtype == jnp.uint8
    assert set(np.unique(setting.observation.planes)) == {0, 1}
