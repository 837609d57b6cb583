"""What a design shows while it runs, on standard error: a bar on a terminal, else some lines.

In: how long the attempts have run, how many there were, and the best rate. Jax-free.
"""

import sys
from fractions import Fraction
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from factorio_rl.printing import counted

LINE_EVERY_S = 10.0
"""Seconds between lines where there is no terminal."""


class DesignBar:
    """Shows one design; a context manager. Its bar is the time budget."""

    def __init__(self, target: Fraction, budget_s: float, console: Console | None = None) -> None:
        self._target, self._budget_s = target, budget_s
        self._console = console or Console(file=sys.stderr, markup=False, highlight=False)
        self._next_line_s = LINE_EVERY_S
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[figures]}"),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._progress.add_task("starting", total=budget_s, figures="")

    def __enter__(self) -> "DesignBar":
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def message(self, text: str) -> None:
        """Prints a line above the bar."""
        self._console.print(text, soft_wrap=True)

    def compiling(self, what: str) -> None:
        """Says that a program is being compiled."""
        self.message(f"compiling {what}; this does not count as time")

    def update(self, elapsed_s: float, attempts: int, best: Fraction | None) -> None:
        """Moves the bar; without a terminal prints a line now and then."""
        reached = f"{float(best):.4g}" if best is not None else "no exact rate"
        figures = (
            f"{elapsed_s:.0f} of {self._budget_s:.0f} s · "
            f"{counted(attempts, 'attempt')} · best {reached} of {float(self._target):.4g} items/s"
        )
        self._progress.update(
            self._task, completed=elapsed_s, description="designing", figures=figures
        )
        if not self._console.is_terminal and elapsed_s >= self._next_line_s:
            self._next_line_s = elapsed_s + LINE_EVERY_S
            self.message(figures)
