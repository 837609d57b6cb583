"""`tasks build`: solved training tasks into a pool file, with progress and a summary. Jax-free.

In: settings of the generator. Out: a pool file, written whole or not at all; a signal ends it.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Column, Table

from envs.errors import UserError
from envs.families import FAMILIES
from envs.generate import GeneratorSettings
from envs.pool_file import PoolFile, is_pool_file, open_pool, write_pool
from envs.suggestion import nearest
from factorio_rl.first_compile import compile_if_needed
from factorio_rl.pool import generate_training_pool
from factorio_rl.preemption import StoppedError, StopRequest
from factorio_rl.printing import counted, printing

LINE_EVERY_S = 30.0
"""Seconds between lines of progress where standard error is no terminal."""

REDRAW_EVERY_S = 0.2


def known_families(names: Sequence[str]) -> tuple[str, ...]:
    """The families of these names, each once. Raises UserError for a name that is not known."""
    for name in names:
        if name not in FAMILIES:
            raise UserError(f"{name[:40]!r} is no family of tasks; {nearest(name, FAMILIES)}")
    return tuple(dict.fromkeys(names))


def build(path: Path, settings: GeneratorSettings, seed: int, count: int, workers: int) -> int:
    """Makes `count` tasks and writes them; the exit code. Raises UserError."""
    _require_writable(path)
    compile_if_needed()
    progress = _Progress(count)
    with StopRequest() as stop:

        def on_progress(stage: str, done: int) -> None:
            stop.raise_if_asked()
            progress.show(stage, done)

        try:
            pool = generate_training_pool(
                settings, seed, count, workers=workers, on_progress=on_progress
            )
        except StoppedError:
            progress.end()
            print("stopped by a signal; nothing was written")
            return stop.exit_code
    progress.end()
    took_s = progress.elapsed_s()
    write_pool(path, pool.solved, pool.variants, settings, seed)
    _print_summary(open_pool(path), took_s, workers)
    return 0


def _require_writable(path: Path) -> None:
    """Raises UserError, before work begins, where the pool could not be written."""
    if not path.parent.is_dir():
        raise UserError(f"cannot write {path}: {path.parent} is no folder; make it first")
    try:
        is_free = not path.exists() or is_pool_file(path)
    except OSError:
        is_free = False
    if not is_free:
        raise UserError(f"{path} exists and is no pool file; give another path with --out")


class _Progress:
    """Says how far the work is: on one line of a terminal, else in a line now and then."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._terminal = sys.stderr.isatty()
        self._began_s = time.monotonic()
        self._due_s = 0.0

    def elapsed_s(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._began_s

    def show(self, stage: str, done: int) -> None:
        """Says that so many tasks are through a stage, if it is time to."""
        elapsed_s = self.elapsed_s()
        if elapsed_s < self._due_s:
            return
        self._due_s = elapsed_s + (REDRAW_EVERY_S if self._terminal else LINE_EVERY_S)
        line = f"{stage}: {done:,} of {self._count:,} after {elapsed_s:.0f} s"
        start, end = ("\r\033[K", "") if self._terminal else ("", "\n")
        print(f"{start}{line}", end=end, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Clears the line."""
        if self._terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _print_summary(pool: PoolFile, took_s: float, workers: int) -> None:
    """Figures of every family, speed, size and hash."""
    table = Table("family", *_columns("tasks", "placements", "machines", "depth", "path"))
    figures: dict[str, list[Any]] = {}
    for index in range(len(pool)):
        found = pool.difficulty(index)
        row = (found.placements, found.machines, found.depth, found.path_length)
        figures.setdefault(pool[index].spec.family, []).append(row)
    for family, rows in figures.items():
        means = (f"{mean:.1f}" for mean in np.mean(rows, axis=0))
        table.add_row(family, f"{len(rows):,}", *means)
    size = pool.path.stat().st_size
    per_minute = 60 * len(pool) / took_s
    with printing() as console:
        console.print(table)
        console.print(
            f"{counted(len(pool), 'task')} in {took_s:.0f} s by {counted(workers, 'process')}: "
            f"{per_minute:,.0f} layouts per minute, {per_minute / workers:,.0f} a process; the "
            "table has the means of the references"
        )
        console.print(
            f"wrote {pool.path}: {size / 1000:,.0f} kB, {pool.manifest['record_bytes']} bytes a "
            f"task, SHA-256 {pool.manifest['sha256']}",
            soft_wrap=True,
        )


def _columns(*names: str) -> list[Column]:
    return [Column(name, justify="right") for name in names]
