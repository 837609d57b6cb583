"""Whether the compiled verifier is on disk already, so that a command can say when it compiles.

numba keeps compiled code beside the source or in the user's cache folder, and does not say before
a call whether it will find it. So a finished first use leaves a marker file there, named after
everything that makes the code stale.
"""

from pathlib import Path

import llvmlite.binding
import numba

from envs.verifier.jit import source_stamp
from envs.verifier.recurrence import run

_SUFFIX = ".verifier"


def _marker() -> Path | None:
    """The marker's path, None where numba found no writable folder and keeps nothing."""
    folder = run.stats.cache_path
    if not folder:
        return None
    cpu = llvmlite.binding.get_host_cpu_name()
    return Path(folder) / f"{source_stamp()[:16]}-{numba.__version__}-{cpu}{_SUFFIX}"


def must_compile() -> bool:
    """Whether the next use of the verifier compiles it, which takes about a minute."""
    marker = _marker()
    return marker is None or not marker.exists()


def note_compiled() -> None:
    """Leaves the marker and removes those of other versions; does nothing without a folder."""
    marker = _marker()
    if marker is None or marker.exists():
        return
    try:
        for stale in marker.parent.glob(f"*{_SUFFIX}"):
            stale.unlink(missing_ok=True)
        marker.touch()
    except OSError:
        return
