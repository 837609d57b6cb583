"""FP8 (e4m3) convolution: codes, scales, and a gradient that does not pass through FP8.

In: activations and kernels in float32 or bfloat16. Out: the convolution of their FP8 codes, in
units of the scales. A code times its scale is what it stands for. The forward pass feeds FP8
arrays to the convolution itself, since XLA deletes a cast to FP8 and back (openxla/xla #41605):
a quantisation on a CPU, and none on a GPU. The backward pass is that of the dequantised operands,
straight through to the float32 master kernel; autodiff would cast cotangents to FP8, and lose
those of 1e-4.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Float8e4m3fn, Float32

E4M3 = jnp.float8_e4m3fn
LARGEST = 448.0
"""Largest number of e4m3. A cast gives NaN from 465 on, so every cast clips first."""

HEADROOM = 2.0
"""Activations may outgrow the calibrated ones by this factor before they are clipped."""

FORWARD_LAYOUT = ("NHWC", "OHWI", "NHWC")
"""A kernel with its output channel in front needs no transposition on a GPU."""


class Kernel(NamedTuple):
    """A kernel in FP8.

    Its scale is one number where the convolution's output is cast to FP8 at once, which cuDNN
    then does in the same kernel; else there is one for each output channel.
    """

    codes: Float8e4m3fn[Array, "O 3 3 I"]
    scale: Float32[Array, "#O"]


def activation_scale(largest: Float32[Array, "*S"]) -> Float32[Array, "*S"]:
    """The power of two that leaves `HEADROOM` above activations of this size; 1 for zeros.

    With powers of two a scale that is stale by a factor of two changes no rounding. NaN where the
    activations are not finite, which clipping must not hide.
    """
    _, exponent = jnp.frexp(largest * (HEADROOM / LARGEST))
    scale = jnp.where(largest > 0, jnp.ldexp(jnp.float32(1.0), exponent), 1.0)
    return jnp.where(jnp.isfinite(largest), scale, jnp.nan)


def quantize_kernel(kernel: Float32[Array, "3 3 I O"], per_channel: bool) -> Kernel:
    """The codes of a master kernel; its scale makes the largest weight the largest code."""
    kernel = jnp.transpose(kernel, (3, 0, 1, 2))
    axes = (1, 2, 3) if per_channel else None
    largest = jnp.abs(kernel).max(axis=axes).reshape(-1)
    # Products, not divisions: XLA makes them products, but not where an operation runs on its own,
    # and frozen codes and scales have to be the learner's to the last bit.
    scale = jnp.maximum(largest, 1e-12) * (1.0 / LARGEST)
    scaled = kernel * (1.0 / scale)[:, None, None, None]
    return Kernel(encode(scaled, jnp.float32(1.0)), scale)


def encode(values: Float[Array, "*S"], scale: Float32[Array, "*#S"]) -> Float8e4m3fn[Array, "*S"]:
    """The nearest codes of `values / scale`, clipped to the range of e4m3."""
    scaled = values.astype(jnp.float32) / scale
    return jnp.clip(scaled, -LARGEST, LARGEST).astype(E4M3)


def decode(codes: Float8e4m3fn[Array, "*S"], scale: Float32[Array, "*#S"]) -> Float32[Array, "*S"]:
    """What codes stand for."""
    return codes.astype(jnp.float32) * scale


def fp8_convolution(
    inputs: Float[Array, "B H W I"],
    kernel: Float32[Array, "3 3 I O"],
    input_scale: Float32[Array, ""],
    per_channel: bool,
    dtype: DTypeLike,
) -> Float32[Array, "B H W O"]:
    """The 3x3 convolution with a master kernel, both quantised here, with the gradient above.

    Args:
        per_channel: whether the kernel gets a scale for each output channel.
        dtype: of the backward pass, and of the sums where `sums_dtype` says so.
    """
    return _convolution(inputs, kernel, input_scale, per_channel, jnp.dtype(dtype))


def sums_dtype(per_channel: bool, dtype: DTypeLike) -> jnp.dtype:
    """The type for `convolve`: float32 where its output is cast at once, outside of memory."""
    return jnp.dtype(dtype if per_channel else jnp.float32)


def convolve(
    codes: Float8e4m3fn[Array, "B H W I"],
    input_scale: Float32[Array, ""],
    kernel: Kernel,
    dtype: DTypeLike,
) -> Float32[Array, "B H W O"]:
    """The 3x3 convolution of codes, scaled back.

    Args:
        dtype: that the convolution hands its sums over in, before they are scaled in float32.
    """
    convolution = partial(
        jax.lax.conv_general_dilated,
        window_strides=(1, 1),
        padding="SAME",
        preferred_element_type=jnp.dtype(dtype),
    )

    def on_cpu(codes: Array, kernel: Array) -> Array:
        # In a loop XLA's CPU backend takes 50 times longer for any other layout (jax 0.10.2).
        output_last = jnp.transpose(kernel, (1, 2, 3, 0))
        return convolution(codes, output_last, dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def on_gpu(codes: Array, kernel: Array) -> Array:
        return convolution(codes, kernel, dimension_numbers=FORWARD_LAYOUT)

    sums = jax.lax.platform_dependent(codes, kernel.codes, cpu=on_cpu, default=on_gpu)
    return sums.astype(jnp.float32) * (input_scale * kernel.scale)


@partial(jax.custom_vjp, nondiff_argnums=(3, 4))
def _convolution(
    inputs: Array, kernel: Array, input_scale: Array, per_channel: bool, dtype: jnp.dtype
) -> Array:
    return _forward(inputs, kernel, input_scale, per_channel, dtype)[0]


class _Residuals(NamedTuple):
    """What the backward pass needs; the empty array remembers the type of the inputs."""

    codes: Array
    input_scale: Array
    kernel: Kernel
    like_inputs: Array


def _forward(
    inputs: Array, kernel: Array, input_scale: Array, per_channel: bool, dtype: jnp.dtype
) -> tuple[Array, _Residuals]:
    codes, quantized = encode(inputs, input_scale), quantize_kernel(kernel, per_channel)
    residuals = _Residuals(codes, input_scale, quantized, jnp.zeros(0, inputs.dtype))
    return convolve(codes, input_scale, quantized, sums_dtype(per_channel, dtype)), residuals


def _backward(
    per_channel: bool, dtype: jnp.dtype, residuals: _Residuals, cotangent: Array
) -> tuple[Array, Array, Array]:
    codes, input_scale, kernel, like_inputs = residuals
    inputs = decode(codes, input_scale).astype(dtype)
    weights = decode(kernel.codes, kernel.scale[:, None, None, None]).astype(dtype)

    def convolution(inputs: Array, weights: Array) -> Array:
        return jax.lax.conv_general_dilated(
            inputs, weights, (1, 1), "SAME", dimension_numbers=FORWARD_LAYOUT
        )

    _, pull_back = jax.vjp(convolution, inputs, weights)
    to_inputs, to_weights = pull_back(cotangent.astype(dtype))
    to_kernel = jnp.transpose(to_weights, (1, 2, 3, 0)).astype(jnp.float32)
    return to_inputs.astype(like_inputs.dtype), to_kernel, jnp.zeros_like(input_scale)


_convolution.defvjp(_forward, _backward)
