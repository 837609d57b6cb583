"""Whether the compiled verifier is on disk already, so that a command can say when it compiles.

numba keeps compiled code beside the source or in the user's cache folder, and does not say before
a call whether it will find it. So the first use, which compiles everything, leaves a marker file
there, named after all that makes the code stale.
"""

from pathlib import Path

import llvmlite.binding
import numba

from envs.layout import EAST, Entity, Layout
from envs.verifier.bottleneck import output_rate
from envs.verifier.diagnosis import diagnose
from envs.verifier.jit import source_stamp
from envs.verifier.recurrence import run

_SUFFIX = ".verifier"

_ITEM, _TICK_CAP = "iron-plate", 1_000
"""Of the layout that makes everything compile."""


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


def compile_verifier() -> None:
    """Compiles all of the verifier and leaves the marker in the place of older ones."""
    ends = Entity("source", 0, 0, EAST, left=_ITEM), Entity("sink", 1, 0, EAST, item=_ITEM)
    layout = Layout(2, 1, ends)
    output_rate(layout, diagnose(layout, _TICK_CAP).verified.rates[0], _TICK_CAP)
    marker = _marker()
    if marker is None:
        return
    try:
        for stale in marker.parent.glob(f"*{_SUFFIX}"):
            stale.unlink(missing_ok=True)
        marker.touch()
    except OSError:
        return
