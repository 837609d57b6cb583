"""Compiles for an H200 on a machine without one; used by tests that read compiled programs.

In: a function and abstract arguments. Out: the text of the program that XLA:GPU makes. The
compiler is jax's CUDA plugin, downloaded once as a wheel and loaded from a cache folder: installed,
it would offer itself to every process. The default backend stays what it is. Not covered is what
needs a device: the choice of algorithms, and whether cuDNN has any.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
import pytest
from jax._src.lib import xla_client  # pyright: ignore[reportPrivateImportUsage]
from jax.sharding import SingleDeviceSharding

PLUGIN_VERSION = "0.11.2"
WHEEL = f"jax-cuda13-pjrt=={PLUGIN_VERSION}"
LIBRARY = Path("jax_plugins", "xla_cuda13", "xla_cuda_plugin.so")
DESCRIPTION = Path(__file__).parent / "data" / "h200_target.pbtxt"
REQUIRED = "FACTORIO_RL_REQUIRE_GPU_TARGET"
"""Environment variable; 1 makes tests fail where they would skip without the plugin."""

DOWNLOAD_LIMIT_S = 400

QUICK_CODE: dict[str, bool | str] = {
    "xla_backend_optimization_level": "0",
    "xla_gpu_disable_gpuasm_optimizations": True,
}
"""Machine code that nobody runs need not be good; the text is that of the stage before."""


class NoPluginError(Exception):
    """The plugin cannot be had; says why."""


def gpu_program(function: Callable[..., Any], *arguments: Any) -> str:
    """The text of the program that an H200 would run; arguments may be abstract.

    Skips the test if the compiler cannot be had, or fails it where that is required.
    """
    device = _target_device()
    if isinstance(device, str):
        (pytest.fail if os.environ.get(REQUIRED) == "1" else pytest.skip)(device)
    sharding = SingleDeviceSharding(device)

    def abstract(leaf: Any) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)

    jitted = jax.jit(function, out_shardings=sharding)
    traced = jitted.trace(*jax.tree.map(abstract, arguments))
    lowered = traced.lower(lowering_platforms=("cuda",))
    return lowered.compile(compiler_options=QUICK_CODE).as_text() or ""


@lru_cache
def _target_device() -> Any:
    """A device to compile for, or, in words, why there is none."""
    try:
        library = fetch_plugin(cache_folder())
    except NoPluginError as error:
        return f"no compiler for a GPU target: {error}"
    plugin = xla_client.load_pjrt_plugin_dynamically("h200_target", str(library))
    topology = xla_client.make_c_api_device_topology(
        plugin, "", target_config=DESCRIPTION.read_text(encoding="utf-8"), topology="1x1x1"
    )
    return topology._make_compile_only_devices()[0]


def cache_folder() -> Path:
    """Where the plugin is kept between runs."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "factorio-rl" / f"pjrt-{PLUGIN_VERSION}"


def fetch_plugin(folder: Path) -> Path:
    """The plugin's library in the folder, which is made, whole or not at all, if it is missing.

    Raises `NoPluginError`.
    """
    library = folder / LIBRARY
    if library.exists():
        return library
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as name:
            scratch = Path(name)
            _download(scratch)
            unpacked = scratch / "unpacked"
            with zipfile.ZipFile(next(scratch.glob("*.whl"))) as wheel:
                wheel.extractall(unpacked)
            _move(unpacked, folder)
    except OSError as error:
        raise NoPluginError(f"cannot keep {WHEEL} in {folder}: {error}") from error
    return library


def _download(folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--no-cache-dir", "--retries=1", "--dest", str(folder), WHEEL]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=DOWNLOAD_LIMIT_S)
    except subprocess.TimeoutExpired:
        raise NoPluginError(f"pip download {WHEEL} took over {DOWNLOAD_LIMIT_S} s") from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise NoPluginError(f"pip download {WHEEL}: {lines[-1]}")


def _move(unpacked: Path, folder: Path) -> None:
    """Puts the folder in place; another process may have been faster."""
    if folder.exists() and not (folder / LIBRARY).exists():
        shutil.rmtree(folder)
    try:
        unpacked.rename(folder)
    except OSError:
        if not (folder / LIBRARY).exists():
            raise
