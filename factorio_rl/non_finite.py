"""When training ends since numbers are not finite, and what is left to find out why.

In: the state after some updates or a chunk. Out: nothing while a skipped update or a search that
is not finite is an exception; past the limits an error that names the dump to reproduce it from.
"""

from pathlib import Path

from envs.errors import UserError
from factorio_rl.chunk import ChunkRunner
from factorio_rl.config import Config
from factorio_rl.learner import all_finite
from factorio_rl.loop_state import LoopState
from factorio_rl.non_finite_case import SearchCase, UpdateCase
from factorio_rl.non_finite_dump import write_dump


class NonFiniteError(UserError):
    """Losses, gradients, parameters or searches are not finite, again and again."""

    exit_code = 3


def why_not_to_save(state: LoopState, *, is_last: bool = False) -> str | None:
    """Why a state is no good one to go on from, None if it is.

    Besides what is not finite in it, parameters whose last update was skipped, or with which a
    search of the last chunk was not finite, may be too large to recover from: a run that ends over
    them has to have its last checkpoint from before. They are good enough where the run ends by
    itself or is stopped, since there is nothing else to go on from (`is_last`).
    """
    learner, counters = state.learner, state.counters
    if not bool(all_finite((learner.params, learner.optimizer, state.precision.scales))):
        return "a parameter is not finite"
    if is_last:
        return None
    if learner.skipped_in_row:
        return f"the last updates were skipped, {int(learner.skipped_in_row)} in a row"
    if counters.non_finite_chunks:
        return "searches of the last chunk were not finite"
    return None


def require_finite(state: LoopState, runner: ChunkRunner, config: Config, run_dir: Path) -> None:
    """Ends the run where more in a row is not finite than the settings allow.

    Call it after every chunk and after every call of `imitate`, with the runner that made them.

    Raises:
        NonFiniteError: after a dump to `run_dir / "non_finite"`, one folder by number of updates.
    """
    updates, in_a_row = int(state.learner.updates), int(state.learner.skipped_in_row)
    chunk, chunks = int(state.counters.chunk), int(state.counters.non_finite_chunks)
    if in_a_row > config.learner.max_skipped_updates:
        what = (
            f"the loss, a gradient or a new parameter was not finite in updates "
            f"{updates - in_a_row + 1} to {updates}, so {in_a_row} in a row were skipped "
            f"(learner.max_skipped_updates is {config.learner.max_skipped_updates})"
        )
        case = runner.last_update(state)
    elif chunks > config.actor.max_non_finite_chunks:
        what = (
            f"searches of chunks {chunk - chunks + 1} to {chunk}, {chunks} in a row, were not "
            f"finite (actor.max_non_finite_chunks is {config.actor.max_non_finite_chunks})"
        )
        case = runner.last_search(state)
    else:
        return
    folder = run_dir / "non_finite" / str(updates)
    raise NonFiniteError(
        f"{what}. {_dumped(folder, config, case, what)}. Nothing of it was saved: lower "
        f"learner.learning_rate (now {config.learner.learning_rate:g}), then "
        f"learner.max_grad_norm (now {config.learner.max_grad_norm:g}), and start again; the run "
        "goes on from its last checkpoint, which is good, if it has one"
    )


def _dumped(folder: Path, config: Config, case: UpdateCase | SearchCase, what: str) -> str:
    """Writes the dump; where it is and how to use it, or why there is none."""
    try:
        write_dump(folder, config, case, what)
    except OSError as error:
        return f"What it was computed from could not be written to {folder}: {error.strerror}"
    return f"What is not finite is shown by: python -m factorio_rl reproduce {folder}"
