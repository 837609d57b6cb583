"""What is read from a compiled program: its loops, and what they carry."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

from benchmarks.search_program import build


def test_a_loop_of_fixed_length_has_a_known_trip_count_and_carries_its_state():
    def doubled(x):
        return jax.lax.fori_loop(0, 5, lambda _, y: jnp.sin(y * 2), x)

    program = build(doubled, (jnp.ones(16),), command_buffers=False)
    assert program.unknown_trip_counts == 0
    assert program.carried_bytes - 16 * 4 in (0, 4)  # and the counter
    assert program.pallas_calls == 0
    assert program.compile_s > 0
    assert jnp.array_equal(program.run(jnp.zeros(16)), jnp.zeros(16))


def test_a_loop_that_depends_on_data_has_none_wherever_it_stands():
    def settle(x):
        return jax.lax.while_loop(lambda y: jnp.any(y > 1), lambda y: y / 2, x)

    def nested(x):
        return jax.lax.fori_loop(0, 5, lambda _, y: settle(y + 3) + y, x)

    assert build(settle, (jnp.ones(4),), command_buffers=False).unknown_trip_counts == 1
    assert build(jax.jit(nested), (jnp.ones(4),), command_buffers=False).unknown_trip_counts == 1


def test_kernels_are_counted_and_their_own_loops_are_not_carried():
    def kernel(x_ref, out_ref):
        big = jnp.zeros(4096)
        out_ref[...] = x_ref[...] + jax.lax.fori_loop(0, 3, lambda _, y: y + 1, big).sum()

    def once(x):
        return pl.pallas_call(
            kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True
        )(x)

    def twice(x):
        return jax.lax.fori_loop(0, 3, lambda _, y: once(y), once(x))

    program = build(twice, (jnp.ones(8),), command_buffers=False)
    assert program.pallas_calls == 2
    assert program.carried_bytes < 4096


def test_command_buffer_options_are_ones_that_xla_takes():
    program = build(lambda x: x + 1, (jnp.ones(2),), command_buffers=True)
    assert jnp.array_equal(program.run(jnp.ones(2)), jnp.full(2, 2.0))
