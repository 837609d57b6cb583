"""Out of memory and failed compilation name the settings to change; other errors pass."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.errors import JaxRuntimeError

from envs.errors import UserError
from factorio_rl import device_errors
from factorio_rl.config import Config
from factorio_rl.config_fields import SETTINGS
from factorio_rl.device_errors import (
    EVALUATION,
    PLAINER,
    SELF_PLAY,
    TRAINING,
    UPDATE,
    DeviceError,
    Work,
    explained,
)

CONFIG = Config()
FP8 = Config.model_validate({"actor": {"precision": "fp8"}, "learner": {"qat": True}})
WORKS = [work for _, work in inspect.getmembers(device_errors) if isinstance(work, Work)]


def message_of(error: Exception, work: Work = SELF_PLAY, config: Config = CONFIG) -> str:
    """What a user reads in place of an error."""
    with pytest.raises(DeviceError) as raised, explained(work, config):
        raise error
    assert raised.value.exit_code == 2
    assert raised.value.__cause__ is error
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_allocation_that_jax_cannot_make_names_bytes_and_settings() -> None:
    with pytest.raises(DeviceError) as raised, explained(SELF_PLAY, CONFIG):
        jax.jit(lambda: jnp.ones((1 << 45,), jnp.uint8) + jnp.uint8(1))().block_until_ready()
    message = str(raised.value)
    assert message.startswith("out of memory in self-play: RESOURCE_EXHAUSTED: Out of memory")
    assert "35184372088832 bytes (32 TiB)" in message
    wanted = ("actor.num_envs (now 256", "search.num_simulations (now 16", "network.channels (now")
    assert all(text in message for text in wanted)
    assert [message.index(text) for text in wanted] == sorted(map(message.index, wanted))


def test_allocation_that_numpy_cannot_make_counts_too() -> None:
    with pytest.raises(DeviceError) as raised, explained(UPDATE, CONFIG):
        np.zeros(1 << 60, np.uint8)
    assert "out of memory in an update: Unable to allocate 1.00 EiB" in str(raised.value)


@pytest.mark.parametrize(
    "error",
    [
        JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 123 bytes."),
        JaxRuntimeError("RESOURCE_EXHAUSTED: Failed to allocate request for 2.99GiB (3206B)"),
        JaxRuntimeError("INTERNAL: Error preparing computation: Out of memory allocating 9 bytes."),
        JaxRuntimeError("INTERNAL: CUDA error: CUDA_ERROR_OUT_OF_MEMORY: out of memory"),
        JaxRuntimeError("INTERNAL: CUDNN_STATUS_ALLOC_FAILED"),
        ValueError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 123 bytes."),
        MemoryError(),
        MemoryError("std::bad_alloc"),
    ],
    ids=str,
)
def test_every_text_of_missing_memory_is_known(error: Exception) -> None:
    message = message_of(error, EVALUATION)
    assert message.startswith("out of memory in evaluation: ")
    assert "eval.num_tasks (now null)" in message


def test_settings_that_a_run_directory_fixes_are_marked() -> None:
    message = message_of(MemoryError(), TRAINING)
    assert "actor.num_envs (now 256, fixed for a run directory)" in message
    assert "learner.batch_size (now 256)" in message


@pytest.mark.parametrize(
    "text",
    [
        "INTERNAL: ptxas exited with non-zero error code 65280, output: ",
        "INTERNAL: Autotuning failed for HLO: %fusion = ...",
        "NOT_FOUND: No PTX compilation provider is available.",
        "INTERNAL: Failed to compile Triton kernel",
        "FAILED_PRECONDITION: DNN library initialization failed. Look at the errors above",
        "RESOURCE_EXHAUSTED: Shared memory size limit exceeded: requested 9, available: 1",
    ],
)
def test_failed_compilation_names_the_switches_to_try(text: str) -> None:
    message = message_of(JaxRuntimeError(f"{text}\nmore\nlines"), UPDATE, FP8)
    assert message.startswith(f"the program of an update does not compile: {text.rstrip('. ')}.")
    switches = ("--search.tree=lean", "--learner.qat=false", "--actor.precision=bf16")
    assert all(switch in message for switch in (*switches, "--run.compilation_cache=null"))


def test_switches_that_are_set_already_are_not_named() -> None:
    plain = Config.model_validate(
        {
            "search": {"tree": "lean"},
            "network": {"compute_dtype": "float32"},
            "run": {"compilation_cache": None},
        }
    )
    message = message_of(JaxRuntimeError("INTERNAL: ptxas failed"), SELF_PLAY, plain)
    assert not any(f"--{path}" in message for path in PLAINER)
    assert "another version of jax" in message


def test_reason_is_cut_to_one_line_of_bounded_length() -> None:
    message = message_of(JaxRuntimeError("RESOURCE_EXHAUSTED: " + "x" * 10_000 + "\nBuffers:\n"))
    assert len(message) < 900


@pytest.mark.parametrize(
    "error",
    [
        JaxRuntimeError("INTERNAL: CUDA error: an illegal memory access was encountered"),
        ValueError("shapes do not fit"),
        RuntimeError("the program does not compile"),
        UserError("the disk is out of memory"),
        KeyError("MemoryError"),
        KeyboardInterrupt(),
    ],
    ids=repr,
)
def test_other_errors_pass_as_they_are(error: BaseException) -> None:
    with pytest.raises(type(error)) as raised, explained(SELF_PLAY, CONFIG):
        raise error
    assert raised.value is error


def test_inner_explanation_stands() -> None:
    with (
        pytest.raises(DeviceError, match="out of memory in an update"),
        explained(TRAINING, CONFIG),
        explained(UPDATE, CONFIG),
    ):
        raise MemoryError


def test_every_setting_that_a_message_names_exists() -> None:
    assert len(WORKS) >= 6
    named = {path for work in WORKS for path in work.sizes} | set(PLAINER)
    assert named <= set(SETTINGS)
