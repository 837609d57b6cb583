"""Out of memory and failed compilation, told as one message that names the settings to change.

In: what is being done and the config. Out: a `DeviceError` in place of what jax, XLA or Python
raise, with the reason they give; every other error passes as it is.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from typing import Any, NamedTuple

import jax

from envs.errors import UserError
from factorio_rl.config import Config
from factorio_rl.config_file import fixed_settings
from factorio_rl.memory_need import memory_text


class DeviceError(UserError):
    """The device or the machine cannot do what the config asks for."""


class Work(NamedTuple):
    """Something that takes memory.

    Attributes:
        name: how messages call it.
        sizes: paths of the settings that its memory grows with, the most effective first.
    """

    name: str
    sizes: tuple[str, ...]


MAKING_TASKS = Work("making the training tasks", ("tasks.num_tasks",))
STARTING = Work(
    "setting up replay and network", ("replay.capacity", "network.channels", "actor.num_envs")
)
SELF_PLAY = Work("self-play", ("actor.num_envs", "search.num_simulations", "network.channels"))
UPDATE = Work("an update", ("learner.batch_size", "network.channels", "replay.capacity"))
CALIBRATION = Work("calibration for FP8", ("actor.switch.probe_positions", "network.channels"))
EVALUATION = Work("evaluation", ("eval.num_tasks", "eval.num_simulations", "network.channels"))
TRAINING = Work("training", (*SELF_PLAY.sizes, "learner.batch_size", "replay.capacity"))

PLAINER = {
    "search.tree": "lean",
    "learner.qat": False,
    "actor.precision": "bf16",
    "network.compute_dtype": "float32",
    "run.compilation_cache": None,
}
"""Settings that ask the least of a compiler, in the order to try them in."""

MAX_REASON = 300
"""Longest part of jax's own message that is repeated, characters."""

# Texts of XLA's CPU and GPU clients and of CUDA, in jax 0.10 and 0.11.
_OUT_OF_MEMORY = re.compile(
    r"RESOURCE_EXHAUSTED|out of memory|OUT_OF_MEMORY|failed to allocate|bad_alloc|ALLOC_FAILED",
    re.IGNORECASE,
)
# A kernel that wants more of the small memory on the chip than there is: no matter of sizes.
_ON_CHIP = re.compile(r"shared memory|registers", re.IGNORECASE)
_COMPILATION = re.compile(
    r"compil|ptxas|nvlink|\bPTX\b|autotun|triton|LLVM|libdevice|cudnn|DNN library|"
    r"No valid config|UNIMPLEMENTED",
    re.IGNORECASE,
)
_BYTES = re.compile(r"(\d{4,}) ?bytes")


@contextmanager
def explained(work: Work, config: Config) -> Iterator[None]:
    """Raises DeviceError where the body runs out of memory or does not compile.

    The body has to wait for what it computes with `jax.block_until_ready`: programs run in the
    background, and jax 0.10 on a CPU waits for ever where a value of a failed one is read.
    """
    try:
        yield
    except MemoryError as error:
        raise DeviceError(_too_large(work, config, _reason(error))) from error
    except UserError:
        raise
    # Some ways to the device raise plain errors of Python with XLA's text.
    except (RuntimeError, ValueError) as error:
        text = str(error)
        if is_out_of_memory(error):
            raise DeviceError(_too_large(work, config, _reason(error))) from error
        if isinstance(error, jax.errors.JaxRuntimeError) and (
            _ON_CHIP.search(text) or _COMPILATION.search(text)
        ):
            raise DeviceError(_not_compiled(work, config, _reason(error))) from error
        raise


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error of Python or XLA says that memory was not enough."""
    text = str(error)
    return isinstance(error, MemoryError) or (
        _OUT_OF_MEMORY.search(text) is not None and _ON_CHIP.search(text) is None
    )


def _too_large(work: Work, config: Config, reason: str) -> str:
    fixed = fixed_settings(config)
    present = [
        f"{path} (now {_shown(_present(config, path))}"
        f"{', fixed for a run directory' if path in fixed else ''})"
        for path in work.sizes
    ]
    return (
        f"out of memory in {work.name}: {reason}. Lower {' or '.join(present)}; the first helps "
        "most. Or end other programs that use this memory"
    )


def _not_compiled(work: Work, config: Config, reason: str) -> str:
    switches = [
        f"--{path}={_shown(plain)} (now {_shown(_present(config, path))})"
        for path, plain in PLAINER.items()
        if _present(config, path) != plain
    ]
    return (
        f"the program of {work.name} does not compile: {reason}. Try, one after the other: "
        f"{', '.join([*switches, 'another version of jax or of the GPU driver'])}"
    )


def _reason(error: Exception) -> str:
    """The first line of an error, with numbers of bytes in larger units beside them."""
    line = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(". ")
    line = _BYTES.sub(lambda found: f"{found[0]} ({memory_text(int(found[1]))})", line)
    return line if len(line) <= MAX_REASON else line[:MAX_REASON] + "..."


def _present(config: Config, path: str) -> Any:
    return reduce(getattr, path.split("."), config)


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
