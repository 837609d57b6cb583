"""The gradient past FP8: nothing of small cotangents is lost, and it stays close to unquantised."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from factorio_rl.quantize import E4M3, FORWARD_LAYOUT, activation_scale, fp8_convolution

CHANNELS = 16
SMALL = 1e-4
"""Size of cotangents that a cast to e4m3 loses: its least number is 2e-3."""

Operands = tuple[jax.Array, ...]
Convolution = Callable[[jax.Array, jax.Array], jax.Array]
PER_CHANNEL = pytest.mark.parametrize("per_channel", [False, True])


def in_fp8(per_channel: bool, dtype: type = jnp.float32) -> Convolution:
    """The convolution whose gradient is tested, with the scale that its inputs ask for."""

    def convolution(inputs: jax.Array, kernel: jax.Array) -> jax.Array:
        scale = activation_scale(jnp.abs(inputs).max().astype(jnp.float32))
        scale = jax.lax.stop_gradient(scale)
        return fp8_convolution(inputs, kernel, scale, per_channel, dtype)

    return convolution


def unquantised(inputs: jax.Array, kernel: jax.Array) -> jax.Array:
    weights = jnp.transpose(kernel, (3, 0, 1, 2))
    return jax.lax.conv_general_dilated(
        inputs, weights, (1, 1), "SAME", dimension_numbers=FORWARD_LAYOUT
    )


def cast_only(inputs: jax.Array, kernel: jax.Array) -> jax.Array:
    """FP8 with the gradient that autodiff gives."""
    weights = jnp.transpose(kernel, (3, 0, 1, 2)).astype(E4M3)
    return jax.lax.conv_general_dilated(
        inputs.astype(E4M3),
        weights,
        (1, 1),
        "SAME",
        dimension_numbers=FORWARD_LAYOUT,
        preferred_element_type=jnp.float32,
    )


@pytest.fixture(scope="module")
def operands() -> Operands:
    """Inputs behind a ReLU, a master kernel, cotangents of the size of `SMALL`."""
    rng, shape = np.random.default_rng(5), (4, 7, 7, CHANNELS)
    inputs = np.maximum(rng.standard_normal(shape), 0)
    kernel = 0.1 * rng.standard_normal((3, 3, CHANNELS, CHANNELS))
    cotangent = SMALL * rng.standard_normal(shape)
    return tuple(jnp.asarray(values, jnp.float32) for values in (inputs, kernel, cotangent))


def gradients(convolution: Convolution, operands: Operands) -> list[jax.Array]:
    """The gradients to the inputs and to the kernel."""

    @jax.jit
    def pulled_back(
        inputs: jax.Array, kernel: jax.Array, cotangent: jax.Array
    ) -> tuple[jax.Array, ...]:
        return jax.vjp(convolution, inputs, kernel)[1](cotangent)

    return list(pulled_back(*operands))


def relative_error(found: jax.Array, expected: jax.Array) -> float:
    return float(jnp.linalg.norm(found - expected) / jnp.linalg.norm(expected))


def share_of_zeros(gradient: jax.Array) -> float:
    return float((gradient == 0).mean())


@PER_CHANNEL
def test_gradient_of_small_cotangents_is_close_to_unquantised_and_none_is_lost(
    operands: Operands, per_channel: bool
) -> None:
    found = gradients(in_fp8(per_channel), operands)
    expected = gradients(unquantised, operands)
    for gradient, reference in zip(found, expected, strict=True):
        assert gradient.dtype == jnp.float32
        assert gradient.shape == reference.shape
        assert jnp.isfinite(gradient).all()
        assert relative_error(gradient, reference) < 0.05
        assert share_of_zeros(gradient) <= share_of_zeros(reference)


def test_autodiff_through_a_cast_loses_small_cotangents(
    operands: Operands,
) -> None:
    for gradient in gradients(cast_only, operands):
        assert share_of_zeros(gradient) > 0.5


@PER_CHANNEL
@pytest.mark.parametrize(
    ("inputs_dtype", "dtype"),
    [(jnp.bfloat16, jnp.bfloat16), (jnp.bfloat16, jnp.float32), (jnp.float32, jnp.bfloat16)],
)
def test_gradients_have_the_types_of_the_operands_whatever_the_arithmetic(
    operands: Operands, per_channel: bool, inputs_dtype: type, dtype: type
) -> None:
    inputs, kernel, cotangent = operands
    mixed = (inputs.astype(inputs_dtype), kernel, cotangent)
    to_inputs, to_kernel = gradients(in_fp8(per_channel, dtype), mixed)
    assert (to_inputs.dtype, to_kernel.dtype) == (jnp.dtype(inputs_dtype), jnp.float32)
    for gradient, reference in zip(
        (to_inputs.astype(jnp.float32), to_kernel), gradients(unquantised, operands), strict=True
    ):
        assert relative_error(gradient, reference) < 0.05
        assert share_of_zeros(gradient) <= share_of_zeros(reference)


@PER_CHANNEL
def test_gradient_passes_activations_that_are_clipped(per_channel: bool) -> None:
    inputs, kernel = jnp.ones((1, 3, 3, CHANNELS)), jnp.ones((3, 3, CHANNELS, CHANNELS))

    def total(inputs: jax.Array) -> jax.Array:
        return fp8_convolution(inputs, kernel, jnp.float32(2**-10), per_channel, jnp.float32).sum()

    value, gradient = jax.value_and_grad(total)(inputs)
    assert value < 0.5 * unquantised(inputs, kernel).sum()
    reference = jax.grad(lambda inputs: unquantised(inputs, kernel).sum())(inputs)
    np.testing.assert_allclose(gradient, reference, rtol=1e-5)


@PER_CHANNEL
@pytest.mark.parametrize("argument", [0, 1])
def test_gradient_of_a_linear_loss_is_its_slope_over_a_long_step(
    operands: Operands, per_channel: bool, argument: int
) -> None:
    *start, cotangent = operands
    convolution = in_fp8(per_channel)
    gradient = gradients(convolution, operands)[argument]
    # A step as long as the operand itself, since FP8 is flat over short ones.
    step = gradient * (jnp.linalg.norm(start[argument]) / jnp.linalg.norm(gradient))

    @jax.jit
    def loss(moved: jax.Array) -> jax.Array:
        both = [*start]
        both[argument] = moved
        return (convolution(both[0], both[1]) * cotangent).sum()

    slope = (loss(start[argument] + step) - loss(start[argument] - step)) / 2
    assert float(slope) == pytest.approx(float((gradient * step).sum()), rel=0.05)
