"""The training pool of a run: solved tasks that are not held out, and incomplete layouts of them.

In: the config. Out: solved tasks and variants, the same in every process, with a hash that tells
two pools apart. Jax-free.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

from envs.generate import GeneratorSettings, generate_pool, incomplete_variants
from envs.solved import Solved, solved_to_json
from envs.split import is_heldout
from envs.task_spec import TaskSpec
from factorio_rl.config import Config

VARIANTS_PER_TASK = 4
"""Finished but incomplete layouts per reference, beside the whole one."""


@dataclass(frozen=True)
class Pool:
    """Solved training tasks.

    Attributes:
        solved: tasks with their references.
        variants: per task, (kept placements, verified score) of incomplete layouts.
        sha256: hash of all of it.
    """

    solved: list[Solved]
    variants: list[list[tuple[tuple[bool, ...], float]]]
    sha256: str


def make_pool(config: Config, before_each: Callable[[], None] = lambda: None) -> Pool:
    """Generates the pool of a config; `before_each` task may raise to end it.

    Raises GenerationError where no task can be made.
    """
    settings = GeneratorSettings(
        config.env.width,
        config.env.height,
        config.tasks.recipes,
        config.env.placement_limit,
        config.tasks.max_blocked,
    )
    seed, count = config.run.seed, config.tasks.num_tasks

    def accept(spec: TaskSpec) -> bool:
        before_each()
        return not is_heldout(spec)

    solved = generate_pool(settings, seed, count, accept)
    variants = [
        incomplete_variants(entry, seed * count + index, VARIANTS_PER_TASK)
        for index, entry in enumerate(solved)
    ]
    content = [[solved_to_json(entry) for entry in solved], variants]
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    return Pool(solved, variants, digest.hexdigest())
