"""What a checkpoint says of itself: which state it is, how good, and digests of all its numbers.

In: named pytrees and figures. Out: `manifest.json` beside the arrays, and back. Orbax loads
changed bytes without a word, so every part has a digest of its own here, and the manifest one of
itself.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import jax
import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from envs.atomic_file import write_text_atomically
from envs.text_file import read_text

MANIFEST_FILE = "manifest.json"

MANIFEST_VERSION = 1

MAX_BYTES = 1 << 20
"""More than any manifest has."""

DIGEST_BYTES = 32


@dataclass(frozen=True)
class Manifest:
    """Description of one checkpoint.

    Attributes:
        step: learner updates, its name.
        chunk: chunks of self-play made.
        score: evaluation score of its parameters, None before they are evaluated.
        digests: hexadecimal digest of each part.
        fingerprint: settings and task set that the state belongs to, by dotted name.
        made_with: versions and device that computed it.
    """

    __pydantic_config__ = ConfigDict(strict=True, extra="forbid")

    step: int
    chunk: int
    score: Annotated[float, Field(ge=0, le=1)] | None
    digests: Mapping[str, str]
    fingerprint: Mapping[str, Any]
    made_with: Mapping[str, str]


_MANIFEST = TypeAdapter(Manifest)


def digest(tree: Any) -> str:
    """BLAKE2b of every leaf of a pytree: its path, type, shape and bytes."""
    total = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for name, leaf in named_leaves(jax.device_get(tree)).items():
        array = np.ascontiguousarray(leaf)
        total.update(f"{name} {array.dtype} {np.shape(leaf)}\n".encode())
        total.update(array.reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def named_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> dict[str, Any]:
    """The leaves of a pytree by their place; what `is_leaf` holds of is not looked into."""
    paths = jax.tree_util.tree_leaves_with_path(tree, is_leaf=is_leaf)
    return {jax.tree_util.keystr(path, simple=True, separator="."): leaf for path, leaf in paths}


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Writes the manifest of a checkpoint's folder, whole or not at all. Raises OSError."""
    content = {"version": MANIFEST_VERSION, **asdict(manifest)}
    text = json.dumps({**content, "digest": _own_digest(content)}, indent=1)
    write_text_atomically(folder / MANIFEST_FILE, text + "\n")


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a checkpoint's folder.

    Raises:
        ValueError: it cannot be read, is damaged, or of another version.
    """
    text = read_text(folder / MANIFEST_FILE, MAX_BYTES)
    try:
        content = json.loads(text)
        own = content.pop("digest")
        intact = own == _own_digest(content)
        version = content.pop("version")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        intact, version, content = False, None, {}
    if not intact:
        raise ValueError(f"its {MANIFEST_FILE} was changed or cut off")
    if version != MANIFEST_VERSION:
        raise ValueError(f"its {MANIFEST_FILE} is of version {version}, not {MANIFEST_VERSION}")
    try:
        return _MANIFEST.validate_json(json.dumps(content))
    except ValidationError:
        raise ValueError(f"its {MANIFEST_FILE} does not say what it should") from None


def set_score(folder: Path, score: float) -> None:
    """Puts the score of an evaluation into a manifest. Raises OSError, ValueError."""
    write_manifest(folder, replace(read_manifest(folder), score=score))


def _own_digest(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).hexdigest()
