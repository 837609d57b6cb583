"""Signals: the first asks the run to save and stop between two steps, a second ends it at once.

Python runs its handlers between bytecodes only, so a compilation of minutes would hold them up.
The C part of a handler writes to a pipe at once; a thread reads that.
"""

import contextlib
import os
import signal
import threading
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

NOTICE = b"\nstopping after this step; another signal quits at once\n"


class StoppedError(Exception):
    """A signal came in work that is made again at the next start."""


class StopRequest:
    """Whether a signal asked the run to stop; a context manager that installs the handlers.

    A signal that the caller has told this process to ignore, as `nohup` does, is ignored.
    """

    def __init__(self) -> None:
        self.signal_number: int | None = None
        self._previous: dict[int, object] = {}
        self._wakeup = self._previous_wakeup = -1

    @property
    def exit_code(self) -> int:
        """The exit code of a run that a signal stopped: 129, 130 or 143."""
        return 128 + (self.signal_number or 0)

    def __enter__(self) -> "StopRequest":
        watched, self._wakeup = os.pipe()
        os.set_blocking(self._wakeup, False)
        self._previous_wakeup = signal.set_wakeup_fd(self._wakeup, warn_on_full_buffer=False)
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous[number] = signal.signal(number, _leave_to_the_watcher)
        threading.Thread(target=self._watch, args=(watched,), name="signals", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # pyright: ignore[reportArgumentType]
        signal.set_wakeup_fd(self._previous_wakeup)
        os.close(self._wakeup)

    def raise_if_asked(self) -> None:
        """Raises StoppedError if a signal came."""
        if self:
            raise StoppedError

    def __bool__(self) -> bool:
        return self.signal_number is not None

    def _watch(self, watched: int) -> None:
        while numbers := os.read(watched, 1):
            if numbers[0] in SIGNALS:
                self._note(numbers[0])
        os.close(watched)

    def _note(self, number: int) -> None:
        if self.signal_number is not None:
            os._exit(128 + number)
        self.signal_number = number
        with contextlib.suppress(OSError):
            os.write(2, NOTICE)


def _leave_to_the_watcher(number: int, frame: FrameType | None) -> None:
    del number, frame
