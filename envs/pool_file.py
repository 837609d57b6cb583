"""A pool file: many solved tasks, compact, memory-mapped, hashed. Jax-free.

One file: a line of JSON that says what is in it (`head -1 FILE`), padded with spaces, then records
of fixed size (`pool_records`). The hash covers both. Opening a file reads it once to check the
hash; tasks are then read from the mapping one by one.
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from envs.atomic_file import write_atomically
from envs.blueprint.text import shown
from envs.errors import UserError
from envs.one_line import one_line
from envs.pool_checks import check_task
from envs.pool_records import (
    Names,
    RecordShape,
    pack,
    unpack,
    unpack_difficulty,
    unpack_variants,
)
from envs.solved import Difficulty, Solved, Variant
from envs.text_file import open_regular
from envs.verifier import RULES_VERSION

if TYPE_CHECKING:
    from envs.generate import GeneratorSettings

FORMAT = "factorio-rl-pool"

FORMAT_VERSION = 1
"""Raised by every change of the records or of what the manifest must hold."""

ALIGNMENT = 64
"""The records start at a multiple of so many bytes."""

MAX_MANIFEST_BYTES = 1 << 20

MAX_COUNT = 1 << 40
"""More tasks, or bytes of a task, than any file holds."""

_CHUNK_BYTES = 1 << 20

_ADVICE = "give a file that `python -m factorio_rl tasks build` wrote"


class PoolFileError(UserError):
    """A pool file that is missing, foreign, damaged or of another version, or cannot be written."""


@dataclass(frozen=True)
class PoolFile:
    """An open pool file: a sequence of solved tasks on one grid.

    Attributes:
        path: where it lies.
        manifest: the first line: format, format_version, generator_version, rules_version, count,
            generator (settings), seed, families (tasks of each), names, shape, record_bytes,
            sha256.
    """

    path: Path
    manifest: Mapping[str, Any]
    _records: np.ndarray
    _shape: RecordShape
    _names: Names

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index: int) -> Solved:
        """Task number `index`. Raises IndexError, and PoolFileError where there is no such task."""
        record = self._records[index]
        try:
            solved = unpack(record, self._shape, self._names)
            check_task(solved, unpack_difficulty(record), unpack_variants(record))
        except (ValueError, LookupError, ZeroDivisionError) as error:
            is_said = isinstance(error, ValueError)
            reason = one_line(str(error), 200) if is_said else "a name or number is missing"
            raise PoolFileError(
                f"task {index} of {self.path} cannot be one ({reason}), though the hash of the "
                f"file is right: another program wrote it; {_ADVICE}"
            ) from None
        return solved

    def variants(self, index: int) -> list[Variant]:
        """Incomplete layouts of a task: (kept placements, verified score) of each."""
        return unpack_variants(self._records[index])

    def difficulty(self, index: int) -> Difficulty:
        """Figures of a task's reference."""
        return unpack_difficulty(self._records[index])

    @property
    def grid(self) -> tuple[int, int]:
        """(width, height) of all tasks, cells."""
        return self._shape.width, self._shape.height


def write_pool(
    path: Path,
    solved: Sequence[Solved],
    variants: Sequence[Sequence[Variant]],
    settings: "GeneratorSettings",
    seed: int,
) -> Mapping[str, Any]:
    """Writes tasks of one grid, at least one, with as many variants each; returns the manifest.

    The file appears whole or not at all. Raises PoolFileError where it cannot be written.
    """
    from envs.generate import GENERATOR_VERSION

    records, shape, names = pack(solved, variants)
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "generator_version": GENERATOR_VERSION,
        "rules_version": RULES_VERSION,
        "count": len(solved),
        "generator": asdict(settings),
        "seed": seed,
        "families": Counter(entry.spec.family for entry in solved),
        "names": asdict(names),
        "shape": asdict(shape),
        "record_bytes": shape.dtype.itemsize,
    }
    # Through JSON once, so that it is what a reader gets.
    manifest = json.loads(json.dumps(manifest))
    data = records.view(np.uint8)
    manifest["sha256"] = _sha256(manifest, [data])
    line = json.dumps(manifest).encode()
    padding = b" " * (-(len(line) + 1) % ALIGNMENT)
    try:
        write_atomically(path, [line, padding, b"\n", data.data])
    except OSError as error:
        raise PoolFileError(
            f"cannot write pool file {path}: {error.strerror}; give a path in a folder that can "
            "be written and has room"
        ) from None
    return manifest


def open_pool(path: Path) -> PoolFile:
    """The pool in a file, its hash checked.

    Raises PoolFileError where the file is missing, no pool, of another version, cut off or changed.
    """
    try:
        with open_regular(path) as file:
            manifest = _read_manifest(path, file.readline(MAX_MANIFEST_BYTES))
            offset = file.tell()
            found_bytes = os.fstat(file.fileno()).st_size - offset
            expected_bytes = manifest["count"] * manifest["record_bytes"]
            if found_bytes != expected_bytes:
                raise PoolFileError(
                    f"{path} has {found_bytes:,} bytes of tasks, its first line says "
                    f"{expected_bytes:,}: it was cut off or added to; copy or build it again"
                )
            found = _sha256(manifest, iter(lambda: file.read(_CHUNK_BYTES), b""))
    except OSError as error:
        raise PoolFileError(f"cannot read pool file {path}: {error.strerror}; {_ADVICE}") from None
    if found != manifest["sha256"]:
        raise PoolFileError(
            f"{path} was changed: its SHA-256 is {found}, its first line says "
            f"{shown(manifest['sha256'])}; copy or build it again"
        )
    try:
        shape = RecordShape(**manifest["shape"])
        names = Names(**{key: tuple(value) for key, value in manifest["names"].items()})
        records = np.memmap(path, shape.dtype, "r", offset, (manifest["count"],))
    except (ValueError, TypeError, AttributeError, OverflowError):
        raise PoolFileError(
            f"the first line of {path} does not describe its tasks, though its hash is right: "
            f"another program wrote it; {_ADVICE}"
        ) from None
    return PoolFile(path, manifest, records, shape, names)


def is_pool_file(path: Path) -> bool:
    """Whether a regular file begins as pool files do. Raises OSError where it cannot be read."""
    if path.exists() and not path.is_file():
        return False
    start = json.dumps({"format": FORMAT})[:-1].encode()
    with path.open("rb") as file:
        return file.read(len(start)) == start


def _read_manifest(path: Path, line: bytes) -> dict[str, Any]:
    """The manifest in the first line, of the versions that this program reads."""
    try:
        manifest = json.loads(line)
        is_pool = manifest["format"] == FORMAT and line.endswith(b"\n")
    except (ValueError, KeyError, TypeError, RecursionError):
        is_pool = False
    if not is_pool:
        raise PoolFileError(f"{path} is no pool file; {_ADVICE}")
    for field, known in (("format_version", FORMAT_VERSION), ("rules_version", RULES_VERSION)):
        if manifest.get(field) != known:
            raise PoolFileError(
                f"pool file {path} has {field} {shown(manifest.get(field))}, this program reads "
                f"{known!r}; build it again: python -m factorio_rl tasks build"
            )
    counts = [manifest.get(field) for field in ("count", "record_bytes")]
    are_counts = all(type(count) is int and 0 < count < MAX_COUNT for count in counts)
    are_numbers = all(type(manifest.get(field)) is int for field in ("seed", "generator_version"))
    if not are_counts or not are_numbers or not {"sha256", "shape", "names"} <= manifest.keys():
        raise PoolFileError(f"the first line of {path} is damaged; copy or build it again")
    return manifest


def _sha256(manifest: Mapping[str, Any], records: Iterable[Any]) -> str:
    """SHA-256 (hex) of the manifest without its hash, then of the bytes of the records."""
    rest = {key: value for key, value in manifest.items() if key != "sha256"}
    digest = hashlib.sha256(json.dumps(rest, sort_keys=True).encode())
    for chunk in records:
        digest.update(chunk)
    return digest.hexdigest()
