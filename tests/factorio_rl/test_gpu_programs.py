"""What XLA makes of the FP8 network for an H200: exact counts, read from compiled programs.

They are compiled without a GPU (`gpu_target`). The numbers of a CPU say nothing here: it keeps
casts that a GPU's compiler deletes, and falls back to nothing.
"""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pytest
from gpu_target import gpu_program
from jaxtyping import Array

from envs.observation import Observation, num_context, num_planes
from factorio_rl.audit import AuditError, Fp8Support, judge, require_clean, support_of
from factorio_rl.audit_programs import Program, probe_program
from factorio_rl.audit_run import Audit, Target, audit
from factorio_rl.config import Config
from factorio_rl.config_file import load_config
from factorio_rl.convolutions import Convolution, list_convolutions
from factorio_rl.env_shape import env_shape
from factorio_rl.fp8_network import (
    fp8_network,
    frozen_variables,
    training_variables,
    unit_scales,
)
from factorio_rl.network import Network, evaluate, init_params
from factorio_rl.quantize import E4M3

MINUTE = Path(__file__).parents[2] / "configs" / "minute.yaml"
BATCH, BLOCKS = 64, 3
NUM_TRUNK = 2 * BLOCKS
BF16, F8, F32 = ("bf16",) * 2, ("f8e4m3fn",) * 2, ("f32",) * 2


class Arguments(NamedTuple):
    """Abstract arguments of the programs below."""

    network: Network
    params: Any
    frozen: Any
    scales: Any
    observation: Observation


@pytest.fixture(scope="module")
def given() -> Arguments:
    config = load_config(MINUTE)
    shape = env_shape(config)
    network = Network(32, BLOCKS, 11, jnp.dtype("bfloat16"))
    params = jax.eval_shape(lambda: init_params(network, shape, jax.random.key(0)))
    scales = jax.eval_shape(lambda: unit_scales(network))
    frozen = jax.eval_shape(
        lambda params, scales: frozen_variables(network, params, scales), params, scales
    )
    planes = (BATCH, shape.height, shape.width, num_planes(shape))
    observation = jax.eval_shape(
        lambda: Observation(
            jnp.zeros(planes, jnp.uint8), jnp.zeros((BATCH, num_context(shape)), jnp.float32)
        )
    )
    return Arguments(network, params, frozen, scales, observation)


@pytest.fixture(scope="module")
def fp8_forward(given: Arguments) -> str:
    """One evaluation of the network in FP8."""
    return gpu_program(_forward(fp8_network(given.network)), given.frozen, given.observation)


def _operands(convolutions: list[Convolution]) -> Counter[tuple[str, str]]:
    return Counter((one.input_dtype, one.kernel_dtype) for one in convolutions)


def _f8_casts(text: str) -> int:
    return len(re.findall(r"= f8e4m3fn\[[^\n]* convert\(", text))


def _forward(network: Network) -> Callable[[Any, Observation], Array]:
    """A scalar of both heads for each position."""

    def forward(variables: Any, observation: Observation) -> Array:
        output = evaluate(network, variables, observation)
        return output.policy_logits.max(axis=-1) + output.value_logits.max(axis=-1)

    return forward


def _simulations(network: Network, root: Network | None) -> Callable[[Any, Observation], Array]:
    """Evaluations in a loop, in which each needs the one before, and a root ahead of them."""
    forward = _forward(network)

    def step(variables: Any, observation: Observation, value: Array) -> Array:
        context = observation.context + value[:, None]
        return forward(variables, Observation(observation.planes, context))

    def search(variables: Any, observation: Observation) -> Array:
        value = jnp.zeros(observation.context.shape[0])
        if root is not None:
            value = _forward(root)(variables, observation)
        return jax.lax.fori_loop(0, 4, lambda _, value: step(variables, observation, value), value)

    return search


def test_the_network_itself_is_in_bf16(given: Arguments) -> None:
    text = gpu_program(_forward(given.network), given.params, given.observation)
    assert _operands(list_convolutions(text)) == {BF16: NUM_TRUNK + 1}
    assert _f8_casts(text) == 0


def test_the_whole_fp8_trunk_is_in_fp8_and_chained_within_blocks(fp8_forward: str) -> None:
    convolutions = list_convolutions(fp8_forward)
    assert _operands(convolutions) == {F8: NUM_TRUNK, BF16: 1}
    trunk = [one for one in convolutions if one.target == "__cudnn$convForwardGraph"]
    assert len(trunk) == NUM_TRUNK
    # The first convolution of a block hands over codes, but for the block that pools in between.
    results = Counter(one.result_dtype for one in trunk)
    assert results == {"f8e4m3fn": BLOCKS - 1, "f32": 1, "bf16": BLOCKS}


def test_every_operand_of_the_fp8_trunk_is_cast(fp8_forward: str) -> None:
    # One for each block and one after pooling; the other casts are within convolutions.
    assert _f8_casts(fp8_forward) == BLOCKS + 1


def test_the_compiler_deletes_a_cast_to_fp8_and_back() -> None:
    values = jax.ShapeDtypeStruct((64, 128), jnp.float32)
    text = gpu_program(lambda values: 2 * values.astype(E4M3).astype(jnp.float32), values)
    assert _f8_casts(text) == 0
    assert _f8_casts(gpu_program(lambda values: (2 * values).astype(E4M3), values)) == 1


def test_a_root_that_is_iteration_0_of_the_loop_leaves_one_set_of_convolutions(
    given: Arguments,
) -> None:
    search = _simulations(fp8_network(given.network), root=None)
    convolutions = list_convolutions(gpu_program(search, given.frozen, given.observation))
    assert _operands(convolutions) == {F8: NUM_TRUNK, BF16: 1}
    assert judge(convolutions, NUM_TRUNK, "bfloat16").problems == ()


def test_a_bf16_root_beside_an_fp8_loop_leaves_both_as_they_are(given: Arguments) -> None:
    search = _simulations(fp8_network(given.network), root=given.network)
    convolutions = list_convolutions(gpu_program(search, given.frozen, given.observation))
    assert _operands(convolutions) == {F8: NUM_TRUNK, BF16: NUM_TRUNK + 2}
    report = judge(convolutions, NUM_TRUNK, "bfloat16")
    assert report.problems == ()
    assert sorted(row.forward for row in report.rows) == [
        (0, NUM_TRUNK + 1, 0),
        (NUM_TRUNK, 1, 0),
    ]


def test_fp8_in_two_computations_falls_back_in_one_and_the_audit_raises(
    given: Arguments,
) -> None:
    network = fp8_network(given.network)
    search = _simulations(network, root=network)
    convolutions = list_convolutions(gpu_program(search, given.frozen, given.observation))
    # A block's second convolution has its sums in bf16, so its fallback convolves in bf16.
    assert _operands(convolutions) == {F8: NUM_TRUNK, F32: BLOCKS, BF16: BLOCKS + 2}
    report = judge(convolutions, 2 * NUM_TRUNK, "bfloat16")
    with pytest.raises(AuditError, match=r"6 of 12 .* 3 of f32 x f32.*#49007"):
        require_clean({"move": report}, Fp8Support.ONE_COMPUTATION)
    # Also where only one computation was to be in FP8.
    assert judge(convolutions, NUM_TRUNK, "bfloat16").problems


def test_the_gradient_has_fp8_in_no_backward_convolution(given: Arguments) -> None:
    network = fp8_network(given.network)

    def loss(params: Any, scales: Array, observation: Observation) -> Array:
        variables = training_variables(given.network, params, scales)
        return _forward(network)(variables, observation).mean()

    text = gpu_program(jax.grad(loss), given.params, given.scales, given.observation)
    convolutions = list_convolutions(text)
    by_kind = {
        kind: _operands([one for one in convolutions if one.kind == kind])
        for kind in ("forward", "backward-input", "backward-filter")
    }
    assert by_kind == {
        "forward": {F8: NUM_TRUNK, BF16: 1},
        "backward-input": {BF16: NUM_TRUNK},
        "backward-filter": {BF16: NUM_TRUNK + 1},
    }
    assert judge(convolutions, NUM_TRUNK, "bfloat16").problems == ()


def test_the_probe_finds_the_early_return_of_this_compiler() -> None:
    probe = probe_program()
    text = gpu_program(probe.function, *probe.arguments)
    assert support_of(list_convolutions(text)) is Fp8Support.ONE_COMPUTATION


def _audit_for_gpu(*overrides: str) -> tuple[Config, Audit]:
    settings = ["--actor.precision=fp8", "--network.channels=32", "--actor.chunk_moves=2"]
    settings += ["--network.compute_dtype=bfloat16", *overrides]

    def compiled_text(program: Program) -> str:
        return gpu_program(program.function, *program.arguments)

    config = load_config(MINUTE, settings)
    return config, audit(config, Target("H200", "gpu", compiled_text))


@pytest.mark.slow
def test_self_play_and_learner_of_a_configuration_pass_the_audit() -> None:
    config, found = _audit_for_gpu("--learner.qat=true")
    assert not found.is_emulated
    assert found.support is Fp8Support.ONE_COMPUTATION
    require_clean(found.reports, found.support)
    trunk = 2 * config.network.blocks
    assert sorted(row.forward for row in found.reports["move"].rows) == [
        (0, trunk + 1, 0),
        (trunk, 1, 0),
    ]
    [row] = found.reports["update"].rows
    assert row.forward == (trunk, 1, 0)
    assert row.backward == (0, 2 * trunk + 1, 0)


@pytest.mark.slow
def test_self_play_with_an_fp8_root_passes_the_audit_with_one_set_of_convolutions() -> None:
    config, found = _audit_for_gpu("--search.root_precision=fp8")
    require_clean(found.reports, found.support)
    [row] = found.reports["move"].rows
    assert row.forward == (2 * config.network.blocks, 1, 0)
