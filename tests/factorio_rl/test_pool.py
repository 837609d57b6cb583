"""The training pool: the same in every process, not held out, with verified incomplete layouts."""

import subprocess
import sys

import pytest

from envs.split import is_heldout
from envs.task_spec import layout_of
from envs.types import task_arrays
from envs.verifier import score_rate
from factorio_rl.config import Config
from factorio_rl.env_shape import env_shape
from factorio_rl.pool import VARIANTS_PER_TASK, Pool, make_pool

OTHER_PROCESS = """
import sys
from factorio_rl.config import Config
from factorio_rl.pool import make_pool
print(make_pool(Config.model_validate_json(sys.argv[1])).sha256)
"""


@pytest.fixture(scope="module")
def pool(config: Config) -> Pool:
    return make_pool(config)


def with_seed(config: Config, seed: int) -> Config:
    return config.model_copy(update={"run": config.run.model_copy(update={"seed": seed})})


def test_pool_holds_the_configured_tasks(config: Config, pool: Pool) -> None:
    assert len(pool.solved) == len(pool.variants) == config.tasks.num_tasks
    for entry in pool.solved:
        assert not is_heldout(entry.spec)
        assert entry.spec.family in config.tasks.families
        assert len(entry.placements) <= entry.spec.placement_limit <= config.env.placement_limit
        assert len(entry.spec.blocked) <= config.tasks.max_blocked
        task_arrays(entry.spec, env_shape(config))
        assert score_rate(layout_of(entry.spec, entry.placements)) == entry.spec.target_rate


def test_variants_are_incomplete_and_scored(pool: Pool) -> None:
    for entry, variants in zip(pool.solved, pool.variants, strict=True):
        assert len(variants) == VARIANTS_PER_TASK
        for kept, score in variants:
            assert len(kept) == len(entry.placements)
            assert not all(kept)
            assert 0 <= score <= 1


def test_pool_is_the_same_in_another_process(config: Config, pool: Pool) -> None:
    command = [sys.executable, "-c", OTHER_PROCESS, config.model_dump_json()]
    other = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert other.stdout.strip() == pool.sha256


def test_other_seed_gives_another_pool(config: Config, pool: Pool) -> None:
    other = make_pool(with_seed(config, 1))
    assert other.sha256 != pool.sha256
    assert other.solved != pool.solved


def test_hash_covers_tasks_references_and_variants(config: Config, pool: Pool) -> None:
    fewer = make_pool(
        config.model_copy(update={"tasks": config.tasks.model_copy(update={"num_tasks": 3})})
    )
    assert fewer.solved == pool.solved[:3]
    assert fewer.sha256 != pool.sha256
