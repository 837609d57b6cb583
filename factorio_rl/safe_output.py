"""A standard stream that never fails: closed, broken or full, what cannot be shown is left out.

In: text for the terminal, a pipe or a file. Out: the same there, as long as it takes it. A run
goes on without its output, since everything of it is in the run directory as well. No jax.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO


class SafeOutput(io.TextIOBase):
    """Wraps a text stream; `write` and `flush` raise nothing that the stream raises."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str, /) -> int:
        """Writes what can be written; the number of characters given."""
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flushes what can be flushed."""
        with suppress(OSError, ValueError):
            self._stream.flush()

    def isatty(self) -> bool:
        """Whether it is a terminal; a closed stream is none."""
        return not self._stream.closed and self._stream.isatty()

    def fileno(self) -> int:
        """The descriptor of the wrapped stream. Raises OSError or ValueError if it has none."""
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The encoding of the wrapped stream."""
        return self._stream.encoding

    def settle(self) -> None:
        """Makes sure that what is still buffered cannot fail when Python flushes it at exit."""
        try:
            self._stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, self._stream.fileno())
                os.close(nowhere)


@contextmanager
def safe_output() -> Iterator[None]:
    """Makes standard output and standard error safe, up to the end of the process."""
    before = sys.stdout, sys.stderr
    safe = SafeOutput(before[0]), SafeOutput(before[1])
    sys.stdout, sys.stderr = safe
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for stream in safe:
            stream.settle()
