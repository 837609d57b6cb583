"""When a checkpoint cannot be written: what is freed, how often it is tried, when the run ends.

In: the loop state at moments when it is to be saved. Out: checkpoints, kept and removed by the
settings `train.*`; or loud messages while the disk is full. What is not finite is never saved.
"""

from collections.abc import Callable, Mapping
from typing import Any

from envs.errors import UserError
from factorio_rl.checkpoint import CheckpointStore, SaveError
from factorio_rl.checkpoint_manifest import Manifest
from factorio_rl.config_sections import TrainConfig
from factorio_rl.loop_state import LoopState, parts_of
from factorio_rl.non_finite import NonFiniteError, why_not_to_save


class SavesFailedError(UserError):
    """Too many checkpoints in a row could not be written."""


class Saver:
    """Saves the states of one start of a run."""

    def __init__(
        self,
        settings: TrainConfig,
        store: CheckpointStore,
        fingerprint: Mapping[str, Any],
        made_with: Mapping[str, str],
        tell: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._store = store
        self._fingerprint = fingerprint
        self._made_with = made_with
        self._tell = tell
        self._failed = 0
        self._failure: SaveError | None = None
        self.is_owed = False
        """Whether the last state was not fit to be saved, so that the next one should be."""

    def save(self, state: LoopState, *, is_last: bool = False) -> bool:
        """Saves a state, or says why not; whether it is on the disk.

        `is_last` where the run ends here.

        Raises:
            SavesFailedError: that was one failure in a row too many.
        """
        why_not = why_not_to_save(state, is_last=is_last)
        self.is_owed = why_not is not None
        if why_not is not None:
            self._tell(f"warning: not saved at chunk {int(state.counters.chunk)}: {why_not}")
            return False
        manifest = Manifest(
            step=int(state.learner.updates),
            chunk=int(state.counters.chunk),
            score=None,
            digests={},
            fingerprint=self._fingerprint,
            made_with=self._made_with,
        )
        parts = parts_of(state, with_replay=self._settings.checkpoint_replay)
        return self._tried(lambda: self._store.save(manifest, parts), manifest.chunk)

    def note_score(self, state: LoopState, score: float) -> None:
        """Notes the evaluation score of a saved state, and removes what nothing keeps now.

        Raises SavesFailedError as `save` does.
        """
        step, chunk = int(state.learner.updates), int(state.counters.chunk)
        if self._tried(lambda: self._store.set_score(step, score), chunk):
            self.tidy()

    def tidy(self) -> None:
        """Removes checkpoints that nothing keeps."""
        settings = self._settings
        self._store.keep_only(settings.keep_checkpoints, settings.keep_every_chunks)

    def require_saved(self) -> None:
        """Raises an error if the last state is not on the disk.

        Raises:
            SavesFailedError: it could not be written.
            NonFiniteError: it is not finite.
        """
        if self.is_owed:
            raise NonFiniteError(
                f"the last state is not finite and was not saved; {self._last}. Lower "
                "learner.learning_rate"
            )
        if self._failure is not None:
            raise SavesFailedError(
                f"{self._failure}, at the end of the run; {self._last}. {_remedy(self._failure)}"
            )

    def _tried(self, write: Callable[[], None], chunk: int) -> bool:
        """Whether it could be written, if need be after making room once."""
        try:
            try:
                write()
            except SaveError as error:
                freed = error.is_disk_full and self._store.keep_only(newest=1, every_chunks=None)
                if not freed:
                    raise
                self._tell(
                    f"warning: {error}; removed the checkpoints {', '.join(map(str, freed))} "
                    "to make room, and trying again"
                )
                write()
        except SaveError as error:
            self._failed, self._failure = self._failed + 1, error
            self._complain(error, chunk)
            return False
        if self._failed:
            self._tell(f"checkpoints can be written again; that of chunk {chunk} is saved")
        self._failed, self._failure = 0, None
        return True

    def _complain(self, error: SaveError, chunk: int) -> None:
        limit, remedy = self._settings.max_failed_saves, _remedy(error)
        if self._failed >= limit:
            raise SavesFailedError(
                f"{error}; {self._failed} checkpoints in a row failed at chunk {chunk}, so the run "
                f"ends; {self._last}. {remedy}, or raise train.max_failed_saves"
            )
        self._tell(
            f"WARNING: NOT SAVED at chunk {chunk} ({self._failed} in a row, the run ends at "
            f"{limit}): {error}; training goes on. If it ended now: {self._last}. {remedy}"
        )

    @property
    def _last(self) -> str:
        """What the run would go on from."""
        good = self._store.steps()
        if not good:
            return "there is no checkpoint to go on from"
        return f"the same command goes on from {self._store.directory / str(good[0])}"


def _remedy(error: SaveError) -> str:
    return "Make room on the disk" if error.is_disk_full else "Mend what it names"
