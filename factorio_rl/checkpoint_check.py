"""Looks at a checkpoint before its arrays are read: its files, and the shapes that it declares.

In: a checkpoint's folder and the pytrees that are wanted. Out: nothing, or an error that names the
leaf. A checkpoint from elsewhere can declare any shape and hold any link: what is read stays
within a small multiple of what is wanted, and within the folder.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

import jax
from orbax.checkpoint import v1 as ocp

from envs.errors import UserError
from factorio_rl.checkpoint_manifest import named_leaves

MAX_RATIO = 2
"""Stored bytes over the bytes of the arrays; compression makes it less than 1."""

SLACK_BYTES = 16 << 20
"""For indices and descriptions, which small arrays have more of than numbers."""

PRINTED_DIFFERENCES = 5


class CheckpointError(UserError):
    """A checkpoint that is asked for cannot be loaded."""

    exit_code = 4


def require_fit(folder: Path, like: Mapping[str, Any]) -> None:
    """Raises CheckpointError if the parts named in `like` do not have its leaves.

    Names, types and shapes are compared, and the files may not be far larger than the arrays.
    """
    try:
        _require_bounded(folder, like)
        found = ocp.checkpointables_metadata(str(folder)).metadata
        differences = [line for name in like for line in _differences(name, like, found)]
    except ValueError as error:
        raise CheckpointError(f"cannot load checkpoint {folder}: {error}") from None
    except Exception as error:
        raise CheckpointError(
            f"cannot load checkpoint {folder}: its description cannot be read: {error}"
        ) from error
    if differences:
        more = len(differences) - PRINTED_DIFFERENCES
        listed = "; ".join(differences[:PRINTED_DIFFERENCES])
        raise CheckpointError(
            f"cannot load checkpoint {folder}: {listed}{f'; and {more} more' if more > 0 else ''}"
        )


def _require_bounded(folder: Path, like: Mapping[str, Any]) -> None:
    """Raises ValueError for anything but plain files and folders, or for too many bytes."""
    wanted_bytes = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(dict(like)))
    allowed_bytes = MAX_RATIO * wanted_bytes + SLACK_BYTES
    found_bytes = 0
    for place, folders, names in os.walk(folder):
        if Path(place) == folder:
            folders[:] = [name for name in folders if name in like]
        for name in (*folders, *names):
            status = os.lstat(Path(place, name))
            if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
                raise ValueError(f"{Path(place, name)} is a link or no file")
            found_bytes += status.st_size
    if found_bytes > allowed_bytes:
        raise ValueError(
            f"it has {found_bytes:,} bytes, its arrays are to have {wanted_bytes:,}: "
            "another program wrote it, or it belongs to another network"
        )


def _differences(name: str, like: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    """What one part lacks, has beyond, or has in another type or shape."""
    if name not in found:
        yield f"part {name} is missing"
        return
    wanted, there = _leaves(like[name]), _leaves(found[name])
    for path, leaf in wanted.items():
        place = f"{name}.{path}" if path else name
        if path not in there:
            yield f"{place} is missing"
            continue
        entry = there[path]
        if (entry.shape, entry.dtype) != (leaf.shape, leaf.dtype):
            yield (
                f"{place} is {entry.dtype}{list(entry.shape)} there, "
                f"{leaf.dtype}{list(leaf.shape)} is expected"
            )
        # A chunk is unpacked whole, so a small file could stand for any number of bytes.
        elif prod(entry.storage_metadata.chunk_shape) > max(prod(leaf.shape), 1):
            yield f"{place} is stored in chunks larger than itself"
    for path in there.keys() - wanted.keys():
        yield f"{name}.{path} is not expected"


def _leaves(tree: Any) -> dict[str, Any]:
    """Leaves with a shape, by their place."""
    return named_leaves(tree, is_leaf=lambda leaf: hasattr(leaf, "dtype"))
