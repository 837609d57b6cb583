"""What a run shows on the terminal.

In: stages, progress and log events. Out: a live bar with rates, times, loss and score where there
is a terminal, and plain lines, one per event, where there is none. No jax.
"""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TextIO, cast

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from factorio_rl.metrics import Fields, plain
from factorio_rl.safe_output import SafeOutput

RATE_WINDOW_UPDATES = 10
"""Updates over which a rate is averaged."""

_EVALUATION = ("chunk", "score", "functional", "solved", "raw_score", "raw_functional")

LINE_FIELDS: dict[str, tuple[str, ...]] = {
    "imitation": ("learner_updates", "loss", "policy_accuracy", "value_error"),
    "train": (
        "chunk",
        "env_steps",
        "episodes",
        "loss",
        "value_error",
        "empty_score",
        "empty_functional",
        "env_steps_per_s",
        "episodes_per_s",
        "search_s",
        "network_s",
        "verification_s",
        "learner_s",
        "host_s",
        "device_busy",
    ),
    "eval": _EVALUATION,
    "eval_untrained": _EVALUATION,
}
"""Fields of a plain line by event; other events show all. The file has all."""

_RATES = {"env_steps": "steps/s", "episodes": "episodes/s"}
_FIGURES = ("loss", "score")


class _TwoLineProgress(Progress):
    """A progress bar with a line of figures below it."""

    figures = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        yield Text(self.figures, style="dim")


class Display:
    """Shows one run; a context manager. Without a terminal nothing but lines is printed.

    A closed, broken or full output is ignored, by `console` too. Of a clock that stands still or
    goes backwards no rate and no negative time comes.
    """

    def __init__(
        self, console: Console | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.console = console or Console(file=sys.stdout)
        # Also for the thread of the live bar, and for what rich does about a broken pipe: exit.
        self.console.file = cast(TextIO, SafeOutput(cast(TextIO, self.console.file)))
        self._clock = clock
        self._history: deque[tuple[float, dict[str, float]]] = deque(maxlen=RATE_WINDOW_UPDATES + 1)
        self._latest: dict[str, float] = {}
        self._start_s = clock()
        self._stage_start_s = self._start_s
        self._total = self._done = self._done_at_start = 0
        self._progress: _TwoLineProgress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> "Display":
        if self.console.is_terminal:
            self._progress = _TwoLineProgress(
                TextColumn("[bold]{task.description}"),
                BarColumn(bar_width=None),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=self.console,
                get_time=self._clock,
                expand=True,
            )
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def stage(self, name: str, total: int, done: int = 0) -> None:
        """Begins a stage of `total` units, `done` of them made by an earlier start of the run."""
        self._total, self._done, self._done_at_start = total, done, done
        self._stage_start_s = self._clock()
        self._history.clear()
        if self._progress is None:
            self.message(f"{name}: {done} of {total}")
            return
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(name, total=total, completed=done)

    def update(self, done: int, fields: Fields) -> None:
        """Moves the bar to `done` units. `env_steps` and `episodes` so far give the rates."""
        self._done = done
        numbers = {name: plain(fields[name]) for name in (*_RATES, *_FIGURES) if name in fields}
        self._latest |= numbers
        self._history.append((self._clock(), numbers))
        if self._progress is not None and self._task is not None:
            self._progress.figures = " · ".join(self._figures())
            self._progress.update(self._task, completed=done)

    def event(self, event: str, fields: Fields) -> None:
        """One log event: a line; with a live bar, training events only refresh its figures."""
        self._latest |= {name: plain(fields[name]) for name in _FIGURES if name in fields}
        if self._progress is None or event != "train":
            self.message(self._line(event, fields))

    def message(self, text: str) -> None:
        """Prints one text above the bar."""
        if self._progress is not None:
            self.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            print(text, file=self.console.file, flush=True)

    def _figures(self) -> list[str]:
        """Rates over the last updates and the newest loss and score, in words."""
        shown = []
        (first_s, first), (last_s, last) = self._history[0], self._history[-1]
        for name, unit in _RATES.items():
            if name in first and name in last and last_s > first_s:
                shown.append(f"{compact((last[name] - first[name]) / (last_s - first_s))} {unit}")
        return shown + [
            f"{name} {compact(self._latest[name])}" for name in _FIGURES if name in self._latest
        ]

    def _line(self, event: str, fields: Fields) -> str:
        values = {
            name: plain(fields[name]) for name in LINE_FIELDS.get(event, fields) if name in fields
        }
        # A figure that is not a number, such as the score of episodes not yet scored, says nothing.
        shown = [f"{name} {compact(value)}" for name, value in values.items() if value == value]
        now_s = self._clock()
        times = clock_text(now_s - self._start_s)
        done = self._done - self._done_at_start
        if done > 0 and self._done < self._total:
            left_s = (now_s - self._stage_start_s) / done * (self._total - self._done)
            times += f", {clock_text(left_s)} left"
        return "  ".join([f"[{times}] {event}", *shown])


def compact(value: object) -> str:
    """A figure in few characters: 4 significant digits, thousands apart."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def clock_text(seconds: float) -> str:
    """Hours, minutes and seconds as 1:02:03."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
