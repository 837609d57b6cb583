"""The training pool of a run: solved tasks that are not held out, and incomplete layouts of them.

In: the config. Out: solved tasks and variants, read from a pool file or made on the fly, the same
in every process, with a hash that tells two pools apart. Jax-free.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from envs.errors import UserError
from envs.generate import GeneratorSettings
from envs.pool_file import PoolFile, open_pool
from envs.pool_generation import all_incomplete_variants, generate_pool
from envs.solved import Solved, Variant, solved_to_json
from envs.split import is_heldout
from envs.task_spec import TaskSpec
from factorio_rl.config import Config
from factorio_rl.home_folder import expanded
from factorio_rl.runtime import num_threads

VARIANTS_PER_TASK = 4
"""Finished but incomplete layouts per reference, beside the whole one."""


class PoolMismatchError(UserError):
    """A pool file whose tasks a run cannot train on."""


@dataclass(frozen=True)
class Pool:
    """Solved training tasks.

    Attributes:
        solved: tasks with their references.
        variants: per task, (kept placements, verified score) of incomplete layouts.
        sha256: hash of all of it.
    """

    solved: list[Solved]
    variants: list[list[Variant]]
    sha256: str


def make_pool(config: Config, before_each: Callable[[], None] = lambda: None) -> Pool:
    """The pool of a config; `before_each` is called again and again and may raise to end it.

    Raises:
        GenerationError: no task can be made.
        PoolFileError: the pool file cannot be read.
        PoolMismatchError: its tasks do not fit the config, or are held out.
    """
    if config.tasks.pool is not None:
        return _read(config, open_pool(expanded(config.tasks.pool)), before_each)
    settings = GeneratorSettings(
        config.env.width,
        config.env.height,
        config.tasks.families,
        config.env.placement_limit,
        config.tasks.max_blocked,
    )
    seed, count = config.run.seed, config.tasks.num_tasks
    return generate_training_pool(
        settings, seed, count, workers=num_threads(), on_progress=lambda stage, done: before_each()
    )


def generate_training_pool(
    settings: GeneratorSettings,
    seed: int,
    count: int,
    *,
    workers: int,
    on_progress: Callable[[str, int], None],
) -> Pool:
    """`count` training tasks with their incomplete layouts, the same for any number of workers.

    `on_progress` hears what is being made and of how many tasks it is; it may raise. Raises
    GenerationError.
    """
    solved = generate_pool(
        settings,
        seed,
        count,
        workers=workers,
        on_progress=lambda done: on_progress("tasks", done),
    )
    variants = all_incomplete_variants(
        solved,
        seed * count,
        VARIANTS_PER_TASK,
        workers,
        on_progress=lambda done: on_progress("incomplete layouts", done),
    )
    return _pool(solved, variants)


def _pool(solved: list[Solved], variants: list[list[Variant]]) -> Pool:
    content = [[solved_to_json(entry) for entry in solved], variants]
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    return Pool(solved, variants, digest.hexdigest())


def _read(config: Config, file: PoolFile, before_each: Callable[[], None]) -> Pool:
    """The first `tasks.num_tasks` of a file."""
    solved: list[Solved] = []
    num_heldout = 0
    for index in range(min(len(file), config.tasks.num_tasks)):
        before_each()
        solved.append(file[index])
        num_heldout += is_heldout(solved[-1].spec)
    reasons = list(_misfits(config, [entry.spec for entry in solved]))
    if num_heldout:
        reasons.append(f"this version holds {num_heldout} of its tasks out of training")
    if reasons:
        raise PoolMismatchError(
            f"pool file {file.path} does not fit the run: {'; '.join(reasons)}; or build another: "
            "python -m factorio_rl tasks build"
        )
    return _pool(solved, [file.variants(index) for index in range(len(solved))])


def _misfits(config: Config, specs: Sequence[TaskSpec]) -> Iterator[str]:
    """Why a run cannot train on tasks of one grid."""
    env, grid = config.env, (specs[0].width, specs[0].height)
    if grid != (env.width, env.height):
        yield (
            f"its grid is {grid[0]} x {grid[1]}, the run's {env.width} x {env.height}; set "
            "env.width and env.height"
        )
    foreign = {spec.family for spec in specs}.difference(config.tasks.families)
    if foreign:
        yield f"it has tasks of {', '.join(sorted(foreign))}; add them to tasks.families"
    sizes = {
        "placement_limit": max(spec.placement_limit for spec in specs),
        "max_ports": max(len(spec.ports) for spec in specs),
        "recipe_slots": max(len(spec.recipes) for spec in specs),
        "item_slots": max(len(spec.items) for spec in specs),
    }
    for name, size in sizes.items():
        allowed = getattr(env, name)
        if size > allowed:
            yield f"its tasks need env.{name} {size}, it is {allowed}; raise it"
