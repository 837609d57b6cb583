"""Checkpoints of a run directory: named pytrees, saved by Orbax (v1 API) with a manifest of ours.

In: pytrees and what they are. Out: the same pytrees, bit for bit, or an error that says what is
wrong with them. A checkpoint is written beside its place and moved there when it is whole. This
file and `checkpoint_check` alone know Orbax: its v1 API is young and renames things.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
from orbax.checkpoint import v1 as ocp

from envs.atomic_file import write_text_atomically
from envs.errors import UserError
from envs.one_line import one_line
from envs.text_file import read_text
from factorio_rl.checkpoint_check import CheckpointError, require_fit
from factorio_rl.checkpoint_manifest import (
    Manifest,
    digest,
    read_manifest,
    set_score,
    write_manifest,
)
from factorio_rl.retention import Entry, best, kept_steps
from factorio_rl.run_directory import LAST_SAVE_FILE

PRINTED_CHARACTERS = 300

MAX_SHOWN = 80
"""Characters of a value in a checkpoint that a message repeats."""

_STEP = re.compile(r"0|[1-9][0-9]{0,17}")
_WRITING, _DELETING = ".writing", ".deleting"
_CORRUPT = "corrupt-"

MAX_WITNESS_BYTES = 1 << 10

CHOICES = 5
"""How often a step is chosen anew while a run removes what was chosen."""


class SaveError(UserError):
    """A checkpoint could not be written; those before it are as they were."""

    def __init__(self, doing: str, cause: BaseException) -> None:
        super().__init__(f"{doing}: {_reason(cause)}")
        text = str(self)
        # Orbax wraps the system's error in words.
        self.is_disk_full = "No space left" in text or "quota exceeded" in text


class OtherRunError(UserError):
    """A checkpoint of other settings or tasks than those of the run."""


class CheckpointStore:
    """The `checkpoints` folder of a run.

    Reading creates and removes nothing, since another process may be training there.
    """

    def __init__(self, directory: Path, fingerprint: Mapping[str, Any]) -> None:
        """`fingerprint`: settings and tasks that every checkpoint must have been made with."""
        self.directory = directory.absolute()
        self._witness = self.directory.with_name(LAST_SAVE_FILE)
        self._fingerprint = fingerprint

    def steps(self) -> list[int]:
        """Steps with a checkpoint, damaged ones too, newest first."""
        if not self.directory.is_dir():
            return []
        names = [path.name for path in self.directory.iterdir()]
        return sorted((int(name) for name in names if _STEP.fullmatch(name)), reverse=True)

    def best_step(self, tell: Callable[[str], None]) -> int:
        """The step with the highest score; the newest if none was scored.

        `tell` gets a warning for each whose score cannot be read.

        Raises:
            CheckpointError: there is no checkpoint.
        """
        champion = best(self._entries(tell))
        return self.newest_step() if champion is None else champion.step

    def newest_step(self) -> int:
        """The newest step. Raises CheckpointError if there is none."""
        steps = self.steps()
        if not steps:
            raise CheckpointError(f"no checkpoint in {self.directory}; train there first")
        return steps[0]

    def manifest(self, step: int) -> Manifest:
        """What a checkpoint says of itself. Raises CheckpointError if it cannot be trusted."""
        folder = self.directory / str(step)
        if not folder.is_dir():
            raise CheckpointError(f"there is no checkpoint {folder}")
        try:
            manifest = read_manifest(folder)
        except ValueError as error:
            raise CheckpointError(f"cannot load checkpoint {folder}: manifest: {error}") from None
        if manifest.step != step:
            raise CheckpointError(
                f"cannot load checkpoint {folder}: its manifest is that of step {manifest.step}"
            )
        return manifest

    def load(self, step: int, like: Mapping[str, Any]) -> dict[str, Any]:
        """The pytrees of a step, in the shape of `like`; names left out of it are not read.

        Raises:
            CheckpointError: it is damaged, or does not have the shape.
            OtherRunError: it belongs to other settings or tasks.
        """
        return self._load(self.manifest(step), like)

    def load_chosen(
        self, choose: Callable[[], int], like: Mapping[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        """The step that `choose` gives, and its pytrees.

        Chooses again where a run that trains removed the step meanwhile. Raises as `load` does.
        """
        for _ in range(CHOICES):
            step = choose()
            try:
                return step, self.load(step, like)
            except CheckpointError:
                if (self.directory / str(step)).exists():
                    raise
        raise CheckpointError(
            f"checkpoints of {self.directory} are removed faster than they can be read; try again "
            "when the run has stopped, or give it a larger train.keep_checkpoints"
        )

    def _load(
        self, manifest: Manifest, like: Mapping[str, Any], optional: Collection[str] = ()
    ) -> dict[str, Any]:
        folder = self.directory / str(manifest.step)
        saved = manifest.digests
        like = {name: like[name] for name in like if name in saved or name not in optional}
        self._require_own(manifest, folder)
        require_fit(folder, like)
        abstract = {name: jax.tree.map(_abstract, tree) for name, tree in like.items()}
        try:
            parts = ocp.load_checkpointables(str(folder), abstract)
        except Exception as error:
            # Orbax raises many types for damaged data, with the reason at the end of the chain.
            raise CheckpointError(f"cannot load checkpoint {folder}: {_reason(error)}") from error
        for name in like:
            if digest(parts[name]) != manifest.digests.get(name):
                raise CheckpointError(
                    f"cannot load checkpoint {folder}: the numbers of its part {name} are not "
                    "those that were saved (their digest differs)"
                )
        return parts

    def load_newest(
        self,
        like: Mapping[str, Any],
        tell: Callable[[str], None],
        problem_of: Callable[[Manifest, Mapping[str, Any]], str | None] = lambda *_: None,
        optional: Collection[str] = (),
    ) -> tuple[Manifest, dict[str, Any]] | None:
        """The newest checkpoint that loads; None in a folder that never had any.

        Newer ones that do not load, or that `problem_of` finds something wrong with, are renamed
        to `corrupt-<step>` and told. Parts of `optional` are left out where it was saved without.

        Raises:
            CheckpointError: there are or were checkpoints, and none loads.
            OtherRunError: the newest intact one belongs to other settings or tasks.
        """
        failures: dict[int, str] = {}
        for step in self.steps():
            try:
                manifest = self.manifest(step)
                parts = self._load(manifest, like, optional)
                problem = problem_of(manifest, parts)
                if problem is not None:
                    folder = self.directory / str(step)
                    raise CheckpointError(f"cannot go on from checkpoint {folder}: {problem}")
            except CheckpointError as error:
                failures[step] = str(error)
                continue
            for damaged, reason in failures.items():
                tell(f"warning: {reason}; it is kept as {self._set_aside(damaged)}")
            last = self._last_step()
            if last > step and not self._aside(last).exists():
                tell(f"warning: checkpoint {last}, the last that was saved, is gone")
            return manifest, parts
        lost = [*failures.values(), *(f"{path}: set aside before" for path in self._corrupt())]
        if not lost and self._witness.exists():
            lost = [f"{self.directory}: gone; {self._witness.name} says that there was one"]
        if lost:
            raise CheckpointError(
                "no checkpoint could be loaded; tried\n  "
                + "\n  ".join(lost)
                + "\nrestore one from a copy, or start in another run directory"
            )
        return None

    def save(self, manifest: Manifest, parts: Mapping[str, Any]) -> None:
        """Saves pytrees under `manifest.step`, whole or not at all; digests are filled in.

        A step that exists was saved from the same state and is left as it is.

        Raises:
            SaveError: it cannot be written.
        """
        folder = self.directory / str(manifest.step)
        if folder.exists():
            return
        unfinished = folder.with_name(folder.name + _WRITING)
        try:
            # Not its parents: a run directory that somebody removed is not made anew without the
            # rest of what a run needs.
            self.directory.mkdir(exist_ok=True)
            _remove(unfinished)
            ocp.save_checkpointables(str(unfinished), dict(parts))
            digests = {name: digest(tree) for name, tree in parts.items()}
            write_manifest(unfinished, replace(manifest, digests=digests))
            _sync(unfinished)
            unfinished.rename(folder)
            _sync_path(self.directory)
            write_text_atomically(self._witness, json.dumps({"step": manifest.step}) + "\n")
        except Exception as error:
            self.remove_leftovers()
            raise SaveError(f"cannot write checkpoint {folder}", error) from error

    def set_score(self, step: int, score: float) -> None:
        """Notes the evaluation score of a saved step. Raises SaveError."""
        folder = self.directory / str(step)
        try:
            set_score(folder, score)
        except (OSError, ValueError) as error:
            raise SaveError(f"cannot write the score of {folder}", error) from error

    def keep_only(self, newest: int, every_chunks: int | None) -> list[int]:
        """Removes intact checkpoints that nothing keeps; the steps that went."""
        entries = self._entries(lambda _: None)
        kept = kept_steps(entries, newest, every_chunks)
        gone = [entry.step for entry in entries if entry.step not in kept]
        for step in gone:
            # Renamed first: a kill in between must not leave half a checkpoint in its place.
            leaving = self.directory / f"{step}{_DELETING}"
            with suppress(OSError):
                (self.directory / str(step)).rename(leaving)
                _remove(leaving)
        return gone

    def remove_leftovers(self) -> None:
        """Removes what an earlier process did not finish to write or to delete."""
        if not self.directory.is_dir():
            return
        for path in self.directory.iterdir():
            if _STEP.match(path.name) and (_WRITING in path.name or _DELETING in path.name):
                _remove(path)

    def _entries(self, tell: Callable[[str], None]) -> list[Entry]:
        """Those whose manifest can be read; the others are told."""
        entries = []
        for step in self.steps():
            try:
                manifest = self.manifest(step)
            except CheckpointError as error:
                if (self.directory / str(step)).exists():
                    tell(f"warning: {error}")
                continue
            entries.append(Entry(step, manifest.chunk, manifest.score))
        return entries

    def _last_step(self) -> int:
        """The step that was saved last, whatever became of it; -1 if that is not known."""
        try:
            step = json.loads(read_text(self._witness, MAX_WITNESS_BYTES))["step"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return -1
        return step if isinstance(step, int) else -1

    def _require_own(self, manifest: Manifest, folder: Path) -> None:
        known = manifest.fingerprint
        differences = [
            f"{name}: {one_line(str(known[name]), MAX_SHOWN)} in the checkpoint, {value} now"
            for name, value in self._fingerprint.items()
            if name in known and known[name] != value
        ]
        if differences:
            raise OtherRunError(
                f"{folder} belongs to a run with other settings:\n  "
                + "\n  ".join(differences)
                + "\nset them as there, or give another run directory"
            )

    def _corrupt(self) -> Iterable[Path]:
        return sorted(self.directory.glob(f"{_CORRUPT}*")) if self.directory.is_dir() else ()

    def _aside(self, step: int) -> Path:
        return self.directory / f"{_CORRUPT}{step}"

    def _set_aside(self, step: int) -> Path:
        target = self._aside(step)
        _remove(target)
        (self.directory / str(step)).rename(target)
        return target


def _remove(path: Path) -> None:
    """Removes a folder or whatever else has its name, if there is one."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Waits until all files of a folder are on the disk, so that a power cut finds them whole."""
    for place, _, names in os.walk(folder):
        for name in names:
            _sync_path(Path(place, name))
        _sync_path(Path(place))


def _sync_path(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _abstract(leaf: Any) -> Any:
    if isinstance(leaf, jax.Array):
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=leaf.sharding)
    return leaf


def _reason(error: BaseException) -> str:
    while cause := error.__cause__ or error.__context__:
        error = cause
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return text if len(text) <= PRINTED_CHARACTERS else f"{text[:PRINTED_CHARACTERS]}..."
