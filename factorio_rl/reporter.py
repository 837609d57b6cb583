"""One place that the trainer reports to: metrics file, terminal and Weights & Biases.

In: stages, progress and events; pictures and agents, for wandb alone. Out: each event to all three.
A context manager that closes them; none of them can stop or stall the run. No jax.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console

from envs.errors import UserError
from factorio_rl.config import Config
from factorio_rl.display import Display
from factorio_rl.metrics import Fields, MetricsLog
from factorio_rl.run_directory import METRICS_FILE
from factorio_rl.wandb_sink import WandbSink

WANDB_CLOSE_S = 5.0
"""Longest wait for wandb at the end of a run; its process goes on alone after that."""


class Reporter:
    """Fans reports out. `exit_code` is what wandb shows as the end state of the run."""

    def __init__(self, log: MetricsLog, display: Display, wandb: WandbSink) -> None:
        self.log = log
        self.display = display
        self.wandb = wandb
        self.exit_code = 0

    def __enter__(self) -> "Reporter":
        self.display.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.log.close()
        self.display.__exit__(kind, error, trace)
        self.wandb.close(WANDB_CLOSE_S, 1 if error is not None else self.exit_code)

    def resume(self, learner_updates: int, *, scored: bool = True) -> None:
        """Drops what was reported after the checkpoint of so many updates; below 0 drops all.

        Not `scored` if its evaluation is made again.
        """
        self.log.truncate_after(learner_updates, scored=scored)

    def has(self, event: str) -> bool:
        """Whether such an event was reported, in this start of the run or an earlier one."""
        return self.log.has(event)

    def has_progress(self) -> bool:
        """Whether the metrics are of a run that has made chunks."""
        return self.log.has_progress()

    def stage(self, name: str, total: int, done: int = 0) -> None:
        """Begins a stage of the run, of `total` units."""
        self.display.stage(name, total, done)

    def progress(self, done: int, fields: Fields) -> None:
        """Moves the bar; cheap enough for every chunk. Writes nothing."""
        self.display.update(done, fields)

    def report(self, event: str, fields: Fields) -> None:
        """Sends one event with its flat figures to file, terminal and wandb."""
        self.log.write(event, fields)
        self.display.event(event, fields)
        self.wandb.log(event, fields)

    def show(self, pictures: Mapping[str, Path], fields: Fields) -> None:
        """Shows pictures by name in wandb, where it is used; `fields` are the counters.

        They are read a little later: files that appear whole, in the run directory.
        """
        self.wandb.log_pictures(pictures, fields)

    def offer_agent(self, file: Path, facts: Mapping[str, Any]) -> None:
        """Gives wandb the file of the best agent so far, and what is known of it, as JSON."""
        self.wandb.log_agent(file, facts)

    def attempt(self, what: str, write: Callable[[], None]) -> None:
        """Writes a file that the run can do without; a failure is a warning that names it."""
        try:
            write()
        except Exception as error:  # a full disk, and whatever a picture cannot show
            reason = str(error) if isinstance(error, UserError) else repr(error)
            if isinstance(error, OSError):
                reason = error.strerror
            self.message(f"warning: cannot write {what}: {reason}; the run goes on without it")

    def message(self, text: str) -> None:
        """Shows one text on the terminal."""
        self.display.message(text)


def open_reporter(config: Config, run_dir: Path, console: Console | None = None) -> Reporter:
    """The reporter of a run directory, which has to exist."""
    display = Display(console)
    log = MetricsLog(run_dir / METRICS_FILE, lambda text: display.message(f"warning: {text}"))
    wandb = WandbSink(run_dir, config.logging, config.model_dump(mode="json"), display.message)
    return Reporter(log, display, wandb)
