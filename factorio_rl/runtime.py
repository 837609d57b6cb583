"""What a process sets up before it uses the device. Loads jax only where it is used."""

import logging
import os
from pathlib import Path


def enable_compilation_cache(folder: str | None) -> None:
    """Keeps compiled programs in a folder, so that a later start need not compile them again."""
    if folder is None:
        return
    import jax

    path = Path(folder).expanduser()
    jax.config.update("jax_compilation_cache_dir", str(path))
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
