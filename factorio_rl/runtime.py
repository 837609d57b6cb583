"""What a process sets up before it uses the device. Loads jax only where it is used."""

import logging
import os
import sys
import warnings
from collections.abc import MutableMapping
from importlib.metadata import version
from pathlib import Path

from envs.atomic_file import make_writable_folder
from envs.errors import UserError
from envs.one_line import one_line
from factorio_rl.config_sections import RunConfig
from factorio_rl.home_folder import expanded

MAX_SHOWN = 200
"""Of jax's own reason that a message repeats, characters."""

DETERMINISTIC_FLAGS = (
    "--xla_gpu_deterministic_ops=true",
    "--xla_gpu_enable_scatter_determinism_expander=false",
)
"""XLA's: no operation whose result depends on the order in which threads finish. The second one
keeps off a rewriting of scatters that lost valid updates beside dropped ones (jax 0.11.2, H200);
all scatters of ours write to places of their own, which is deterministic as it is."""


def compute_deterministically(environment: MutableMapping[str, str]) -> None:
    """Sets XLA's flags for the same bits at every start; before jax is loaded, which reads them."""
    assert "jax" not in sys.modules
    flags = environment.get("XLA_FLAGS", "").split()
    environment["XLA_FLAGS"] = " ".join([*flags, *DETERMINISTIC_FLAGS])


def keep_programs(settings: RunConfig, own_folder: Path) -> None:
    """Keeps compiled programs for later starts of a run.

    A deterministic run on a GPU has all of them in a folder of its own: XLA chooses algorithms by
    their time, and at another start it may choose others, which add in another order.
    """
    import jax

    if settings.deterministic and jax.default_backend() != "cpu":
        enable_compilation_cache(str(own_folder.absolute()), min_compile_s=0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        # Else the place of the folder is a part of the keys, and a run that is moved finds nothing.
        jax.config.update("jax_persistent_cache_enable_xla_caches", "none")
    else:
        enable_compilation_cache(settings.compilation_cache)


def enable_compilation_cache(folder: str | None, min_compile_s: float = 0.5) -> None:
    """Keeps compiled programs in a folder, so that a later start need not compile them again.

    Where it cannot be written they are compiled anew, and one line says so.
    """
    if folder is None:
        return
    import jax

    path = expanded(folder)
    try:
        make_writable_folder(path)
    except OSError as error:
        words = "warning: compiled programs are not kept for later starts: "
        print(f"{words}{error}; set run.compilation_cache", file=sys.stderr)
        return
    jax.config.update("jax_compilation_cache_dir", str(path))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", min_compile_s)


def require_device() -> None:
    """Raises UserError where the environment keeps jax from computing as this program needs it."""
    import jax

    if jax.config.values["jax_enable_x64"]:
        raise UserError(
            "JAX_ENABLE_X64 is set, and this program computes in 32 bits; unset it, and start again"
        )
    try:
        jax.devices()
    except (RuntimeError, AssertionError) as error:
        wanted = os.environ.get("JAX_PLATFORMS", "not set")
        reason = one_line(str(error), MAX_SHOWN)
        raise UserError(
            f"jax finds no device to compute on (JAX_PLATFORMS is {wanted}; {reason or 'no reason'}"
            "); unset JAX_PLATFORMS, or set it to cpu"
        ) from None


def quiet_libraries() -> None:
    """Keeps notes of Orbax and jax off the terminal, where they cut the live bar.

    Of Orbax also what its threads print of a failure to write, thousands of lines on a full disk:
    it raises the same.
    """
    for name in ("jax", "orbax"):
        logging.getLogger(name).setLevel(logging.ERROR)
    for name in ("absl", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
    sys.unraisablehook = _without_closed_loops


def _without_closed_loops(unraisable: "sys.UnraisableHookArgs") -> None:
    """Shows an error, unless a thread of TensorStore came back to a save that had failed."""
    if str(unraisable.exc_value) != "Event loop is closed":
        sys.__unraisablehook__(unraisable)


def device_name() -> str:
    """The device that computes, in words."""
    import jax

    device = jax.devices()[0]
    if device.platform == "cpu":
        return f"CPU, {num_threads()} cores"
    return device.device_kind


def num_threads() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def made_with() -> dict[str, str]:
    """What a result depends on to the last bit: versions, device, kind of processor, settings."""
    import jax
    import llvmlite.binding

    device = jax.devices()[0]
    kind = llvmlite.binding.get_host_cpu_name() if device.platform == "cpu" else device.device_kind
    return {
        "jax": version("jax"),
        "jaxlib": version("jaxlib"),
        "device": f"{device.platform} {kind}",
        "XLA_FLAGS": os.environ.get("XLA_FLAGS", "") or "not set",
        "jax_threefry_partitionable": str(jax.config.values["jax_threefry_partitionable"]),
    }
