"""Writes what a benchmark measured to `docs/results/NAME.json`, with where and when it ran.

Imports no jax, so that benchmarks of the jax-free parts start at once.
"""

import json
import platform
import shlex
import sys
from collections.abc import Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"
PACKAGES = (
    "factorio-rl",
    "jax",
    "jaxlib",
    "nvidia-cudnn-cu12",
    "nvidia-cudnn-cu13",
    "flax",
    "mctx",
    "numba",
    "numpy",
    "factory-sim",
)


def write_results(
    name: str,
    rows: Sequence[dict[str, Any]],
    command: str,
    path: Path | None = None,
    left_out: Sequence[str] | None = None,
) -> Path:
    """Replaces `path`, or else `docs/results/NAME.json`, by these rows, and returns its path.

    The rows go in as they are; `command` is what a reader types to repeat the measurement, and
    `left_out` names what of it was not measured, and why.
    """
    result = {
        "device": device_name(),
        "versions": package_versions(),
        "date": date.today().isoformat(),
        "command": command,
        **({} if left_out is None else {"left_out": list(left_out)}),
        "rows": list(rows),
    }
    path = path or RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=2) + "\n")
    return path


def command_line(benchmark: str, arguments: Sequence[str]) -> str:
    """What a reader types for the same rows: without `--out`, a place on the machine that ran."""
    after = [False, *(argument == "--out" for argument in arguments)]
    kept = [
        argument
        for argument, is_path in zip(arguments, after, strict=False)
        if not is_path and argument.partition("=")[0] != "--out"
    ]
    return shlex.join(["python", "-m", f"benchmarks.{benchmark}", *kept])


def device_name() -> str:
    """The accelerator that jax runs on, if a benchmark has loaded jax; else the processor."""
    jax = sys.modules.get("jax")
    if jax is not None and jax.default_backend() != "cpu":
        return jax.devices()[0].device_kind
    return processor_name()


def processor_name() -> str:
    """The processor's model as Linux names it, or the machine type elsewhere."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{models[0]} ({len(models)} threads)" if models else platform.machine()


def package_versions() -> dict[str, str]:
    """Versions of Python and of the installed packages that figures depend on."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
