"""The training run: sets up all the parts and drives them, chunk by chunk.

Flow: pool and held-out set -> imitation of references -> chunks of self-play and updates, with
evaluations and checkpoints on the way -> a final report. This is the only file that knows all
the parts; it holds no learning code.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from envs.errors import UserError
from envs.generate import GENERATOR_VERSION
from envs.heldout import RULES_VERSION, HeldoutSet, load_heldout
from factorio_rl import curriculum, runtime
from factorio_rl.checkpoint import CheckpointStore
from factorio_rl.chunk import ChunkFigures, ChunkRunner
from factorio_rl.config import Config
from factorio_rl.curriculum_picture import draw_curriculum
from factorio_rl.demonstrations import make_references
from factorio_rl.env_shape import env_shape
from factorio_rl.evaluation import Evaluator, require_fit
from factorio_rl.evaluation_files import (
    evaluation_fields,
    print_report,
    read_report,
    report_path,
    write_layouts,
    write_report,
)
from factorio_rl.learner import LearnerState, UpdateFigures, learning_rate_schedule
from factorio_rl.loop_state import LoopState
from factorio_rl.model import make_predict
from factorio_rl.network import Params, make_network
from factorio_rl.pool import Pool, make_pool
from factorio_rl.precision_choice import choose_fp8
from factorio_rl.preemption import StopRequest
from factorio_rl.reporter import Reporter, open_reporter
from factorio_rl.run_directory import RunDirectory, task_identity
from factorio_rl.scoring import Scorer
from factorio_rl.selfplay import actor_settings

UNTRAINED = "untrained"
"""Name of the evaluation of the initial parameters."""

IMITATION_REPORTS = 10
"""Log lines of the imitation stage."""


class NonFiniteError(UserError):
    """A loss or gradient became infinite or not a number."""

    exit_code = 3


def train(config: Config, path: Path, init_from: Path | None, stop: StopRequest) -> int:
    """Trains in a run directory until the budget is used or a signal asks to stop.

    Returns:
        the exit code: 0 done, 130 or 143 stopped by a signal and saved.

    Raises:
        UserError: config, task set, run directory or the tree that the config wants cannot be
            used; nothing was overwritten.
        CheckpointError: the run has checkpoints and none loads.
        NonFiniteError: the loss is not finite.
    """
    directory = RunDirectory(path)
    directory.check(config)
    heldout = load_heldout(config.tasks.heldout)
    require_fit(heldout, env_shape(config))
    if init_from is not None:
        RunDirectory(init_from).require_same_network(config)
    runtime.quiet_libraries()
    runtime.enable_compilation_cache(config.run.compilation_cache)
    actor_settings(config)
    origin = f"reading {config.tasks.pool}, at most" if config.tasks.pool else "making"
    print(f"{origin} {config.tasks.num_tasks} solved training tasks", flush=True)
    pool = make_pool(config, stop.raise_if_asked)
    identity = task_identity(RULES_VERSION, str(GENERATOR_VERSION), heldout.sha256, pool.sha256)
    stop.raise_if_asked()
    with directory.lock():
        changes = directory.open(config, identity)
        return _train_in(config, directory, pool, heldout, changes, init_from, stop)


def _train_in(
    config: Config,
    directory: RunDirectory,
    pool: Pool,
    heldout: HeldoutSet,
    changes: list[str],
    init_from: Path | None,
    stop: StopRequest,
) -> int:
    with open_reporter(config, directory.path) as reporter:
        for change in changes:
            reporter.message(f"warning: setting changed: {change}")
        run = Run(config, directory, pool, heldout, reporter)
        try:
            run.begin(init_from)
            reporter.exit_code = run.loop(stop)
        finally:
            run.close()
    return reporter.exit_code


class Run:
    """One start of a training run."""

    def __init__(
        self,
        config: Config,
        directory: RunDirectory,
        pool: Pool,
        heldout: HeldoutSet,
        reporter: Reporter,
    ) -> None:
        self._config = config
        self._directory = directory
        self._reporter = reporter
        self._began_s = time.monotonic()
        threads = runtime.num_threads()
        network = make_network(config.network)
        predict = make_predict(network, config.env.growth_rule)
        references = make_references(pool.solved, pool.variants, env_shape(config))
        self._scorer = Scorer([entry.spec for entry in pool.solved], threads)
        may_use_fp8 = choose_fp8(config, reporter.message)
        self._runner = ChunkRunner(
            config, network, references, self._scorer, may_use_fp8=may_use_fp8
        )
        tasks = heldout.tasks[: config.eval.num_tasks]
        self._evaluator = Evaluator(config, predict, config.tasks.heldout, tasks, threads)
        keep = config.train.keep_checkpoints
        self._store = CheckpointStore(directory.checkpoints, keep)
        self._state = self._runner.start()
        self._measured_from = (self._began_s, self._state.counters)
        self._untrained: Params = jax.tree.map(jnp.copy, self._state.learner.params)

    @property
    def state(self) -> LoopState:
        """The state after the last chunk."""
        return self._state

    def begin(self, init_from: Path | None) -> None:
        """Restores the newest checkpoint; a new run may start from another's parameters."""
        found = self._store.load_newest(_parts(self._state))
        if found is None:
            self._reporter.resume(-1)
            if init_from is not None:
                params = load_params(init_from, self._state.learner)
                learner = LearnerState(
                    params, self._state.learner.optimizer, self._state.learner.updates
                )
                self._state = LoopState(**{**_parts(self._state), "learner": learner})
                self._reporter.message(f"starting from the parameters of {init_from}")
        else:
            step, parts = found
            if init_from is not None:
                self._reporter.message(
                    "warning: --init-from is ignored, since the run has checkpoints of its own"
                )
            self._state = LoopState(**parts)
            self._reporter.resume(step)
            self._reporter.message(
                f"going on from the checkpoint of chunk {self._chunk} "
                f"({int(self._state.counters.env_steps):,} environment steps)"
            )
        self._runner.resume(self._state)

    def loop(self, stop: StopRequest) -> int:
        """Runs all stages that are left; the exit code."""
        num_chunks = self._config.train.num_chunks
        if self._chunk >= num_chunks:
            self._reporter.message(f"all {num_chunks} chunks were already made")
            return self._finish()
        tree = actor_settings(self._config).tree
        self._reporter.message(f"running on {runtime.device_name()}, search with the {tree} tree")
        if not self._imitate(stop):
            return self._save_and_stop(stop)
        self._reporter.message("compiling the search (first time: about half a minute)")
        if self._chunk == 0 and not stop:
            self._evaluate_untrained()
            self._evaluate_and_save()
        self._reporter.stage("self-play", num_chunks, self._chunk)
        self._measured_from = (time.monotonic(), self._state.counters)
        while self._chunk < num_chunks:
            if stop:
                return self._save_and_stop(stop)
            self._run_chunk()
        return self._finish()

    def close(self) -> None:
        """Ends threads and waits for files."""
        self._scorer.close()
        self._evaluator.close()
        self._store.close()

    @property
    def _chunk(self) -> int:
        return int(self._state.counters.chunk)

    @property
    def _updates(self) -> int:
        return int(self._state.learner.updates)

    def _imitate(self, stop: StopRequest) -> bool:
        """Updates on references alone; False if a signal came before the end."""
        total = self._config.train.imitation_updates
        if self._updates >= total:
            return True
        self._reporter.message("compiling the update (first time: about ten seconds)")
        self._reporter.stage("imitation", total, self._updates)
        every = max(1, total // IMITATION_REPORTS)
        while self._updates < total:
            if stop:
                return False
            before = self._updates
            self._state, figures = self._runner.imitate(self._state)
            self._reporter.progress(self._updates, {})
            if before == 0 or self._updates // every > before // every:
                self._reporter.report("imitation", self._fields(_update_fields(figures)))
                _require_finite(figures)
        return True

    def _run_chunk(self) -> None:
        self._state, figures = self._runner.run(self._state)
        self._report_switch(figures)
        config, chunk = self._config, self._chunk
        episodes = int(self._state.counters.episodes)
        self._reporter.progress(chunk, self._fields({"episodes": episodes}))
        if chunk % config.logging.every_chunks == 0:
            fields = {**self._chunk_fields(figures), **self._rates(figures)}
            self._reporter.report("train", self._fields(fields))
            _require_finite(figures.updates)
        is_last = chunk == config.train.num_chunks
        if chunk % config.eval.every_chunks == 0 or is_last:
            self._evaluate_and_save()
            self._measured_from = (time.monotonic(), self._state.counters)
        elif chunk % config.train.checkpoint_every_chunks == 0:
            self._save(None)

    def _report_switch(self, figures: ChunkFigures) -> None:
        """Tells that self-play has gone over to another arithmetic, and why."""
        hand_over = figures.hand_over
        if hand_over.reason is None:
            return
        precision = hand_over.precision
        self._reporter.message(f"self-play is in {precision} now: {hand_over.reason}")
        fields = {"actor_precision": precision, "reason": hand_over.reason}
        self._reporter.report("switch", self._fields({**fields, **hand_over.figures()}))

    def _rates(self, figures: ChunkFigures) -> dict[str, float]:
        """Speed since the last training line or evaluation."""
        began_s, before = self._measured_from
        after, now_s = self._state.counters, time.monotonic()
        self._measured_from = (now_s, after)
        took_s = now_s - began_s
        return {
            "act_s": round(figures.act_s, 4),
            "env_steps_per_s": float((after.env_steps - before.env_steps) / took_s),
            "episodes_per_s": float((after.episodes - before.episodes) / took_s),
        }

    def _evaluate_untrained(self) -> None:
        if report_path(self._directory.evaluations, UNTRAINED).exists():
            return
        report = self._evaluator.evaluate(self._untrained).report
        write_report(self._directory.evaluations, UNTRAINED, report, 0)
        fields = {"chunk": 0, "env_steps": 0, "learner_updates": 0, **evaluation_fields(report)}
        self._reporter.report("eval_untrained", fields)

    def _evaluate_and_save(self) -> None:
        began_s = time.monotonic()
        evaluation = self._evaluator.evaluate(self._state.learner.params)
        env_steps = int(self._state.counters.env_steps)
        name = f"chunk-{self._chunk:06d}"
        write_report(self._directory.evaluations, name, evaluation.report, env_steps)
        write_layouts(self._directory.layouts, self._evaluator.specs, evaluation)
        picture = draw_curriculum(self._state.curriculum, self._config.actor.review_share)
        picture.save(self._directory.layouts / "curriculum.png")
        fields = evaluation_fields(evaluation.report)
        fields["eval_s"] = round(time.monotonic() - began_s, 3)
        self._reporter.report("eval", self._fields(fields))
        self._save(evaluation.report["score"])

    def _save(self, score: float | None) -> None:
        finite = [bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(self._params)]
        if not all(finite):
            raise NonFiniteError(_non_finite_message("a parameter", self._updates))
        self._store.save(self._updates, _parts(self._state), score)

    def _save_and_stop(self, stop: StopRequest) -> int:
        self._save(None)
        self._reporter.message("stopped by a signal; saved, the same command goes on from here")
        return stop.exit_code

    def _finish(self) -> int:
        folder = self._directory.evaluations
        name = f"chunk-{self._chunk:06d}"
        if report_path(folder, name).exists():
            has_untrained = report_path(folder, UNTRAINED).exists()
            print_report(
                self._reporter.display.console,
                read_report(folder, name),
                read_report(folder, UNTRAINED) if has_untrained else None,
            )
        self._reporter.message(f"pictures of held-out layouts: {self._directory.layouts}")
        return 0

    @property
    def _params(self) -> Params:
        return self._state.learner.params

    def _fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Fields of an event with the counters before them and the time after."""
        return {
            "chunk": self._chunk,
            "env_steps": int(self._state.counters.env_steps),
            "learner_updates": self._updates,
            **fields,
            "elapsed_s": round(time.monotonic() - self._began_s, 1),
        }

    def _chunk_fields(self, figures: ChunkFigures) -> dict[str, Any]:
        schedule = learning_rate_schedule(self._config)
        return {
            **_update_fields(figures.updates),
            **curriculum.figures(self._state.curriculum),
            **{name: float(value) for name, value in figures.search._asdict().items()},
            "episodes": int(self._state.counters.episodes),
            "inexact": int(self._state.counters.inexact),
            "scored_rows": int(figures.scored_rows),
            "actor_precision": figures.hand_over.precision,
            **figures.hand_over.figures(),
            "learning_rate": float(jnp.asarray(schedule(self._updates))),
        }


def load_params(path: Path, like: LearnerState) -> Params:
    """The best parameters of another run directory.

    Raises:
        CheckpointError: it has no checkpoint that loads.
    """
    store = CheckpointStore(RunDirectory(path).checkpoints)
    return store.load(store.best_step(), {"learner": like})["learner"].params


def _parts(state: LoopState) -> dict[str, Any]:
    return {field: getattr(state, field) for field in LoopState.__dataclass_fields__}


def _update_fields(figures: UpdateFigures) -> dict[str, float]:
    losses = {name: float(value) for name, value in figures.losses._asdict().items()}
    return {**losses, "gradient_norm": float(figures.gradient_norm)}


def _require_finite(figures: UpdateFigures) -> None:
    if not bool(figures.finite):
        raise NonFiniteError(_non_finite_message("the loss or a gradient", None))


def _non_finite_message(what: str, updates: int | None) -> str:
    when = "" if updates is None else f" after {updates} updates"
    return (
        f"{what} is not finite{when}; nothing of it was saved. Lower learner.learning_rate "
        "and start again: the run goes on from its last checkpoint, if it has one"
    )
