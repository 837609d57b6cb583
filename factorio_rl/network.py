"""The convolutional policy and value network, and the two-hot coding of values.

In: a batch of observations. Out: logits over all actions (unmasked) and logits over value bins,
both float32 whatever the compute type, since the search needs float32 (in
bfloat16 the best Gumbels tie). No batch norm: a pure `apply`, the same in self-play and training.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from envs.actions import NUM_KINDS, NUM_ROTATIONS
from envs.observation import Observation, num_context, num_planes
from envs.types import EnvShape
from factorio_rl.config import NetworkConfig

VALUE_HIDDEN = 64
"""Width of the hidden layer of the value head."""


Params = dict[str, Any]
"""Parameters of the network, as flax makes them."""


class NetworkOutput(NamedTuple):
    """Raw heads of the network, float32."""

    policy_logits: Float[Array, "B A"]
    value_logits: Float[Array, "B S"]


TrunkConv = Callable[..., nn.Module]
"""Makes a convolution of the trunk; takes what `nn.Conv` takes, and has its parameters."""


class ResidualBlock(nn.Module):
    """Two pre-activated 3x3 convolutions; the second starts at zero, so a new block is identity.

    With `pooled` the mean and maximum over the grid are added to every cell between the two:
    far cells then meet in one step (as in KataGo's global pooling, arXiv 1902.10565, 3.1).
    The first convolution has no bias: in FP8 it then is one GPU kernel with the cast behind it.
    """

    channels: int
    pooled: bool
    dtype: jnp.dtype
    conv: TrunkConv

    @nn.compact
    def __call__(self, trunk: Float[Array, "B H W C"]) -> Float[Array, "B H W C"]:
        convolution = partial(self.conv, self.channels, (3, 3), dtype=self.dtype)
        hidden = convolution(use_bias=False, name="Conv_0")(nn.relu(trunk))
        if self.pooled:
            bias = nn.Dense(self.channels, dtype=self.dtype)(pool(hidden))
            hidden = hidden + bias[:, None, None, :]
        zeros = nn.initializers.zeros_init()
        last = convolution(use_bias=True, name="Conv_1", kernel_init=zeros)
        return trunk + last(nn.relu(hidden))


class Network(nn.Module):
    """Stem, residual trunk, policy head (12 planes and finish), value head (two-hot bins)."""

    channels: int
    blocks: int
    value_bins: int
    dtype: jnp.dtype
    conv: TrunkConv = nn.Conv

    @nn.compact
    def __call__(self, observation: Observation) -> NetworkOutput:
        planes = observation.planes.astype(self.dtype)
        context = observation.context.astype(self.dtype)
        convolve = _padded_convolution if self.dtype == jnp.bfloat16 else None
        stem = nn.Conv(self.channels, (3, 3), dtype=self.dtype, conv_general_dilated=convolve)
        stem = stem(planes)
        trunk = stem + nn.Dense(self.channels, dtype=self.dtype)(context)[:, None, None, :]
        for index in range(self.blocks):
            is_middle = index == self.blocks // 2
            trunk = ResidualBlock(self.channels, is_middle, self.dtype, self.conv)(trunk)
        features = nn.relu(trunk)
        pooled = jnp.concatenate([pool(features), context], axis=-1)
        cells = nn.Dense(NUM_KINDS * NUM_ROTATIONS, dtype=self.dtype)(features)
        finish = nn.Dense(1, dtype=self.dtype)(pooled)
        hidden = nn.relu(nn.Dense(VALUE_HIDDEN, dtype=self.dtype)(pooled))
        value = nn.Dense(self.value_bins, dtype=self.dtype)(hidden)
        policy = jnp.concatenate([_action_order(cells), finish], axis=-1)
        return NetworkOutput(policy.astype(jnp.float32), value.astype(jnp.float32))


def _padded_convolution(planes: Array, kernel: Array, *args: Any, **kwargs: Any) -> Array:
    """`lax.conv_general_dilated` with zero planes up to a multiple of 8.

    cuDNN wants that in bfloat16, and would copy the input to pad it.
    """
    missing = -planes.shape[-1] % 8
    planes = jnp.pad(planes, ((0, 0), (0, 0), (0, 0), (0, missing)))
    kernel = jnp.pad(kernel, ((0, 0), (0, 0), (0, missing), (0, 0)))
    return jax.lax.conv_general_dilated(planes, kernel, *args, **kwargs)


def make_network(config: NetworkConfig) -> Network:
    """The network of a configuration; `auto` computes in bfloat16 on a GPU, else in float32."""
    dtype = config.compute_dtype
    if dtype == "auto":
        dtype = "bfloat16" if jax.default_backend() == "gpu" else "float32"
    return Network(config.channels, config.blocks, config.value_bins, jnp.dtype(dtype))


def init_params(network: Network, shape: EnvShape, key: Array) -> Params:
    """Fresh parameters for tasks of this shape."""
    planes = jnp.zeros((1, shape.height, shape.width, num_planes(shape)), jnp.uint8)
    context = jnp.zeros((1, num_context(shape)), jnp.float32)
    return dict(network.init(key, Observation(planes, context)))


def trunk_convolution_names(blocks: int) -> list[tuple[str, str]]:
    """Where the parameters of the trunk's convolutions stand, in the order in which they run."""
    return [
        (f"ResidualBlock_{block}", f"Conv_{number}") for block in range(blocks) for number in (0, 1)
    ]


def evaluate(network: Network, params: Params, observation: Observation) -> NetworkOutput:
    """The heads for a batch of observations."""
    output = network.apply(params, observation)
    assert isinstance(output, NetworkOutput)
    return output


def mask_illegal(logits: Float[Array, "*B A"], legal: Array) -> Float[Array, "*B A"]:
    """Logits with the least finite float32 on illegal actions, never -inf."""
    return jnp.where(legal, logits, jnp.finfo(jnp.float32).min)


def pool(features: Float[Array, "B H W C"]) -> Float[Array, "B 2*C"]:
    """Mean and maximum over the grid."""
    axes = (1, 2)
    return jnp.concatenate([features.mean(axis=axes), features.max(axis=axes)], axis=-1)


def expected_value(value_logits: Float[Array, "*B S"]) -> Float[Array, "*B"]:
    """Mean of the value distribution over bins that divide [0, 1] evenly."""
    bins = jnp.linspace(0.0, 1.0, value_logits.shape[-1])
    return (jax.nn.softmax(value_logits) * bins).sum(axis=-1)


def two_hot(value: Float[Array, "*B"], num_bins: int) -> Float[Array, "*B S"]:
    """The distribution on the two bins around a value in [0, 1] that has it as its mean."""
    position = value * (num_bins - 1)
    distance = jnp.abs(position[..., None] - jnp.arange(num_bins))
    return jnp.maximum(1.0 - distance, 0.0)


def _action_order(cells: Float[Array, "B H W 12"]) -> Float[Array, "B A_1"]:
    """Head planes in the order of action ids: kind, cell, rotation."""
    batch, height, width, _ = cells.shape
    split = cells.reshape(batch, height, width, NUM_KINDS, NUM_ROTATIONS)
    return jnp.moveaxis(split, 3, 1).reshape(batch, -1)
