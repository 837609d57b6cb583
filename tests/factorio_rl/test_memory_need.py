"""The replay's size is known before it is made, and one that cannot fit is refused."""

from pathlib import Path

import jax
import pytest

from envs.actions import num_actions
from factorio_rl import memory_need
from factorio_rl.config import Config
from factorio_rl.config_sections import LARGEST_COUNT
from factorio_rl.memory_need import (
    MemoryNeedError,
    available_bytes,
    host_bytes,
    memory_text,
    replay_bytes,
    require_memory,
    tree_bytes,
)
from factorio_rl.replay import empty_replay


def config_of(capacity: int, side: int = 12) -> Config:
    return Config.model_validate(
        {"replay": {"capacity": capacity}, "env": {"width": side, "height": side}}
    )


@pytest.mark.parametrize(("capacity", "side"), [(60_000, 8), (65_001, 12)])
def test_size_is_that_of_the_replay_as_it_is_made(capacity: int, side: int) -> None:
    made = empty_replay(capacity, side, side, num_actions(side, side))
    size = sum(leaf.nbytes for leaf in jax.tree.leaves(made))
    assert replay_bytes(config_of(capacity, side)) == size


def test_size_of_the_largest_replay_that_a_config_can_ask_for_is_known() -> None:
    # Rows are alike; only the cursor is there once.
    row = replay_bytes(config_of(100_001)) - replay_bytes(config_of(100_000))
    assert replay_bytes(config_of(LARGEST_COUNT)) == row * LARGEST_COUNT + 4


def test_replay_above_the_memory_is_refused_with_the_figures() -> None:
    config = config_of(1_000_000)
    needed = replay_bytes(config)
    require_memory(config, needed)
    require_memory(config, None)
    with pytest.raises(MemoryNeedError) as refused:
        require_memory(config, needed - 1)
    message = str(refused.value)
    assert "\n" not in message
    assert message.startswith("replay.capacity is 1,000,000,")
    assert f"{needed:,} bytes" in message
    assert refused.value.exit_code == 2


def test_the_capacity_that_is_named_takes_half_of_the_memory() -> None:
    row = replay_bytes(config_of(100_001)) - replay_bytes(config_of(100_000))
    with pytest.raises(MemoryNeedError, match=r"Lower it: 250,000 rows take half"):
        require_memory(config_of(1_000_000), 500_000 * row + 4)


def group_files(root: Path, groups: str, **limits: str) -> Path:
    """A folder with the files in which Linux tells limits; `/` is `__` in their names."""
    for name, text in {"proc__self__cgroup": groups, **limits}.items():
        file = root / "/".join(name.split("__"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def test_machine_without_limits_has_all_its_memory(tmp_path: Path) -> None:
    total = host_bytes(tmp_path)
    kilobytes = int(Path("/proc/meminfo").read_text().split()[1])
    assert total == kilobytes * 1024
    unlimited = {"sys__fs__cgroup__memory.max": "max\n"}
    assert host_bytes(group_files(tmp_path, "0::/\n", **unlimited)) == total


def test_limit_of_a_surrounding_group_counts(tmp_path: Path) -> None:
    limits = {
        "sys__fs__cgroup__a__b__memory.max": "9000\n",
        "sys__fs__cgroup__a__memory.max": "7000\n",
        "sys__fs__cgroup__memory.max": "max\n",
    }
    assert host_bytes(group_files(tmp_path, "0::/a/b\n", **limits)) == 7000


def test_limit_of_the_first_version_of_groups_counts(tmp_path: Path) -> None:
    limits = {"sys__fs__cgroup__memory__a__memory.limit_in_bytes": "5000\n"}
    groups = "5:cpu,cpuacct:/a\n4:memory:/a\n"
    assert host_bytes(group_files(tmp_path, groups, **limits)) == 5000


def test_memory_of_the_device_is_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gpu:
        platform = "gpu"
        stats: dict[str, int] | None = None

        def memory_stats(self) -> dict[str, int] | None:
            return self.stats

    gpu = Gpu()
    monkeypatch.setattr(jax, "devices", lambda: [gpu])
    assert available_bytes() is None
    gpu.stats = {"bytes_limit": 1234, "bytes_in_use": 5}
    assert available_bytes() == 1234
    gpu.platform = "cpu"
    monkeypatch.setattr(memory_need, "host_bytes", lambda: 77)
    assert available_bytes() == 77


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (20 * 2**40, "20 TiB")],
)
def test_sizes_in_words(size: int, text: str) -> None:
    assert memory_text(size) == text


@pytest.mark.parametrize(
    ("section", "batch"), [("search", "actor.num_envs"), ("eval", "eval.num_tasks")]
)
def test_search_tree_above_the_memory_is_refused_with_both_settings(
    section: str, batch: str
) -> None:
    settings = {"actor": {"num_envs": 64}, "eval": {"num_tasks": 64}, "search": {}}
    settings[section]["num_simulations"] = 4_096
    config = Config.model_validate(settings)
    needed = 64 * tree_bytes(4_096, num_actions(config.env.height, config.env.width))
    require_memory(config, needed)
    with pytest.raises(MemoryNeedError, match=f"{section}.num_simulations is 4,096 and {batch} "):
        require_memory(config, needed - 1)
