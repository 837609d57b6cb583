"""Signals: the first asks the run to save and stop between two chunks, a second ends it at once."""

import contextlib
import os
import signal
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


NOTICE = b"\nstopping after this step; the same signal again quits at once\n"


class StoppedError(Exception):
    """A signal came before there was anything to save."""


class StopRequest:
    """Whether a signal asked the run to stop; a context manager that installs the handlers."""

    def __init__(self) -> None:
        self.signal_number: int | None = None
        self._previous: dict[int, object] = {}

    @property
    def exit_code(self) -> int:
        """The exit code of a run that a signal stopped: 130 or 143."""
        return 128 + (self.signal_number or 0)

    def __enter__(self) -> "StopRequest":
        self._previous = {number: signal.signal(number, self._handle) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # pyright: ignore[reportArgumentType]

    def raise_if_asked(self) -> None:
        """Raises StoppedError if a signal came."""
        if self:
            raise StoppedError

    def __bool__(self) -> bool:
        return self.signal_number is not None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.signal_number is not None:
            os._exit(128 + number)
        self.signal_number = number
        with contextlib.suppress(OSError):
            os.write(2, NOTICE)
