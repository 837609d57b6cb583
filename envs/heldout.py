"""Held-out task sets: files that never change, for every reported score.

Flow: `python -m envs.heldout build NAME` generates a set deterministically into
`envs/data/NAME.json`; `load_heldout(NAME)` reads it and refuses a file whose content differs from
the hash pinned here. All tasks are held out by `envs.split`. Jax-free, and loading needs no
verifier.
"""

import argparse
import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from envs.errors import UserError
from envs.families import FAMILIES
from envs.solved import Solved, solved_from_json, solved_to_json
from envs.split import in_heldout_stratum
from envs.verifier import RULES_VERSION

_FILE_FIELDS = ("manifest", "tasks")


class TaskSetError(UserError):
    """A held-out set that is unknown, broken or changed."""


@dataclass(frozen=True)
class HeldoutDefinition:
    """How a set is generated and what its file must hold.

    Attributes:
        width, height, placement_limit, min_blocked, max_blocked: as in the generator's settings.
        families: names; they take turns.
        count: number of tasks.
        seed: seed of the generator.
        sha256: content hash of the committed file.
    """

    width: int
    height: int
    placement_limit: int
    min_blocked: int
    max_blocked: int
    families: tuple[str, ...]
    count: int
    seed: int
    sha256: str


HELDOUT_SETS: dict[str, HeldoutDefinition] = {
    "quickstart": HeldoutDefinition(
        width=8,
        height=8,
        placement_limit=24,
        min_blocked=0,
        max_blocked=3,
        families=("gear", "cable", "pipe", "stick"),
        count=128,
        seed=8_000,
        sha256="e230beee69349b1cdde901b9b6acb632f9e6bc149d525bc329533dfefb2cb7a5",
    ),
    "heldout-v1": HeldoutDefinition(
        width=12,
        height=12,
        placement_limit=96,
        min_blocked=0,
        max_blocked=6,
        families=tuple(FAMILIES),
        count=20 * len(FAMILIES),
        seed=12_000,
        sha256="e1b8a9bfbb3bec3d1ec860f6953e09f8d54150fe08bc0373dbda7ff5802942f2",
    ),
    "heldout-hard-v1": HeldoutDefinition(
        width=12,
        height=12,
        placement_limit=96,
        min_blocked=6,
        max_blocked=14,
        families=tuple(name for name, family in FAMILIES.items() if len(family.recipes) > 1),
        count=192,
        seed=13_000,
        sha256="85ab559b256a82dce1820fd188f60c6331b6155206fc5976abe4ff845b728ba7",
    ),
}
"""Known sets by name."""


@dataclass(frozen=True)
class HeldoutSet:
    """A loaded set: its name, its tasks with references, the content hash of its tasks."""

    name: str
    tasks: tuple[Solved, ...]
    sha256: str


def heldout_path(name: str) -> Path:
    """Where the committed file of a set lies."""
    return Path(str(resources.files("envs").joinpath("data", f"{name}.json")))


def load_heldout(name: str, path: Path | None = None) -> HeldoutSet:
    """The set of this name, from its committed file or from a copy at `path`.

    Raises TaskSetError where the name is unknown or the file is missing, broken or changed.
    """
    definition = _definition(name)
    path = path or heldout_path(name)
    advice = f"restore the file from the release, or run: python -m envs.heldout build {name}"
    try:
        content = json.loads(path.read_text())
        manifest, entries = (content[field] for field in _FILE_FIELDS)
        listed = {field: manifest[field] for field in ("name", "rules_version", "sha256")}
    except OSError as error:
        raise TaskSetError(f"cannot read held-out set {path}: {error.strerror}; {advice}") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise TaskSetError(f"{path} is no held-out set ({error!r}); {advice}") from None
    found = content_hash(entries)
    expected = {"name": name, "rules_version": RULES_VERSION, "sha256": definition.sha256}
    if found != definition.sha256 or listed != expected:
        raise TaskSetError(
            f"held-out set {path} differs from this version's: got tasks with SHA-256 {found} "
            f"and a manifest with {listed}, expected {expected}; {advice}"
        )
    return HeldoutSet(name, tuple(solved_from_json(entry) for entry in entries), found)


def content_hash(entries: list[dict[str, Any]]) -> str:
    """SHA-256 (hex) of the canonical JSON of a file's tasks."""
    canonical = json.dumps(entries, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def generate_heldout(name: str, count: int, workers: int = 1) -> list[Solved]:
    """The first `count` tasks of a set, families in turn, each geometry at most once."""
    from envs.generate import GeneratorSettings
    from envs.pool_generation import generate_pool

    definition = _definition(name)
    settings = GeneratorSettings(
        definition.width,
        definition.height,
        definition.families,
        definition.placement_limit,
        definition.max_blocked,
        definition.min_blocked,
    )
    return generate_pool(settings, definition.seed, count, held_out=True, workers=workers)


def write_heldout(name: str, tasks: Sequence[Solved], path: Path) -> str:
    """Writes a set's file, one task per line, and returns the content hash of its tasks."""
    from envs.generate import GENERATOR_VERSION

    entries = [solved_to_json(solved) for solved in tasks]
    manifest = {
        "name": name,
        "generator_version": GENERATOR_VERSION,
        "rules_version": RULES_VERSION,
        "count": len(entries),
        "families": Counter(solved.spec.family for solved in tasks),
        "in_heldout_strata": sum(in_heldout_stratum(solved.spec) for solved in tasks),
        "sha256": content_hash(entries),
    }
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    path.write_text(f'{{"manifest": {json.dumps(manifest)},\n"tasks": [\n{lines}\n]}}\n')
    return manifest["sha256"]


def _definition(name: str) -> HeldoutDefinition:
    if name not in HELDOUT_SETS:
        raise TaskSetError(f"unknown held-out set {name!r}; known are {', '.join(HELDOUT_SETS)}")
    return HELDOUT_SETS[name]


def main() -> None:
    """Command line: build one set's file and say whether its hash is the pinned one."""
    parser = argparse.ArgumentParser(prog="python -m envs.heldout", description=main.__doc__)
    parser.add_argument("command", choices=["build"])
    parser.add_argument("name", choices=sorted(HELDOUT_SETS))
    name = parser.parse_args().name
    definition = HELDOUT_SETS[name]
    path = heldout_path(name)
    tasks = generate_heldout(name, definition.count, os.cpu_count() or 1)
    sha256 = write_heldout(name, tasks, path)
    verdict = "as pinned" if sha256 == definition.sha256 else f"but {definition.sha256!r} is pinned"
    print(f"wrote {path}: tasks have SHA-256 {sha256}, {verdict}")


if __name__ == "__main__":
    main()
