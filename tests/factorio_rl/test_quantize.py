"""FP8 codes, scales and the convolution of codes, against ml_dtypes, numpy and qwix."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import qwix

from factorio_rl.quantize import (
    E4M3,
    FORWARD_LAYOUT,
    HEADROOM,
    LARGEST,
    Kernel,
    activation_scale,
    convolve,
    decode,
    encode,
    quantize_kernel,
)

CHANNELS = 16

quantized = jax.jit(quantize_kernel, static_argnums=1)
convolved = jax.jit(convolve, static_argnums=3)


def every_number() -> np.ndarray:
    """All finite numbers of e4m3, ascending, subnormal ones among them."""
    numbers = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    return np.unique(numbers[np.isfinite(numbers)])


def grid() -> np.ndarray:
    """Numbers of e4m3, the ties between them, what is next to a tie, and what is out of range."""
    numbers = every_number()
    ties = (numbers[1:] + numbers[:-1]) / 2
    beside = [np.nextafter(ties, np.float32(towards)) for towards in (-np.inf, np.inf)]
    beyond = np.array([448, 450, 463.9, 464, 464.1, 465, 480, 512, 1e6, 3e38, np.inf])
    return np.concatenate([numbers, ties, *beside, beyond, -beyond]).astype(np.float32)


def board(seed: int) -> jax.Array:
    """A batch of activations behind a ReLU."""
    normal = np.random.default_rng(seed).standard_normal((4, 7, 7, CHANNELS))
    return jnp.asarray(np.maximum(normal, 0), jnp.float32)


def master_kernel(seed: int) -> jax.Array:
    """A kernel whose output channels differ in size."""
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal((3, 3, CHANNELS, CHANNELS))
    return jnp.asarray(normal * np.exp(rng.standard_normal(CHANNELS)), jnp.float32)


def exact_convolution(inputs: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """The 3x3 convolution with an OHWI kernel in float64, shift by shift."""
    height, width = inputs.shape[1:3]
    padded = np.pad(np.float64(inputs), ((0, 0), (1, 1), (1, 1), (0, 0)))
    result = np.zeros((*inputs.shape[:3], len(kernel)))
    for y, x in np.ndindex(3, 3):
        result += padded[:, y : y + height, x : x + width] @ np.float64(kernel[:, y, x]).T
    return result


@pytest.mark.parametrize("compiled", [False, True])
def test_codes_are_the_clipped_values_rounded_to_the_nearest_even(compiled: bool) -> None:
    values = grid()
    function = jax.jit(encode) if compiled else encode
    codes = np.asarray(function(jnp.asarray(values), jnp.float32(1.0)))
    expected = np.clip(values, -LARGEST, LARGEST).astype(ml_dtypes.float8_e4m3fn)
    np.testing.assert_array_equal(codes.view(np.uint8), expected.view(np.uint8))
    assert np.isfinite(codes.astype(np.float32)).all()


def test_a_cast_without_clipping_gives_nan_out_of_range() -> None:
    assert np.isnan(np.float32(jnp.float32(465.0).astype(E4M3)))


@pytest.mark.parametrize("scale", [0.25, 0.3])
def test_decoded_codes_are_within_half_a_unit_in_the_last_place(scale: float) -> None:
    values = np.concatenate([grid()[np.abs(grid()) <= LARGEST], np.linspace(-448, 448, 1001)])
    values = np.float32(scale) * values.astype(np.float32)
    decoded = decode(encode(jnp.asarray(values), jnp.float32(scale)), jnp.float32(scale))
    # Three bits behind the point from 2^-6 on; below, the distance stays 2^-9.
    exponent = np.maximum(np.floor(np.log2(np.maximum(np.abs(values) / scale, 1e-9))), -6)
    half_unit = scale * 2.0 ** (exponent - 4)
    assert (np.abs(np.asarray(decoded) - values) <= half_unit * (1 + 1e-5)).all()


def test_bfloat16_values_get_the_codes_of_the_same_float32_values() -> None:
    half = jnp.asarray(grid()).astype(jnp.bfloat16)
    for scale in (jnp.float32(1.0), jnp.float32(0.0625), jnp.float32(0.3)):
        codes, expected = encode(half, scale), encode(half.astype(jnp.float32), scale)
        np.testing.assert_array_equal(codes.view(jnp.uint8), expected.view(jnp.uint8))


def test_activation_scale_is_a_power_of_two_with_headroom() -> None:
    largest = np.array([*np.geomspace(1e-30, 1e30, 601), 0.5, 1, 223.9, 224, 448], np.float32)
    scale = np.asarray(activation_scale(jnp.asarray(largest)))
    assert (np.frexp(scale)[0] == 0.5).all()
    headroom = np.float64(scale) * LARGEST / largest
    assert (headroom >= HEADROOM).all()
    assert (headroom <= 2 * HEADROOM).all()


def test_activation_scale_of_zeros_is_one() -> None:
    assert activation_scale(jnp.zeros(())) == 1.0


@pytest.mark.parametrize("largest", [1e-45, 1e-38, 3e-36, 1e-20, 1e20, 3.4e38])
def test_activation_scale_of_extreme_sizes_gives_finite_codes(largest: float) -> None:
    scale = activation_scale(jnp.float32(largest))
    assert np.isfinite(scale)
    assert scale > 0
    codes = encode(jnp.float32([0.0, largest, -largest]), scale)
    assert np.isfinite(np.float32(codes)).all()


def test_activation_scale_is_the_same_compiled_and_vectorised() -> None:
    largest = jnp.asarray(np.geomspace(1e-8, 1e8, 97), jnp.float32)
    compiled = jax.jit(activation_scale)
    one_by_one = np.stack([compiled(value) for value in largest])
    for function in (activation_scale, compiled, jax.vmap(activation_scale)):
        np.testing.assert_array_equal(function(largest), one_by_one)


def test_scales_of_a_kernel_make_its_largest_weights_the_largest_code() -> None:
    kernel = master_kernel(0)
    whole, channels = quantized(kernel, False), quantized(kernel, True)
    assert whole.codes.shape == channels.codes.shape == (CHANNELS, 3, 3, CHANNELS)
    assert whole.codes.dtype == channels.codes.dtype == E4M3
    assert (whole.scale.shape, channels.scale.shape) == ((1,), (CHANNELS,))
    assert np.abs(np.float32(whole.codes)).max() == LARGEST
    assert (np.abs(np.float32(channels.codes)).max(axis=(1, 2, 3)) == LARGEST).all()


@pytest.mark.parametrize("per_channel", [False, True])
def test_codes_of_a_kernel_stand_for_its_weights_output_channel_first(per_channel: bool) -> None:
    kernel = master_kernel(0)
    codes, scale = quantized(kernel, per_channel)
    decoded = np.asarray(decode(codes, scale[:, None, None, None]))
    expected = np.moveaxis(np.asarray(kernel), -1, 0)
    bound = np.maximum(np.abs(expected) / 16, np.asarray(scale)[:, None, None, None] / 2**10)
    assert (np.abs(decoded - expected) <= bound * (1 + 1e-5)).all()


@pytest.mark.parametrize("per_channel", [False, True])
def test_a_kernel_has_the_same_codes_and_scales_compiled_or_not(per_channel: bool) -> None:
    for seed in range(8):
        kernel = master_kernel(seed)
        compiled, alone = quantized(kernel, per_channel), quantize_kernel(kernel, per_channel)
        np.testing.assert_array_equal(compiled.scale, alone.scale)
        np.testing.assert_array_equal(compiled.codes.view(jnp.uint8), alone.codes.view(jnp.uint8))


@pytest.mark.parametrize("per_channel", [False, True])
def test_a_channel_of_zeros_stays_zeros(per_channel: bool) -> None:
    kernel = master_kernel(0).at[..., 3].set(0.0)
    for zeroed in (kernel, jnp.zeros_like(kernel)):
        codes, scale = quantized(zeroed, per_channel)
        assert np.isfinite(np.float32(codes)).all()
        assert (np.asarray(scale) > 0).all()
        assert not np.float32(codes[3]).any()


@pytest.mark.parametrize("per_channel", [False, True])
def test_convolution_of_codes_is_that_of_what_they_stand_for(per_channel: bool) -> None:
    kernel, scale = quantized(master_kernel(1), per_channel), jnp.float32(0.0625)
    codes = encode(board(0), scale)
    result = np.asarray(convolved(codes, scale, kernel, jnp.float32))
    weights = decode(kernel.codes, kernel.scale[:, None, None, None])
    exact = exact_convolution(np.asarray(decode(codes, scale)), np.asarray(weights))
    np.testing.assert_allclose(result, exact, rtol=1e-6, atol=1e-6 * np.abs(exact).max())


@pytest.mark.parametrize("num_scales", [1, CHANNELS])
def test_convolution_of_codes_is_exact_where_float32_is(num_scales: int) -> None:
    # Small whole numbers and powers of two, so that no sum is rounded in any order.
    numbers = np.random.default_rng(0)
    inputs, weights = (
        numbers.integers(-16, 17, shape).astype(np.float32)
        for shape in ((4, 7, 7, CHANNELS), (CHANNELS, 3, 3, CHANNELS))
    )
    input_scale = jnp.float32(0.25)
    scale = jnp.asarray(2.0 ** numbers.integers(-8, 3, num_scales), jnp.float32)
    kernel = Kernel(jnp.asarray(weights).astype(E4M3), scale)
    codes = jnp.asarray(inputs).astype(E4M3)
    result = convolved(codes, input_scale, kernel, jnp.float32)
    reference = jax.jit(float32_convolution)(
        decode(codes, input_scale), decode(kernel.codes, scale[:, None, None, None])
    )
    np.testing.assert_array_equal(result, reference)
    np.testing.assert_array_equal(
        result, exact_convolution(inputs, weights) * np.asarray(input_scale * scale)
    )


def float32_convolution(inputs: jax.Array, kernel: jax.Array) -> jax.Array:
    """The 3x3 convolution with an OHWI kernel."""
    return jax.lax.conv_general_dilated(
        inputs, kernel, (1, 1), "SAME", dimension_numbers=FORWARD_LAYOUT
    )


@pytest.mark.parametrize(("per_channel", "axes"), [(True, (0,)), (False, ())])
def test_qwix_quantises_a_kernel_to_the_same_codes_and_scales(
    per_channel: bool, axes: tuple[int, ...]
) -> None:
    kernel = master_kernel(2)
    ours = quantized(kernel, per_channel)
    theirs = qwix.quantize(jnp.transpose(kernel, (3, 0, 1, 2)), E4M3, channelwise_axes=axes)
    np.testing.assert_array_equal(ours.codes.view(jnp.uint8), theirs.qvalue.view(jnp.uint8))
    np.testing.assert_allclose(ours.scale, theirs.scale.reshape(-1), rtol=2e-7)


@pytest.mark.parametrize("per_channel", [False, True])
def test_qwix_convolves_the_same_codes_to_the_same_result(per_channel: bool) -> None:
    codes, input_scale = encode(board(3), jnp.float32(0.0625)), jnp.float32(0.0625)
    kernel = quantized(master_kernel(3), per_channel)
    ours = convolved(codes, input_scale, kernel, jnp.float32)
    theirs = qwix.conv_general_dilated(
        qwix.QArray(codes, input_scale.reshape(1, 1, 1, 1)),
        qwix.QArray(kernel.codes, kernel.scale[:, None, None, None]),
        (1, 1),
        "SAME",
        dimension_numbers=FORWARD_LAYOUT,
        preferred_element_type=jnp.float32,
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6 * float(jnp.abs(ours).max()))
