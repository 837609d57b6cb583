"""The network with its trunk in FP8, for the actor and for a learner that trains for it.

In: the network, its parameters, and one activation scale per trunk convolution. Out: variables
for `fp8_network`, which `evaluate` takes as it takes parameters: either with master kernels, which
each evaluation quantises anew and passes gradients to, or with frozen codes. Both run
`quantize.convolve` on the same numbers. Stem, heads, pooling and the residual stream are as in
the network itself.

Trunk convolutions are numbered in the order in which they run, two for each block.
"""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Float, Float32

from envs.observation import Observation
from factorio_rl.network import Network, Params, trunk_convolution_names
from factorio_rl.quantize import (
    Kernel,
    activation_scale,
    convolve,
    encode,
    fp8_convolution,
    quantize_kernel,
    sums_dtype,
)

Scales = Float32[Array, "L"]
"""The activation scale of each trunk convolution."""

FP8 = "fp8"
"""Collection of variables that holds scales and frozen codes."""

AMAX = "amax"
"""Collection of variables that holds the largest input of each trunk convolution."""


class Fp8Conv(nn.Module):
    """A trunk convolution in FP8, in place of `nn.Conv`; float32 out where it has no bias.

    Without a bias its output only passes a ReLU before it is cast again, so it gets one scale, and
    cuDNN does all of it in one kernel.
    """

    features: int
    kernel_size: tuple[int, int]
    use_bias: bool
    dtype: jnp.dtype
    kernel_init: nn.initializers.Initializer = nn.initializers.lecun_normal()

    @nn.compact
    def __call__(self, inputs: Float[Array, "B H W I"]) -> Float[Array, "B H W O"]:
        scale = self.get_variable(FP8, "activation_scale")
        shape = (*self.kernel_size, inputs.shape[-1], self.features)
        per_channel = self.use_bias
        if self.has_variable(FP8, "codes"):
            kernel = Kernel(self.get_variable(FP8, "codes"), self.get_variable(FP8, "scale"))
            sums = sums_dtype(per_channel, self.dtype)
            result = convolve(encode(inputs, scale), scale, kernel, sums)
        else:
            master = self.param("kernel", self.kernel_init, shape, jnp.float32)
            result = fp8_convolution(inputs, master, scale, per_channel, self.dtype)
        if not self.use_bias:
            return result
        bias = self.param("bias", nn.initializers.zeros_init(), (self.features,), jnp.float32)
        return (result + bias).astype(self.dtype)


class MeasuringConv(nn.Conv):
    """A trunk convolution as it is, that notes the largest of its inputs."""

    def __call__(self, inputs: Float[Array, "B H W I"]) -> Float[Array, "B H W O"]:
        largest = jnp.abs(inputs).max().astype(jnp.float32)
        self.sow(AMAX, "largest", largest, reduce_fn=jnp.maximum, init_fn=lambda: jnp.float32(0.0))
        return super().__call__(inputs)


def fp8_network(network: Network) -> Network:
    """The same network with a trunk in FP8; it takes the variables made below."""
    return network.clone(conv=Fp8Conv)


def calibrate(network: Network, params: Params, observation: Observation) -> Scales:
    """Activation scales with headroom above everything that the trunk sees of a batch."""
    measuring = network.clone(conv=MeasuringConv)
    _, measured = measuring.apply(params, observation, mutable=[AMAX])
    largest = [_at(measured[AMAX], name)["largest"] for name in _names(network)]
    return activation_scale(jnp.stack(largest))


def unit_scales(network: Network) -> Scales:
    """Scales of 1, where only the shape or the time of a program matters."""
    return jnp.ones(len(_names(network)), jnp.float32)


def training_variables(network: Network, params: Params, scales: Scales) -> dict[str, Any]:
    """Variables whose kernels are quantised in each evaluation, gradients passing to `params`."""
    return {**params, FP8: _tree(network, [{"activation_scale": scale} for scale in scales])}


def frozen_variables(network: Network, params: Params, scales: Scales) -> dict[str, Any]:
    """Variables of an actor: the codes of all trunk kernels, quantised once.

    The parameters are there too, for the network whose trunk is not in FP8.
    """
    frozen = []
    for name, scale in zip(_names(network), scales, strict=True):
        convolution = _at(params["params"], name)
        kernel = quantize_kernel(convolution["kernel"], per_channel="bias" in convolution)
        frozen.append({"activation_scale": scale, **kernel._asdict()})
    return {**params, FP8: _tree(network, frozen)}


def _names(network: Network) -> list[tuple[str, str]]:
    return trunk_convolution_names(network.blocks)


def _at(collection: Any, name: tuple[str, str]) -> Any:
    block, convolution = name
    return collection[block][convolution]


def _tree(network: Network, of_convolutions: list[dict[str, Array]]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for (block, convolution), variables in zip(_names(network), of_convolutions, strict=True):
        tree.setdefault(block, {})[convolution] = variables
    return tree
