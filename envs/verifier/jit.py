"""Compilation with numba: three kinds of inner functions, and entry points cached on disk.

numba's cache looks only at the file of the function that is cached, not at what it calls. So the
entry points take a stamp of every source file that is compiled into them as a closure variable,
which numba makes part of the cache key: an edited rule can never run from an old cache file.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.options import DefaultOptions

# Without numba's runtime no reference counts are kept, which takes three quarters of the time off
# a tick. Safe only in functions that create no array. The option is undocumented, hence the test.
_UNCOUNTED: dict[str, Any] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}

allocating = njit(nogil=True)
"""Decorator of inner functions that create arrays."""

outlined = njit(nogil=True, **_UNCOUNTED)
"""Decorator of inner functions that create no array and are called now and then."""

inlined = njit(nogil=True, forceinline=True, **_UNCOUNTED)
"""Decorator of inner functions that create no array and run in every tick."""


@cache
def source_stamp() -> str:
    """A hash of all source text that the compiled verifier depends on."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in [
        here.parent / "catalogue.py",
        here.parent / "layout.py",
        *sorted(here.glob("*.py")),
    ]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def entry(function: Callable[..., Any]) -> Any:
    """Compiles an entry point that frees the GIL, cached on disk wherever numba can write.

    Beside a read-only installation numba uses the user's cache folder; without any writable
    folder it raises at this point, and the code is compiled afresh in each process.
    """
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:
        return njit(nogil=True)(function)
