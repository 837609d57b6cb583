"""A pool read from a file: the same as one made on the fly, refused where it does not fit."""

from pathlib import Path

import pytest

from envs.generate import GeneratorSettings
from envs.heldout import load_heldout
from envs.pool_file import PoolFileError, write_pool
from factorio_rl.config import Config
from factorio_rl.pool import PoolMismatchError, generate_training_pool, make_pool


@pytest.fixture(scope="module")
def settings(config: Config) -> GeneratorSettings:
    env, tasks = config.env, config.tasks
    return GeneratorSettings(
        env.width, env.height, tasks.families, env.placement_limit, tasks.max_blocked
    )


@pytest.fixture(scope="module")
def pool_path(
    config: Config, settings: GeneratorSettings, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The pool that the config would make, in a file."""
    path = tmp_path_factory.mktemp("pool") / "tiny.pool"
    made = generate_training_pool(
        settings,
        config.run.seed,
        config.tasks.num_tasks,
        workers=1,
        on_progress=lambda stage, done: None,
    )
    write_pool(path, made.solved, made.variants, settings, config.run.seed)
    return path


def reading(config: Config, path: Path, **changes: dict[str, object]) -> Config:
    """The config with `tasks.pool` and other changes, section by section."""
    values = config.model_dump()
    values["tasks"]["pool"] = str(path)
    for section, fields in changes.items():
        values[section].update(fields)
    return Config.model_validate(values)


def test_a_read_pool_is_the_one_that_would_be_made(config: Config, pool_path: Path) -> None:
    assert make_pool(reading(config, pool_path)) == make_pool(config)


def test_num_tasks_caps_what_is_read(config: Config, pool_path: Path) -> None:
    whole = make_pool(reading(config, pool_path))
    capped = make_pool(reading(config, pool_path, tasks={"num_tasks": 3}))
    assert capped.solved == whole.solved[:3]
    assert capped.variants == whole.variants[:3]
    assert capped.sha256 != whole.sha256
    more = make_pool(reading(config, pool_path, tasks={"num_tasks": 99}))
    assert more == whole


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"env": {"width": 8, "height": 8}}, "its grid is 7 x 7, the run's 8 x 8; set env.width"),
        ({"tasks": {"families": ["pipe"]}}, "it has tasks of gear; add them to tasks.families"),
        ({"env": {"placement_limit": 9}}, "its tasks need env.placement_limit 10, it is 9"),
    ],
)
def test_a_pool_that_does_not_fit_is_refused(
    config: Config, pool_path: Path, changes: dict[str, dict[str, object]], message: str
) -> None:
    with pytest.raises(PoolMismatchError, match=message):
        make_pool(reading(config, pool_path, **changes))


def test_all_that_does_not_fit_is_told_at_once(config: Config, pool_path: Path) -> None:
    changed = reading(
        config, pool_path, env={"width": 8, "height": 8}, tasks={"families": ["pipe"]}
    )
    with pytest.raises(PoolMismatchError, match=r"grid is 7 x 7.*tasks of gear"):
        make_pool(changed)


def test_held_out_tasks_are_never_trained_on(config: Config, tmp_path: Path) -> None:
    tasks = load_heldout("quickstart").tasks[:4]
    settings = GeneratorSettings(8, 8, ("gear", "cable", "pipe", "stick"), 24, 3)
    variants = [[((False,) * len(entry.placements), 0.0)] for entry in tasks]
    write_pool(tmp_path / "held.pool", tasks, variants, settings, seed=0)
    fitting = reading(
        config,
        tmp_path / "held.pool",
        env={"width": 8, "height": 8, "placement_limit": 24},
        tasks={"families": list(settings.families)},
        replay={"capacity": 4000},
    )
    with pytest.raises(PoolMismatchError, match="holds 4 of its tasks out of training"):
        make_pool(fitting)


def test_a_stop_ends_the_reading(config: Config, pool_path: Path) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_pool(reading(config, pool_path), stop)


def test_a_missing_pool_is_named(config: Config, tmp_path: Path) -> None:
    with pytest.raises(PoolFileError, match=r"none\.pool"):
        make_pool(reading(config, tmp_path / "none.pool"))
