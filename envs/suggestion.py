"""What a message adds about a name that is not known. Jax-free; nothing is imported."""

import difflib
from collections.abc import Iterable

_PRINTED = 20


def nearest(name: str, known: Iterable[str]) -> str:
    """A "did you mean" ending for a misspelt name, or the list of what is known."""
    known = list(known)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]}?"
    more = ", ..." if len(known) > _PRINTED else ""
    return f"known are {', '.join(known[:_PRINTED])}{more}"
