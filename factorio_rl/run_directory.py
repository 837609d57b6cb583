"""The run directory: its settings, the record of what its tasks are, and its folders.

In: a config and the identity of the task set. Out: a directory that is new or fits them. A run
directory of another architecture, environment or task set is refused, and nothing is written.
"""

import json
from pathlib import Path

from envs.atomic_file import (
    is_leftover,
    make_writable_folder,
    remove_leftovers,
    write_text_atomically,
)
from envs.errors import UserError
from envs.one_line import one_line
from envs.text_file import read_text
from factorio_rl import __version__
from factorio_rl.config import Config
from factorio_rl.config_file import (
    architecture_differences,
    dump_config,
    load_config,
    tunable_differences,
)
from factorio_rl.run_links import refuse_links
from factorio_rl.run_lock import LOCK_FILE, RunLock

CONFIG_FILE = "config.yaml"
IDENTITY_FILE = "identity.json"
METRICS_FILE = "metrics.jsonl"

LAST_SAVE_FILE = "last_save.json"
"""Which checkpoint was saved last: a witness where it, or all of them, are gone."""

MAX_IDENTITY_BYTES = 1 << 16

MAX_SHOWN = 200
"""Longest value of the identity that is kept and shown, characters."""

STATE_VERSION = "4"
"""Of what a checkpoint holds. Raised when parameters or `LoopState` get another structure."""


class RunDirectoryError(UserError):
    """A run directory that belongs to another run."""


class RunDirectory:
    """Paths of a run and the checks before it goes on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = RunLock(path)
        self.checkpoints = path / "checkpoints"
        self.evaluations = path / "eval"
        self.layouts = path / "layouts"
        self.verifier_failures = path / "verifier_failures"
        self.compiled = path / "compiled"  # programs of a deterministic run on a GPU

    def saved_config(self) -> Config | None:
        """The config that the run was started with, None in a new directory.

        Raises ConfigError, and UserError for a link out of the directory.
        """
        refuse_links(self.path)
        file = self.path / CONFIG_FILE
        return load_config(file) if file.exists() else None

    def require_config(self) -> Config:
        """The saved config. Raises RunDirectoryError in a directory without one."""
        config = self.saved_config()
        if config is None:
            raise RunDirectoryError(
                f"{self.path} is no run directory: it has no {CONFIG_FILE}; "
                "give the directory of a run that train.py made"
            )
        return config

    def require_state_version(self) -> None:
        """Raises RunDirectoryError if this version cannot read the checkpoints."""
        version = self._identity().get("state_version")
        if version != STATE_VERSION:
            raise RunDirectoryError(
                f"the checkpoints of {self.path} are of another version of this program (state "
                f"{version or 1}, this one reads {STATE_VERSION}); use the version that made them"
            )

    def has_progress(self) -> bool:
        """Whether there is a report of an evaluation after a chunk."""
        reports = self.evaluations.glob("chunk-*.json") if self.evaluations.is_dir() else ()
        return any(report.stem.strip("chunk-0") for report in reports)

    def has_checkpoints(self) -> bool:
        """Whether there is anything to go on from."""
        return self.checkpoints.is_dir() and any(self.checkpoints.iterdir())

    def check(self, config: Config) -> None:
        """Raises RunDirectoryError if the directory cannot take a run with this config."""
        self._require_name()
        self._require_kinds()
        saved = self.saved_config()
        if saved is None:
            self._require_unused()
        else:
            self._refuse(architecture_differences(saved, config))

    def open(self, config: Config, identity: dict[str, str]) -> list[str]:
        """Creates the directory or checks that it fits; writes the config.

        Args:
            identity: versions and hashes that must stay as they are.

        Returns:
            what changed in tunable settings, a line each.

        Raises:
            RunDirectoryError: it belongs to another architecture, environment or task set, or
                holds files of something else.
        """
        self.check(config)
        saved = self.saved_config()
        if saved is not None:
            self.require_state_version()
            self._refuse(self._identity_differences(identity))
        identity_text = json.dumps(identity, indent=1) + "\n"
        try:
            for folder in (self.path, self.evaluations, self.layouts):
                folder.mkdir(parents=True, exist_ok=True)
                remove_leftovers(folder)
            # The config comes last: a directory that has one is complete.
            write_text_atomically(self.path / IDENTITY_FILE, identity_text)
            write_text_atomically(self.path / CONFIG_FILE, dump_config(config))
        except OSError as error:
            raise self._cannot_write(error) from None
        return [] if saved is None else tunable_differences(saved, config)

    def lock(self) -> RunLock:
        """Holds the directory for this process, as a context manager.

        Raises:
            RunDirectoryError: it cannot be made.
            LockedError: when it is entered and another process trains in the directory.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / LOCK_FILE).touch()
        except OSError as error:
            raise self._cannot_write(error) from None
        return self._lock

    def require_lock(self) -> None:
        """Makes sure that no other process has begun to train here, however it came in.

        Raises:
            LockedError: the lock file was removed, and another process has a new one.
        """
        self._lock.require_held()

    def _cannot_write(self, error: OSError) -> RunDirectoryError:
        return RunDirectoryError(
            f"cannot write the run directory {self.path}: {error}; "
            "give a directory that can be written with --run-dir"
        )

    def _refuse(self, differences: list[str]) -> None:
        if differences:
            raise RunDirectoryError(
                f"{self.path} holds a run with other settings:\n  "
                + "\n  ".join(differences)
                + "\nset them back, or give another directory with --run-dir"
            )

    def _require_name(self) -> None:
        """Libraries that write checkpoints take names in UTF-8 only."""
        try:
            str(self.path.absolute()).encode()
        except UnicodeEncodeError:
            name = str(self.path).encode(errors="surrogateescape")
            raise RunDirectoryError(
                f"the name of the run directory, {name!r}, is not UTF-8; give another one with "
                "--run-dir"
            ) from None

    def _require_kinds(self) -> None:
        """A pipe in the place of a file would be waited for, for one."""
        files = (METRICS_FILE, CONFIG_FILE, IDENTITY_FILE, LAST_SAVE_FILE, LOCK_FILE)
        folders = (self.checkpoints, self.evaluations, self.layouts)
        paths = [self.path / name for name in files]
        # Nor a link: what it leads to would be cut or written over.
        wrong = [
            path for path in paths if path.is_symlink() or (path.exists() and not path.is_file())
        ]
        wrong += [path for path in folders if path.exists() and not path.is_dir()]
        if wrong:
            kind = "folder" if wrong[0] in folders else "regular file"
            raise RunDirectoryError(
                f"{wrong[0]} is no {kind}; remove it, or give another directory with --run-dir"
            )

    def _require_unused(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise RunDirectoryError(f"{self.path} is a file; give a directory with --run-dir")
        folders = (self.evaluations, self.layouts, self.compiled)
        ours = {LOCK_FILE, IDENTITY_FILE, *(folder.name for folder in folders)}
        if self.path.exists() and any(
            file.name not in ours and not is_leftover(file.name) for file in self.path.iterdir()
        ):
            raise RunDirectoryError(
                f"{self.path} is not empty and has no {CONFIG_FILE}: if it holds a run, restore "
                "that file from a copy; else give a new directory with --run-dir"
            )

    def _identity(self) -> dict[str, str]:
        file = self.path / IDENTITY_FILE
        try:
            content = json.loads(read_text(file, MAX_IDENTITY_BYTES))
            if not isinstance(content, dict):
                raise ValueError("it is no JSON object")
        except (ValueError, TypeError, RecursionError) as error:
            raise RunDirectoryError(
                f"cannot read {file}, which says what tasks the run has: {error}; "
                "restore it from a copy, or give another directory with --run-dir"
            ) from None
        return {name: one_line(str(value), MAX_SHOWN) for name, value in content.items()}

    def _identity_differences(self, identity: dict[str, str]) -> list[str]:
        saved = self._identity()
        return [
            f"{name}: {saved.get(name)} in the run directory, {value} now"
            for name, value in identity.items()
            if saved.get(name) != value and name != "package_version"
        ]


def require_writable(folder: Path) -> None:
    """Makes a folder of results, before the work whose results it takes.

    Raises:
        RunDirectoryError: nothing can be written there.
    """
    try:
        make_writable_folder(folder)
    except OSError as error:
        raise RunDirectoryError(
            f"cannot write into {folder}: {error.strerror}; copy the run directory to a place that "
            "can be written"
        ) from None


def network_differences(old: Config, new: Config) -> list[str]:
    """What parameters of one config do not fit in the network of another, one line per field."""
    return [
        line
        for line in architecture_differences(old, new)
        if line.startswith(("network.", "env.item_slots", "env.recipe_slots"))
    ]


def task_identity(
    rules: str, generator: str, heldout_sha256: str, pool_sha256: str
) -> dict[str, str]:
    """What identifies the tasks of a run."""
    return {
        "package_version": __version__,
        "state_version": STATE_VERSION,
        "rules_version": rules,
        "generator_version": generator,
        "heldout_sha256": heldout_sha256,
        "pool_sha256": pool_sha256,
    }
