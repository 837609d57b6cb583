"""Pictures and agents for Weights & Biases: files that a run has and wandb's process reads.

In, at the run: paths. Between them: notes of the files, in JSON. In, at wandb's process: the notes.
Out: pictures and artifacts of wandb. A file that is gone or replaced by then is left out, and
whatever fails is a warning: the figures of a run depend on none of it. No jax.
"""

import io
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from factorio_rl.file_note import FileNote, is_there, note_file

PICTURES, AGENT = "pictures", "agent"
"""Keys of a line that stand for no figures."""

AGENT_EVERY_S = 600.0
"""Shortest time between two agents online: each is a version that the server keeps, and a copy on
this disk until it is there."""


def noted_pictures(files: Mapping[str, Path]) -> dict[str, FileNote]:
    """Notes of the files that exist."""
    notes = {name: note_file(path) for name, path in files.items()}
    return {name: note for name, note in notes.items() if note is not None}


def noted_agent(file: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """A note of the file, None if it is gone, and the facts about the agent."""
    return {"file": note_file(file), "facts": dict(facts)}


def pictures(
    wandb: Any, noted: Mapping[str, list[Any]], warn: Callable[[str], None]
) -> dict[str, Any]:
    """wandb's pictures by the names that they are shown under."""
    found: dict[str, Any] = {}
    for name, note in noted.items():
        try:
            picture = _picture(wandb, FileNote(*note))
        except Exception as error:
            warn(f"cannot show the picture {name}: {error!r}")
            continue
        if picture is not None:
            found[f"{PICTURES}/{name}"] = picture
    return found


def _picture(wandb: Any, note: FileNote) -> Any:
    from PIL import Image

    if not is_there(note):
        return None
    data = Path(note.path).read_bytes()
    # Of the bytes in memory, since wandb reads a file once more when it logs it.
    return wandb.Image(Image.open(io.BytesIO(data))) if is_there(note) else None


class Agents:
    """Uploads the newest of the agents that are offered: seldom online, offline only the last.

    Offline every version would stay on the disk until somebody uploads the run.
    """

    def __init__(
        self,
        wandb: Any,
        run: Any,
        warn: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wandb = wandb
        self._run = run
        self._warn = warn
        self._clock = clock
        self._offered: dict[str, Any] | None = None
        self._due_s = float("inf") if run.offline else clock()

    def offer(self, noted: dict[str, Any]) -> None:
        """Takes an agent in the place of the one before it."""
        self._offered = noted
        self.upload_if_due()

    def upload_if_due(self) -> None:
        """Uploads what was offered, unless that is to wait."""
        if self._clock() >= self._due_s:
            self.upload()

    def upload(self) -> None:
        """Uploads what was offered since the last time, if anything."""
        offered, self._offered = self._offered, None
        if offered is None or offered["file"] is None:
            return
        if not self._run.offline:
            self._due_s = self._clock() + AGENT_EVERY_S
        try:
            self._log(FileNote(*offered["file"]), offered["facts"])
        except Exception as error:  # a full disk, and whatever wandb raises
            self._warn(f"cannot upload the best agent: {error!r}")

    def _log(self, note: FileNote, facts: dict[str, Any]) -> None:
        artifact = self._wandb.Artifact(f"agent-{self._run.id}", "model", metadata=facts)
        if not is_there(note):
            return
        # This makes a copy, which wandb removes after the upload.
        artifact.add_file(note.path, name=Path(note.path).name, skip_cache=True)
        if is_there(note):
            self._run.log_artifact(artifact, aliases=["best", "latest"])
