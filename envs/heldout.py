"""Held-out task sets: files that never change, for every reported score.

Flow: `python -m envs.heldout build NAME` generates a set deterministically into
`envs/data/heldout-NAME.json`; `load_heldout(NAME)` reads it and refuses a file whose content
differs from the hash pinned here. All geometries are held out by `envs.split`. Jax-free, and
loading needs no verifier.
"""

import argparse
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from envs.errors import UserError
from envs.solved import Solved, solved_from_json, solved_to_json
from envs.split import canonical_hash, is_heldout
from envs.task_spec import TaskSpec
from envs.verifier import RULES_VERSION

_TASK_FIELDS = ("manifest", "tasks")


class TaskSetError(UserError):
    """A held-out set that is unknown, broken or changed."""


@dataclass(frozen=True)
class HeldoutDefinition:
    """How a set is generated and what its file must hold.

    Attributes:
        width, height, placement_limit, max_blocked: as in the generator's settings.
        families: recipe names; each gets `per_family` tasks.
        seed: seed of the generator; family i uses seed + i.
        sha256: content hash of the committed file.
    """

    width: int
    height: int
    placement_limit: int
    max_blocked: int
    families: tuple[str, ...]
    per_family: int
    seed: int
    sha256: str


HELDOUT_SETS: dict[str, HeldoutDefinition] = {
    "quickstart": HeldoutDefinition(
        width=8,
        height=8,
        placement_limit=24,
        max_blocked=3,
        families=("iron-gear-wheel", "copper-cable", "pipe", "iron-stick"),
        per_family=32,
        seed=8_000,
        sha256="97b88e7ffd71c9b3b11a1eb88b3f313dbc08bb331c9aa76ea89a26a78b4ae5e1",
    ),
    "one-machine-12x12": HeldoutDefinition(
        width=12,
        height=12,
        placement_limit=48,
        max_blocked=6,
        families=("iron-gear-wheel", "copper-cable", "pipe", "iron-stick", "electronic-circuit"),
        per_family=26,
        seed=12_000,
        sha256="fb178b7f9b81b1b7910631d5618db5309c46671a93a9983ba07f24208b826cd5",
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
    return Path(str(resources.files("envs").joinpath("data", f"heldout-{name}.json")))


def load_heldout(name: str, path: Path | None = None) -> HeldoutSet:
    """The set of this name, from its committed file or from a copy at `path`.

    Raises TaskSetError where the name is unknown or the file is missing, broken or changed.
    """
    definition = _definition(name)
    path = path or heldout_path(name)
    advice = f"restore the file from the release, or run: python -m envs.heldout build {name}"
    try:
        content = json.loads(path.read_text())
        manifest, entries = (content[field] for field in _TASK_FIELDS)
        listed = {field: manifest[field] for field in ("name", "rules_version", "sha256")}
    except OSError as error:
        raise TaskSetError(f"cannot read held-out set {path}: {error.strerror}; {advice}") from None
    except (ValueError, KeyError, TypeError) as error:
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


def generate_heldout(name: str, per_family: int) -> list[Solved]:
    """The first tasks of a set, families in turn, each geometry held out and at most once."""
    from envs.generate import GeneratorSettings, generate_pool

    definition = _definition(name)
    seen: set[str] = set()

    def accept(spec: TaskSpec) -> bool:
        geometry = canonical_hash(spec)
        is_new = geometry not in seen and is_heldout(spec)
        seen.add(geometry)
        return is_new

    pools = []
    for number, family in enumerate(definition.families):
        settings = GeneratorSettings(
            definition.width,
            definition.height,
            (family,),
            definition.placement_limit,
            definition.max_blocked,
        )
        pools.append(generate_pool(settings, definition.seed + number, per_family, accept))
    return [solved for row in zip(*pools, strict=True) for solved in row]


def write_heldout(name: str, tasks: Iterable[Solved], path: Path) -> str:
    """Writes a set's file, one task per line, and returns the content hash of its tasks."""
    from envs.generate import GENERATOR_VERSION

    entries = [solved_to_json(solved) for solved in tasks]
    manifest = {
        "name": name,
        "generator_version": GENERATOR_VERSION,
        "rules_version": RULES_VERSION,
        "count": len(entries),
        "families": list(_definition(name).families),
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
    sha256 = write_heldout(name, generate_heldout(name, definition.per_family), path)
    verdict = "as pinned" if sha256 == definition.sha256 else f"but {definition.sha256!r} is pinned"
    print(f"wrote {path}: tasks have SHA-256 {sha256}, {verdict}")


if __name__ == "__main__":
    main()
