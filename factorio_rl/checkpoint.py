"""Checkpoints of a run directory: named pytrees saved together by Orbax (v1 API).

In: a step number, pytrees, and what was measured of them. Out: the same pytrees, bit for bit.
This is the only file that knows Orbax: its v1 API is young and renames things.
"""

import logging
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
from orbax.checkpoint import v1 as ocp

from envs.errors import UserError

SCORE = "score"

PRINTED_CHARACTERS = 300


class CheckpointError(UserError):
    """A checkpoint that is asked for cannot be loaded."""

    exit_code = 4


class CheckpointStore:
    """The `checkpoints` folder of a run: the newest few, and the best by score, are kept.

    Without `keep` it is only read: another process may be training there, so nothing is created,
    and what looks unfinished is left alone.

    Raises:
        CheckpointError: there is nothing to read.
    """

    def __init__(self, directory: Path, keep: int | None = None) -> None:
        if keep is None and not directory.is_dir():
            raise CheckpointError(f"no checkpoint in {directory}; train there first")
        policies: Any = ocp.training.preservation_policies
        self.directory = directory.absolute()
        self._checkpointer = ocp.training.Checkpointer(
            str(self.directory),
            preservation_policy=policies.AnyPreservationPolicy(
                [
                    policies.LatestN(keep),
                    policies.BestN(
                        get_metric_fn=lambda metrics: metrics[SCORE],
                        n=1,
                        keep_checkpoints_without_metrics=False,
                    ),
                ]
            ),
            cleanup_tmp_directories=keep is not None,
        )

    def steps(self) -> list[int]:
        """Steps with a checkpoint, newest first."""
        return sorted((entry.step for entry in self._checkpointer.checkpoints), reverse=True)

    def best_step(self) -> int:
        """The step with the highest score; the newest if none was scored.

        Raises:
            CheckpointError: there is no checkpoint.
        """
        scored = [entry for entry in self._checkpointer.checkpoints if entry.metrics]
        if scored:
            return max(scored, key=lambda entry: (_score(entry), entry.step)).step
        return self.newest_step()

    def newest_step(self) -> int:
        """The newest step. Raises CheckpointError if there is none."""
        steps = self.steps()
        if not steps:
            raise CheckpointError(f"no checkpoint in {self.directory}; train there first")
        return steps[0]

    def save(self, step: int, parts: Mapping[str, Any], score: float | None) -> None:
        """Saves the pytrees, with the evaluation score of their parameters if there is one.

        A step that exists was saved from the same state; it is saved again only for its score.
        """
        exists = step in self.steps()
        if exists and score is None:
            return
        metrics: Any = None if score is None else {SCORE: score}
        self._checkpointer.save_checkpointables(
            step, dict(parts), force=True, overwrite=exists, metrics=metrics
        )

    def load(self, step: int, like: Mapping[str, Any]) -> dict[str, Any]:
        """The pytrees of a step, in the shape of `like`; names left out of it are not read.

        Raises:
            CheckpointError: it is damaged, or does not have the shape.
        """
        abstract = {name: jax.tree.map(_abstract, tree) for name, tree in like.items()}
        try:
            return self._checkpointer.load_checkpointables(step, abstract)
        except Exception as error:
            # Orbax raises many types for damaged data, with the reason at the end of the chain.
            path = self.directory / str(step)
            raise CheckpointError(f"cannot load checkpoint {path}: {_reason(error)}") from error

    def load_newest(self, like: Mapping[str, Any]) -> tuple[int, dict[str, Any]] | None:
        """The newest checkpoint that loads, with its step; None in a folder without any.

        Newer ones that do not load are set aside, so that the run can save these steps again.

        Raises:
            CheckpointError: there are checkpoints, and none loads.
        """
        failures: dict[int, str] = {}
        for step in self.steps():
            try:
                parts = self.load(step, like)
            except CheckpointError as error:
                failures[step] = str(error)
                logging.getLogger(__name__).warning(failures[step])
                continue
            self._set_aside(list(failures))
            return step, parts
        if failures:
            raise CheckpointError(
                "no checkpoint could be loaded; tried\n  "
                + "\n  ".join(failures.values())
                + "\nrestore one from a copy, or start in another run directory"
            )
        return None

    def close(self) -> None:
        """Waits for what is being written."""
        self._checkpointer.close()

    def _set_aside(self, damaged: Sequence[int]) -> None:
        for step in damaged:
            target = self.directory / f"damaged-{step}"
            shutil.rmtree(target, ignore_errors=True)
            (self.directory / str(step)).rename(target)
        if damaged:
            self._checkpointer.reload()


def _score(entry: Any) -> float:
    return entry.metrics[SCORE]


def _abstract(leaf: Any) -> Any:
    if isinstance(leaf, jax.Array):
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=leaf.sharding)
    return leaf


def _reason(error: BaseException) -> str:
    while cause := error.__cause__ or error.__context__:
        error = cause
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return text if len(text) <= PRINTED_CHARACTERS else f"{text[:PRINTED_CHARACTERS]}..."
