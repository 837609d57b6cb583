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
from factorio_rl.checkpoint_manifest import Manifest
from factorio_rl.config_sections import LARGEST_COUNT
from factorio_rl.learner import all_finite
from factorio_rl.loop_state import LoopState

NUM_ENTITIES = NUM_KINDS + 1
"""Codes of cells: nothing, and the kinds of placement."""


def problem_of(manifest: Manifest, parts: Mapping[str, Any], num_tasks: int) -> str | None:
    """What is wrong with a state of a pool of so many tasks, None if nothing is."""
    return next(_problems(manifest, LoopState(**parts), num_tasks), None)


def _problems(manifest: Manifest, state: LoopState, num_tasks: int) -> Iterator[str]:
    learner, counters = state.learner, state.counters
    made = (int(learner.updates), int(counters.chunk))
    if made != (manifest.step, manifest.chunk):
        yield f"it is of update {made[0]} and chunk {made[1]}, its manifest says otherwise"
    counts = [learner.updates, learner.skipped, learner.skipped_in_row]
    counts += jax.tree.leaves(counters)
    if any(int(count) < 0 for count in counts) or max(made) > LARGEST_COUNT:
        yield "a counter is out of range"
    if not bool(all_finite((learner.params, learner.optimizer, state.precision.scales))):
        yield "a parameter is not finite"
    actor, replay, pending = state.actor, state.replay, state.pending
    for index in (actor.task_index, replay.task_index, *(ended.task_index for ended in pending)):
        if not _within(index, num_tasks):
            yield f"a task number is not from 0 to {num_tasks - 1}"
    boards = [actor.board, *(ended.board for ended in pending)]
    cells = [(board.entity, board.rotation) for board in boards]
    for entity, rotation in [*cells, (replay.entity, replay.rotation)]:
        if not (_within(entity, NUM_ENTITIES) and _within(rotation, NUM_ROTATIONS)):
            yield "a board holds codes of nothing that can be built"


def _within(values: jax.Array | np.ndarray, end: int) -> bool:
    """Whether all of an array is from 0 to before `end`."""
    return bool(jnp.all((jnp.asarray(values) >= 0) & (jnp.asarray(values) < end)))
