"""How much memory the largest arrays take and how much there is, before anything is allocated.

In: a config. Out: a refusal that names the setting, where the replay or the tree of a search cannot
fit. An allocation that the system grants and cannot keep ends the process without a word, so none
is tried.
"""

import os
from functools import partial
from pathlib import Path

import jax

from envs.actions import num_actions
from envs.errors import UserError
from factorio_rl.config import Config
from factorio_rl.replay import empty_replay

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


class MemoryNeedError(UserError):
    """Settings that need more memory than there is."""


def require_memory(config: Config, available: int | None) -> None:
    """Raises MemoryNeedError if the replay or a tree alone takes more than the `available` bytes.

    With None, where it is not known, nothing is refused.
    """
    if available is None:
        return
    _require_replay(config, available)
    actions = num_actions(config.env.height, config.env.width)
    for section, batch_name, batch in (
        ("search", "actor.num_envs", config.actor.num_envs),
        ("eval", "eval.num_tasks", config.eval.num_tasks or 1),
    ):
        num_simulations = getattr(config, section).num_simulations
        needed = batch * tree_bytes(num_simulations, actions)
        if needed > available:
            raise MemoryNeedError(
                f"{section}.num_simulations is {num_simulations:,} and {batch_name} {batch:,}, for "
                f"which the tree of a search takes {memory_text(needed)} or more; there are "
                f"{memory_text(available)}. Lower one of them"
            )


def tree_bytes(num_simulations: int, actions: int) -> int:
    """Bytes of the float32 logits of all nodes of one search, the largest part of its tree."""
    return (num_simulations + 1) * actions * 4


def _require_replay(config: Config, available: int) -> None:
    capacity, needed = config.replay.capacity, replay_bytes(config)
    if needed <= available:
        return
    fits = available // 2 * capacity // needed
    raise MemoryNeedError(
        f"replay.capacity is {capacity:,}, for which the replay takes {memory_text(needed)} "
        f"({needed:,} bytes); there are {memory_text(available)}. Lower it: {fits:,} rows take "
        "half of that"
    )


def replay_bytes(config: Config) -> int:
    """Bytes of the replay buffer. Nothing is allocated."""
    env = config.env
    made = jax.eval_shape(
        partial(
            empty_replay,
            config.replay.capacity,
            env.height,
            env.width,
            num_actions(env.height, env.width),
        )
    )
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(made))


def available_bytes() -> int | None:
    """Memory that jax's device may use, bytes; on a CPU all of the machine or container."""
    device = jax.devices()[0]
    if device.platform == "cpu":
        return host_bytes()
    return (device.memory_stats() or {}).get("bytes_limit")


def host_bytes(root: Path = Path("/")) -> int:
    """Memory of the machine, bytes, or the limit of the control group if that is lower.

    `root` is the folder that `proc` and `sys` are in.
    """
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([pages, *_group_limits(root)])


def _group_limits(root: Path) -> list[int]:
    """Limits of this process's control group and those around it, in either version, bytes."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    limits = []
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        top, name = (
            (root / "sys/fs/cgroup/memory", "memory.limit_in_bytes")
            if controllers
            else (root / "sys/fs/cgroup", "memory.max")
        )
        inside = Path(group.lstrip("/"))
        for folder in (inside, *inside.parents):
            limits += _limit(top / folder / name)
    return limits


def _limit(file: Path) -> list[int]:
    """The number in a file; nothing where there is no limit."""
    try:
        return [int(file.read_text(encoding="utf-8"))]
    except (OSError, ValueError):
        return []


def memory_text(size: int) -> str:
    """A number of bytes in a unit that suits it, as in 1.5 GiB."""
    amount, unit = float(size), 0
    while amount >= 1024 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.4g} {_UNITS[unit]}"
