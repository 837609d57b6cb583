"""The cell of the FP8 benchmark that shows how well a device sums up a single convolution.

The same operands go to the device and, as float64, to numpy. What FP8 rounds off before the
convolution is therefore no part of the error; only the device's accumulation is.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from benchmarks.fp8_cell import Cell, Variant, relative_error
from benchmarks.fp8_tower import benchmark_config
from factorio_rl.quantize import (
    FORWARD_LAYOUT,
    Kernel,
    activation_scale,
    convolve,
    encode,
    quantize_kernel,
)


def convolution_cell(network: str, batch: int) -> Cell:
    """A 3x3 convolution of the network's trunk on random operands, with float32 out."""
    config = benchmark_config(network)
    channels = config.network.channels
    keys = jax.random.split(jax.random.key(6))
    size = (batch, config.env.height, config.env.width, channels)
    inputs = jax.nn.relu(jax.random.normal(keys[0], size))
    weights = jax.random.normal(keys[1], (3, 3, channels, channels)) / np.sqrt(9 * channels)

    scale = activation_scale(inputs.max())
    kernel = quantize_kernel(weights, per_channel=False)
    codes = (encode(inputs, scale), kernel.codes)
    rounded = (inputs.astype(jnp.bfloat16), _output_first(weights).astype(jnp.bfloat16))
    exact = [exact_convolution(*operands) for operands in (rounded, codes)]
    return Cell(
        variants=[Variant("bf16", _bf16, rounded), Variant("fp8", _fp8, codes)],
        error_of=lambda number, sums: relative_error(sums, exact[number]),
        is_timed=False,
    )


def exact_convolution(inputs: Any, kernel: Any) -> NDArray[np.float64]:
    """`[B, H, W, I]` with `[O, 3, 3, I]` in float64, zeros around."""
    kernel = np.asarray(kernel).astype(np.float64)
    padded = np.pad(np.asarray(inputs).astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
    _, height, width, _ = np.shape(inputs)
    shifted = (
        padded[:, row : row + height, column : column + width] @ kernel[:, row, column].T
        for row in range(3)
        for column in range(3)
    )
    return np.sum(list(shifted), axis=0)


def _output_first(weights: jax.Array) -> jax.Array:
    return jnp.transpose(weights, (3, 0, 1, 2))


def _bf16(key: jax.Array, operands: tuple[jax.Array, jax.Array]) -> jax.Array:
    del key
    convolution = partial(
        jax.lax.conv_general_dilated,
        window_strides=(1, 1),
        padding="SAME",
        dimension_numbers=FORWARD_LAYOUT,
        preferred_element_type=jnp.float32,
    )
    return convolution(*operands)


def _fp8(key: jax.Array, operands: tuple[jax.Array, jax.Array]) -> jax.Array:
    del key
    codes, of_kernel = operands
    return convolve(codes, jnp.float32(1.0), Kernel(of_kernel, jnp.ones(1)), jnp.float32)
