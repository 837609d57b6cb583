"""What a process sets up before it uses the device. Loads jax only where it is used."""

import logging
import os
import sys
from collections.abc import MutableMapping
from importlib.metadata import version

from factorio_rl.home_folder import expanded

DETERMINISTIC_FLAGS = (
    "--xla_gpu_deterministic_ops=true",
    "--xla_gpu_enable_scatter_determinism_expander=false",
    "--xla_gpu_autotune_level=0",
)
"""XLA's: no operation whose result depends on the order in which threads finish; and no choice of
algorithms by their time, which another start may measure otherwise. The second one keeps off a
rewriting of scatters that lost valid updates beside dropped ones (jax 0.11.2, H200); all scatters
of ours write to places of their own, which is deterministic as it is."""


def compute_deterministically(environment: MutableMapping[str, str]) -> None:
    """Sets XLA's flags for the same bits at every start; before jax is loaded, which reads them."""
    assert "jax" not in sys.modules
    flags = environment.get("XLA_FLAGS", "").split()
    environment["XLA_FLAGS"] = " ".join([*flags, *DETERMINISTIC_FLAGS])


def enable_compilation_cache(folder: str | None) -> None:
    """Keeps compiled programs in a folder, so that a later start need not compile them again."""
    if folder is None:
        return
    import jax

    jax.config.update("jax_compilation_cache_dir", str(expanded(folder)))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)


def quiet_libraries() -> None:
    """Keeps notes of Orbax and jax below errors off the terminal, where they cut the live bar."""
    for name in ("absl", "jax", "orbax"):
        logging.getLogger(name).setLevel(logging.ERROR)


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
    """What a result depends on to the last bit: versions, device, and kind of processor."""
    import jax
    import llvmlite.binding

    device = jax.devices()[0]
    kind = llvmlite.binding.get_host_cpu_name() if device.platform == "cpu" else device.device_kind
    return {
        "jax": version("jax"),
        "jaxlib": version("jaxlib"),
        "device": f"{device.platform} {kind}",
    }
