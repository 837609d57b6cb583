"""The folder that a run leaves when it ends over numbers that are not finite.

In: a case and the config. Out: `config.yaml`, `dump.json` (what it was, and on which device and
versions) and `arrays.npz` (every leaf under its dotted path), and back. The arrays are read
without pickle, as they lie in the file, and only where type and shape are those of the config.
"""

import json
import shutil
import zipfile
import zlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import jax
import numpy as np

from envs.actions import num_actions
from envs.errors import UserError
from envs.one_line import one_line
from envs.text_file import open_regular, read_text
from envs.types import Board, State, Task
from factorio_rl import __version__, runtime
from factorio_rl.checkpoint_manifest import named_leaves
from factorio_rl.config import Config
from factorio_rl.config_file import dump_config, load_config
from factorio_rl.env_shape import env_shape
from factorio_rl.learner import start_learner
from factorio_rl.losses import Batch
from factorio_rl.network import make_network, trunk_convolution_names
from factorio_rl.non_finite_case import SearchCase, UpdateCase

ABOUT_FILE, CONFIG_FILE, ARRAYS_FILE = "dump.json", "config.yaml", "arrays.npz"

FORMAT_VERSION = 1

MAX_ABOUT_BYTES = 1 << 16
"""More than any `dump.json` has."""


MAX_SHOWN, MAX_WHAT = 80, 500
"""Characters that are repeated."""

_DAMAGED = (
    OSError,
    ValueError,
    LookupError,
    EOFError,
    RuntimeError,  # encrypted, of an unknown method, or nested too deeply
    zipfile.BadZipFile,
    zlib.error,
)


class DumpError(UserError):
    """A folder that is no dump, or a damaged one."""


@dataclass(frozen=True)
class Dump:
    """A case with the config that it belongs to."""

    what: str
    made_with: dict[str, str]  # versions and device
    config: Config
    case: UpdateCase | SearchCase


def write_dump(folder: Path, config: Config, case: UpdateCase | SearchCase, what: str) -> None:
    """Writes the folder, whole or not at all, in the place of one of this name. Raises OSError."""
    fresh = folder.with_name(f"{folder.name}.writing")
    about = {
        "format": FORMAT_VERSION,
        "kind": _kind(case),
        "what": what,
        "made_with": {"factorio_rl": __version__, **runtime.made_with()},
    }
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        (fresh / CONFIG_FILE).write_text(dump_config(config), encoding="utf-8")
        (fresh / ABOUT_FILE).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        with (fresh / ARRAYS_FILE).open("wb") as file:
            np.savez(file, **named_leaves(jax.device_get(case)))
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def read_dump(folder: Path) -> Dump:
    """Reads a folder that `write_dump` wrote.

    Raises:
        UserError: it is not one, is of another version, or its config cannot be read.
    """
    about = _read_about(folder)
    config = load_config(folder / CONFIG_FILE)
    like = _like(config, about["kind"])
    case = _read_arrays(folder / ARRAYS_FILE, like)
    return Dump(about["what"], about["made_with"], config, case)


def _kind(case: UpdateCase | SearchCase) -> Literal["update", "search"]:
    return "update" if isinstance(case, UpdateCase) else "search"


def _read_about(folder: Path) -> dict[str, Any]:
    file = folder / ABOUT_FILE
    try:
        about = json.loads(read_text(file, MAX_ABOUT_BYTES))
        if about["format"] != FORMAT_VERSION or about["kind"] not in ("update", "search"):
            raise ValueError(f"it is of another version, this one reads {FORMAT_VERSION}")
        made_with = {
            one_line(str(name), MAX_SHOWN): one_line(str(value), MAX_SHOWN)
            for name, value in about["made_with"].items()
        }
        what = one_line(str(about["what"]), MAX_WHAT)
        return {"kind": about["kind"], "what": what, "made_with": made_with}
    except KeyError as error:
        raise _refusal(file, f"it has no {error}") from None
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise _refusal(file, error) from None


def _read_arrays(file: Path, like: Any) -> Any:
    try:
        with open_regular(file) as opened, zipfile.ZipFile(opened) as archive:
            arrays = [_read_array(archive, *expected) for expected in named_leaves(like).items()]
    except _DAMAGED as error:
        raise _refusal(file, error) from None
    return jax.tree.unflatten(jax.tree.structure(like), arrays)


def _read_array(archive: zipfile.ZipFile, name: str, like: jax.ShapeDtypeStruct) -> np.ndarray:
    """One array. Raises ValueError, before it is read, if it has another type or shape."""
    with archive.open(f"{name}.npy") as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{name} is in another format")
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
        if (shape, dtype, is_fortran) != (like.shape, like.dtype, False):
            raise ValueError(
                f"{name} is {dtype}{list(shape)}, must be {like.dtype}{list(like.shape)}"
            )
        size_bytes = like.size * like.dtype.itemsize
        return np.frombuffer(file.read(size_bytes), dtype).reshape(shape)


def _refusal(file: Path, reason: object) -> DumpError:
    text = " ".join(str(reason).split())
    return DumpError(
        f"cannot read {file}: {text}; give the folder that the message of the run names"
    )


def _like(config: Config, kind: str) -> UpdateCase | SearchCase:
    """The types and shapes of a case; nothing is computed."""
    network, rows = make_network(config.network), _Rows(config, kind)
    key = jax.eval_shape(lambda: jax.random.key(0))
    learner = jax.eval_shape(partial(start_learner, config, network), key)
    num_convolutions = len(trunk_convolution_names(config.network.blocks))
    scales: Any = jax.ShapeDtypeStruct((num_convolutions,), np.dtype(np.float32))
    states, flags = rows.states(), rows.of(np.bool_)
    if kind == "update":
        env, values = config.env, rows.of(np.float32)
        policy = rows.of(np.float32, num_actions(env.height, env.width))
        batch: Any = Batch(states, policy, flags, values, flags)
        return UpdateCase(learner.params, learner.optimizer, batch, scales)
    in_fp8: Any = jax.ShapeDtypeStruct((), np.dtype(np.bool_))
    key_data = jax.eval_shape(jax.random.key_data, key)
    return SearchCase(learner.params, scales, in_fp8, states, flags, key_data)


class _Rows:
    """Abstract arrays over the rows of a case."""

    def __init__(self, config: Config, kind: str) -> None:
        self._shape = env_shape(config)
        self._rows = config.learner.batch_size if kind == "update" else config.actor.num_envs

    def of(self, dtype: type, *shape: int) -> Any:
        return jax.ShapeDtypeStruct((self._rows, *shape), np.dtype(dtype))

    def states(self) -> State:
        shape = self._shape
        cells = self.of(np.uint8, shape.height, shape.width)
        number, ports = self.of(np.int32), self.of(np.int32, shape.max_ports)
        items = self.of(np.int32, shape.recipe_slots, shape.item_slots)
        task = Task(
            blocked=self.of(np.bool_, shape.height, shape.width),
            port_cell=ports,
            port_direction=ports,
            port_is_sink=self.of(np.bool_, shape.max_ports),
            port_items=self.of(np.int32, shape.max_ports, 2),
            ingredients=items,
            products=items,
            craft_ticks=self.of(np.int32, shape.recipe_slots),
            target_slot=number,
            target_numerator=number,
            target_denominator=number,
            placement_limit=number,
        )
        return State(task, Board(cells, cells, number, self.of(np.bool_)))
