"""Whether a restored state can be one that training made.

In: a manifest and the parts of a checkpoint whose digests are right. Out: what is wrong with them.
Anybody can compute a digest: what would send indices out of an array, or training nowhere, is
found here.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envs.actions import NUM_KINDS, NUM_ROTATIONS
from envs.types import Board
from factorio_rl.checkpoint_manifest import Manifest
from factorio_rl.config_sections import LARGEST_COUNT
from factorio_rl.learner import LearnerState, all_finite
from factorio_rl.loop_state import REPLAY, Counters
from factorio_rl.replay import Replay

NUM_ENTITIES = NUM_KINDS + 1
"""Codes of cells: nothing, and the kinds of placement."""


def problem_of(manifest: Manifest, parts: Mapping[str, Any], num_tasks: int) -> str | None:
    """What is wrong with a state of a pool of so many tasks, None if nothing is.

    `parts` may lack the replay buffer.
    """
    return next(_problems(manifest, parts, num_tasks), None)


def _problems(manifest: Manifest, parts: Mapping[str, Any], num_tasks: int) -> Iterator[str]:
    learner: LearnerState = parts["learner"]
    counters: Counters = parts["counters"]
    made = (int(learner.updates), int(counters.chunk))
    if made != (manifest.step, manifest.chunk):
        yield f"it is of update {made[0]} and chunk {made[1]}, its manifest says otherwise"
    counts = [learner.updates, learner.skipped, learner.skipped_in_row]
    counts += jax.tree.leaves(counters)
    if any(int(count) < 0 for count in counts) or max(made) > LARGEST_COUNT:
        yield "a counter is out of range"
    scales = parts["precision"].scales
    if not bool(all_finite((learner.params, learner.optimizer, scales))):
        yield "a parameter is not finite"
    # Each with the task numbers of what it holds.
    rows = [parts["actor"], *parts["pending"], *([parts[REPLAY]] if REPLAY in parts else ())]
    for index in [part.task_index for part in rows]:
        if not _within(index, num_tasks):
            yield f"a task number is not from 0 to {num_tasks - 1}"
    boards: list[Board | Replay] = [part.board if hasattr(part, "board") else part for part in rows]
    for entity, rotation in [(board.entity, board.rotation) for board in boards]:
        if not (_within(entity, NUM_ENTITIES) and _within(rotation, NUM_ROTATIONS)):
            yield "a board holds codes of nothing that can be built"


def _within(values: jax.Array | np.ndarray, end: int) -> bool:
    """Whether all of an array is from 0 to before `end`."""
    return bool(jnp.all((jnp.asarray(values) >= 0) & (jnp.asarray(values) < end)))
