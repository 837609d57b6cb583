"""A trained agent as one small file: parameters in bfloat16, settings, origin and scores.

In: an agent. Out: a safetensors file, and back. A file may be hostile: its sizes, settings, shapes
and digests are checked before anything is computed with it. What a file says of the machine that
trained (cache, pool, Weights & Biases) is neither written nor believed.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import ValidationError

from envs.atomic_file import write_atomically
from envs.errors import UserError
from envs.heldout import RULES_VERSION
from envs.one_line import one_line
from envs.text_file import open_regular
from factorio_rl import runtime
from factorio_rl.checkpoint_manifest import named_leaves
from factorio_rl.config import Config
from factorio_rl.config_sections import LoggingConfig, RunConfig
from factorio_rl.env_shape import env_shape
from factorio_rl.network import Params, init_params, make_network
from factorio_rl.run_directory import RunDirectory
from factorio_rl.run_parameters import load_run_parameters

SHIPPED_AGENT = Path(__file__).parent / "data" / "modules-12x12.safetensors"
"""The agent that is installed with the program."""

DESCRIPTION = "factorio_rl_agent"
"""The one entry of the file's metadata: JSON. With more of them equal agents would give different
files, since safetensors writes entries in any order."""

FORMAT_VERSION = 1
"""Raised when parameters get another structure, or observations or actions another meaning."""

MAX_BYTES = 64 << 20
"""Longest file that is read: 30 million parameters, sixty times the 64x6 network."""

MAX_HEADER_BYTES = 1 << 20
"""Longest header: two hundred times one with every setting and the scores of a run."""

MAX_SHOWN = 100

_ENTRIES = ("config", "facts", "format_version", "rules_version", "sha256")
_DIGEST = "description_sha256"
_BF16 = np.dtype(jnp.bfloat16)


class AgentFileError(UserError):
    """An agent file that cannot be read or written."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"agent file {path}: {reason}")


@dataclass(frozen=True)
class Agent:
    """Trained parameters and what is needed to play with them.

    Attributes:
        config: its settings.
        params: float32.
        label: what messages call it.
        facts: scores and origin, JSON; `env_steps` is always there.
    """

    config: Config
    params: Params
    label: str
    facts: Mapping[str, Any]


def load_agent(
    run_dir: Path | None,
    agent_path: Path | None,
    *,
    newest: bool = False,
    tell: Callable[[str], None],
) -> Agent:
    """The agent of a run directory, of a file, or the shipped one, its parameters on the device.

    Its search runs on any device, whatever tree it was trained with.

    Args:
        newest: of a run directory the newest checkpoint, not the best by score.
        tell: gets warnings.

    Raises:
        UserError: there is no such agent, or it cannot be used.
    """
    path = agent_file_path(run_dir, agent_path, newest=newest)
    runtime.quiet_libraries()
    runtime.require_device()
    if path is not None:
        agent = read_agent_file(path)
        runtime.enable_compilation_cache(agent.config.run.compilation_cache)
        params = jax.device_put(agent.params)
        return Agent(with_any_tree(agent.config), params, agent.label, agent.facts)
    assert run_dir is not None
    directory = RunDirectory(run_dir)
    config = directory.require_config()
    directory.require_state_version()
    runtime.enable_compilation_cache(config.run.compilation_cache)
    loaded = load_run_parameters(directory, config, newest=newest, tell=tell)
    facts = {"checkpoint": loaded.step, "env_steps": loaded.env_steps}
    label = f"checkpoint {loaded.step} of {run_dir}"
    return Agent(with_any_tree(config), loaded.params, label, facts)


def agent_file_path(
    run_dir: Path | None, agent_path: Path | None, *, newest: bool = False
) -> Path | None:
    """The agent file that is asked for; None where it is a run directory.

    Raises:
        UserError: the arguments exclude each other, or there is no shipped agent.
    """
    if run_dir is not None:
        if agent_path is not None:
            raise UserError("got --run-dir and --agent; give one of them")
        return None
    if newest:
        raise UserError(
            "an agent file has no other checkpoints; give --run-dir, or no --checkpoint"
        )
    if agent_path is None and not SHIPPED_AGENT.exists():
        raise UserError(
            f"there is no trained agent in this installation ({SHIPPED_AGENT}); give the directory "
            "of a run with --run-dir, or an agent file with --agent"
        )
    return agent_path or SHIPPED_AGENT


def with_any_tree(config: Config) -> Config:
    """What was trained with the kernel tree can play where there is no GPU."""
    return config.model_copy(update={"search": config.search.model_copy(update={"tree": "auto"})})


def write_agent_file(path: Path, agent: Agent) -> None:
    """Writes an agent, whole or not at all, with parameters rounded to nearest bfloat16.

    Raises:
        AgentFileError: a parameter is not finite in bfloat16, there are too many of them, or the
            file cannot be written.
    """
    from safetensors.numpy import save

    tensors = _rounded(agent.params)
    if not all(_is_finite(array) for array in tensors.values()):
        raise AgentFileError(path, "not written: the parameters are not finite; train them anew")
    entries = {
        "format_version": FORMAT_VERSION,
        "rules_version": RULES_VERSION,
        "sha256": _digest(tensors),
        "facts": dict(agent.facts),
        "config": _portable(agent.config).model_dump(mode="json"),
    }
    description = {**entries, _DIGEST: _description_digest(entries)}
    data = save(tensors, {DESCRIPTION: json.dumps(description, allow_nan=False)})
    if len(data) > MAX_BYTES:
        raise AgentFileError(path, f"not written: {len(data):,} bytes; at most {MAX_BYTES:,} fit")
    try:
        write_atomically(path, [data])
    except OSError as error:
        reason = f"cannot be written: {error.strerror}; give a path that can be written"
        raise AgentFileError(path, reason) from None


def read_agent_file(path: Path) -> Agent:
    """The agent of a file, its parameters as float32 numpy arrays. No device is used.

    Raises:
        AgentFileError: it cannot be read, is damaged, of another version or of other rules.
    """
    data = _read(path)
    entries, tensors = _parse(path, data)
    config = _config(path, entries["config"])
    params = _params(path, config, tensors)
    if _digest(_rounded(params)) != entries["sha256"]:
        raise AgentFileError(path, "its parameters were changed: their SHA-256 differs")
    if not all(_is_finite(leaf) for leaf in jax.tree.leaves(params)):
        raise AgentFileError(path, "its parameters are not all finite; they are of no use")
    label = f"{one_line(path.name, MAX_SHOWN)} ({entries['sha256'][:12]})"
    return Agent(config, params, label, entries["facts"])


def parameters_sha256(params: Params) -> str:
    """The SHA-256 that a file has of these parameters: of names, shapes and bfloat16 numbers."""
    return _digest(_rounded(params))


def _read(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        reason = f"cannot be read ({error.strerror}); python -m factorio_rl pack makes one"
        raise AgentFileError(path, reason) from None
    if len(data) > MAX_BYTES:
        raise AgentFileError(path, f"has more than {MAX_BYTES:,} bytes, which no agent has")
    return data


def _parse(path: Path, data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The description and the tensors."""
    from safetensors import SafetensorError, deserialize

    length = int.from_bytes(data[:8], "little")
    if length > MAX_HEADER_BYTES:
        raise AgentFileError(path, "is no agent file: python -m factorio_rl pack makes one")
    try:
        tensors = dict(deserialize(data))
        header = json.loads(data[8 : 8 + length])
    except (SafetensorError, ValueError) as error:
        reason = one_line(str(error), MAX_SHOWN)
        raise AgentFileError(path, f"is no safetensors file, or was cut off ({reason})") from None
    text = (header.get("__metadata__") or {}).get(DESCRIPTION)
    if text is None:
        raise AgentFileError(path, "holds no agent; python -m factorio_rl pack makes such files")
    return _entries(path, text), tensors


def _entries(path: Path, text: str) -> dict[str, Any]:
    """The description of an agent, intact and of this version."""
    try:
        entries = dict(json.loads(text, parse_constant=_finite, parse_float=_finite))
        version, own = entries["format_version"], entries.pop(_DIGEST, None)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise AgentFileError(path, "its description cannot be read") from None
    if version != FORMAT_VERSION:
        raise AgentFileError(
            path,
            f"has format version {one_line(str(version), MAX_SHOWN)}, and this program reads "
            f"{FORMAT_VERSION}; use the version of the program that made it",
        )
    if sorted(entries) != sorted(_ENTRIES) or own != _description_digest(entries):
        raise AgentFileError(path, "its description was changed: its SHA-256 differs")
    if entries["rules_version"] != RULES_VERSION:
        raise AgentFileError(
            path,
            f"was trained for rules {one_line(str(entries['rules_version']), MAX_SHOWN)}, and this "
            f"program has {RULES_VERSION}; use the version of the program that made it",
        )
    facts = entries["facts"]
    env_steps = facts.get("env_steps") if isinstance(facts, dict) else None
    if type(env_steps) is not int or not 0 <= env_steps < 2**63:
        raise AgentFileError(path, "does not say where it is from; pack it anew")
    return entries


def _config(path: Path, values: object) -> Config:
    try:
        return _portable(Config.model_validate(values))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = one_line(".".join(map(str, first["loc"])), MAX_SHOWN)
        what = one_line(first["msg"], MAX_SHOWN)
        raise AgentFileError(
            path,
            f"its settings are not those of this program ({f'{place}: ' if place else ''}{what}); "
            "use the version of the program that made it",
        ) from None


def _params(path: Path, config: Config, tensors: Mapping[str, Any]) -> Params:
    """The parameters, after names, types and shapes proved to be those of the config's network."""
    plain = config.network.model_copy(update={"compute_dtype": "float32"})
    wanted = jax.eval_shape(
        lambda: init_params(make_network(plain), env_shape(config), jax.random.key(0))
    )
    expected = {name: list(leaf.shape) for name, leaf in named_leaves(wanted).items()}
    found = {name: list(tensor["shape"]) for name, tensor in tensors.items()}
    if found != expected or any(tensor["dtype"] != "BF16" for tensor in tensors.values()):
        differing = sorted(
            name
            for name in {*found, *expected}
            if found.get(name) != expected.get(name) or tensors[name]["dtype"] != "BF16"
        )
        raise AgentFileError(
            path,
            f"its parameters are not those of its network: {len(differing)} tensors differ, the "
            f"first is {one_line(differing[0], MAX_SHOWN)}",
        )
    leaves = [
        np.frombuffer(tensors[name]["data"], _BF16).reshape(shape).astype(np.float32)
        for name, shape in expected.items()
    ]
    return jax.tree.unflatten(jax.tree.structure(wanted), leaves)


def _rounded(params: Params) -> dict[str, np.ndarray]:
    """The parameters by name, rounded to nearest."""
    leaves = named_leaves(jax.device_get(params))
    return {name: np.ascontiguousarray(leaf).astype(_BF16) for name, leaf in leaves.items()}


def _is_finite(array: np.ndarray) -> bool:
    return bool(np.isfinite(array.astype(np.float32)).all())


def _digest(tensors: Mapping[str, np.ndarray]) -> str:
    total = hashlib.sha256()
    for name, array in sorted(tensors.items()):
        total.update(f"{name} {array.shape}\n".encode())
        total.update(array.reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def _description_digest(entries: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(dict(entries), sort_keys=True).encode()).hexdigest()


def _portable(config: Config) -> Config:
    """The config without what it says of a machine: a hostile file must not choose folders."""
    tasks = config.tasks.model_copy(update={"pool": None})
    update = {"run": RunConfig(seed=config.run.seed), "logging": LoggingConfig(), "tasks": tasks}
    return config.model_copy(update=update)


def _finite(text: str) -> float:
    """A number of JSON; Python would also read `1e999` and `NaN`. Raises ValueError."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number
