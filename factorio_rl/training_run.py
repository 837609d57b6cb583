"""One start of a training run: drives all the parts, chunk by chunk.

Flow: imitation of references -> chunks of self-play and updates, with evaluations and checkpoints
on the way -> a final report. This is the only file that knows all the parts; it holds no learning
code. What is on the disk after any line is enough to go on from as if nothing had happened.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from envs.heldout import HeldoutSet
from envs.one_line import one_line
from factorio_rl import runtime
from factorio_rl.best_agent import keep_best
from factorio_rl.checkpoint import MAX_SHOWN, CheckpointStore
from factorio_rl.checkpoint_check import CheckpointError
from factorio_rl.checkpoint_manifest import Manifest
from factorio_rl.chunk import ChunkFigures, ChunkRunner
from factorio_rl.config import Config
from factorio_rl.config_file import fixed_settings
from factorio_rl.curriculum_picture import draw_curriculum
from factorio_rl.demonstrations import make_references
from factorio_rl.env_shape import env_shape
from factorio_rl.evaluation import Evaluation, Evaluator
from factorio_rl.evaluation_files import (
    CURRICULUM_FILE,
    evaluation_fields,
    print_report,
    read_report,
    shown_pictures,
    write_layouts,
    write_picture,
    write_report,
)
from factorio_rl.initial_params import load_params
from factorio_rl.loop_state import REPLAY, LoopState, parts_of
from factorio_rl.metrics import UNTRAINED_EVENT
from factorio_rl.model import make_predict
from factorio_rl.network import Params, make_network
from factorio_rl.non_finite import require_finite
from factorio_rl.pool import Pool
from factorio_rl.precision_choice import choose_fp8
from factorio_rl.preemption import StoppedError, StopRequest
from factorio_rl.reporter import Reporter
from factorio_rl.run_directory import RunDirectory
from factorio_rl.run_fields import (
    chunk_fields,
    counter_fields,
    switch_fields,
    update_fields,
)
from factorio_rl.saver import Saver
from factorio_rl.scoring import Scorer
from factorio_rl.selfplay import actor_settings
from factorio_rl.state_check import problem_of
from factorio_rl.time_breakdown import TrainingClock
from factorio_rl.verifier_failures import FailureLog

UNTRAINED = "untrained"
"""Name of the evaluation of the initial parameters."""

IMITATION_REPORTS = 10
"""Log lines of the imitation stage."""

SLOW_CHUNK_S = 10.0
"""A chunk that takes longer keeps a signal waiting; schedulers kill after 30 seconds or so."""


class TrainingRun:
    """The state of one start of a run, and what is done with it."""

    def __init__(
        self,
        config: Config,
        directory: RunDirectory,
        pool: Pool,
        heldout: HeldoutSet,
        reporter: Reporter,
        stop: StopRequest,
    ) -> None:
        self._config = config
        self._directory = directory
        self._reporter = reporter
        self._stop = stop
        self._began_s = time.monotonic()
        threads = runtime.num_threads()
        network = make_network(config.network)
        predict = make_predict(network, config.env.growth_rule)
        references = make_references(pool.solved, pool.variants, env_shape(config))
        self._num_tasks = len(pool.solved)
        failures = FailureLog(directory.verifier_failures, reporter.message)
        self._scorer = Scorer([entry.spec for entry in pool.solved], threads, failures)
        may_use_fp8 = choose_fp8(config, reporter.message)
        self._runner = ChunkRunner(
            config, network, references, self._scorer, may_use_fp8=may_use_fp8
        )
        tasks = heldout.tasks[: config.eval.num_tasks]
        self._evaluator = Evaluator(config, predict, config.tasks.heldout, tasks, threads, failures)
        fingerprint = {
            **fixed_settings(config),
            "heldout_sha256": heldout.sha256,
            "pool_sha256": pool.sha256,
        }
        self._made_with = runtime.made_with()
        self._store = CheckpointStore(directory.checkpoints, fingerprint)
        self._saver = Saver(
            config.train, self._store, fingerprint, self._made_with, reporter.message
        )
        self._state = jax.block_until_ready(self._runner.start())
        self._is_evaluated = False
        self._clock = TrainingClock(self._state.counters)
        self._told_slow = self._has_made_chunks = False
        self._untrained: Params = jax.tree.map(jnp.copy, self._state.learner.params)

    @property
    def state(self) -> LoopState:
        """The state after the last chunk."""
        return self._state

    def begin(self, init_from: Path | None) -> None:
        """Restores the newest checkpoint; a new run may start from another's parameters.

        Raises:
            CheckpointError: there were checkpoints, and none is left that loads.
        """
        self._store.remove_leftovers()
        found = self._store.load_newest(
            parts_of(self._state),
            self._reporter.message,
            partial(problem_of, num_tasks=self._num_tasks),
            optional=(REPLAY,),
        )
        if found is None:
            self._begin_anew(init_from)
        else:
            if init_from is not None:
                self._reporter.message(
                    "warning: --init-from is ignored, since the run has checkpoints of its own"
                )
            self._go_on(*found)
        self._runner.resume(self._state)

    def loop(self) -> int:
        """Runs all stages that are left; the exit code."""
        num_chunks = self._config.train.num_chunks
        if self._chunk >= num_chunks and not self._evaluation_is_due:
            self._reporter.message(f"all {num_chunks} chunks were already made")
            return self._finish()
        tree = actor_settings(self._config).tree
        self._reporter.message(f"running on {runtime.device_name()}, search with the {tree} tree")
        try:
            self._imitate()
            self._reporter.message("compiling the search (first time: about half a minute)")
            if self._chunk == 0:
                self._evaluate_untrained()
            self._save_and_evaluate()
            self._runner.compile_fp8(self._state)
            self._reporter.stage("self-play", num_chunks, self._chunk)
            self._clock.start(self._state.counters)
            while self._chunk < num_chunks:
                self._stop.raise_if_asked()
                self._run_chunk()
                self._save_and_evaluate()
        except StoppedError:
            return self._save_and_stop()
        self._saver.require_saved()
        return self._finish()

    def close(self) -> None:
        """Ends threads."""
        self._scorer.close()
        self._evaluator.close()

    def _begin_anew(self, init_from: Path | None) -> None:
        if self._reporter.has_progress() or self._directory.has_progress():
            raise CheckpointError(
                f"the run in {self._directory.path} has made chunks, and has no checkpoint any "
                "more; restore one from a copy, or start in another run directory"
            )
        self._reporter.resume(-1)
        if init_from is not None:
            params = load_params(init_from, self._config, self._state, self._reporter.message)
            learner = replace(self._state.learner, params=params)
            self._state = replace(self._state, learner=learner)
            self._reporter.message(f"starting from the parameters of {init_from}")

    def _go_on(self, manifest: Manifest, parts: Mapping[str, Any]) -> None:
        self._state = replace(self._state, **parts)
        self._is_evaluated = manifest.score is not None
        self._reporter.resume(manifest.step, scored=self._is_evaluated)
        self._reporter.message(
            f"going on from the checkpoint of chunk {self._chunk} "
            f"({int(self._state.counters.env_steps):,} environment steps)"
        )
        if REPLAY not in parts:
            self._reporter.message(
                "warning: the checkpoint holds no replay buffer (train.checkpoint_replay): the run "
                "fills a new one, and does not go on bit for bit as it would have"
            )
        for name, made in manifest.made_with.items():
            now = self._made_with.get(name)
            if made != now:
                name, made = one_line(name, MAX_SHOWN), one_line(made, MAX_SHOWN)
                self._reporter.message(
                    f"warning: the checkpoint was made with {name} {made}, now it is {now}: the "
                    "run goes on, but not bit for bit as it would have"
                )

    @property
    def _chunk(self) -> int:
        return int(self._state.counters.chunk)

    @property
    def _updates(self) -> int:
        return int(self._state.learner.updates)

    @property
    def _evaluation_is_due(self) -> bool:
        config, chunk = self._config, self._chunk
        if self._is_evaluated or self._updates < config.train.imitation_updates:
            return False
        return chunk % config.eval.every_chunks == 0 or chunk >= config.train.num_chunks

    def _imitate(self) -> None:
        """Updates on references alone."""
        total = self._config.train.imitation_updates
        if self._updates >= total:
            return
        self._reporter.message("compiling the update (first time: about ten seconds)")
        self._reporter.stage("imitation", total, self._updates)
        every = max(1, total // IMITATION_REPORTS)
        while self._updates < total:
            self._stop.raise_if_asked()
            before = self._updates
            self._state, figures = self._runner.imitate(self._state)
            self._require_finite()
            self._reporter.progress(self._updates, {})
            if before == 0 or self._updates // every > before // every:
                self._report("imitation", update_fields(figures))

    def _run_chunk(self) -> None:
        began_s = time.monotonic()
        self._state, figures = self._runner.run(self._state)
        self._is_evaluated = False
        config, chunk = self._config, self._chunk
        self._clock.add(figures.times)
        self._report_switch(figures)
        episodes = int(self._state.counters.episodes)
        self._reporter.progress(chunk, {**counter_fields(self._state), "episodes": episodes})
        if chunk % config.logging.every_chunks == 0:
            fields = chunk_fields(config, self._state, figures)
            network_s = partial(self._runner.network_s, self._state, figures.hand_over)
            speed = self._clock.lap(self._state.counters, figures.hand_over.precision, network_s)
            self._report("train", {**fields, **speed})
        self._warn_if_slow(time.monotonic() - began_s)
        self._require_finite()

    def _require_finite(self) -> None:
        require_finite(self._state, self._runner, self._config, self._directory.path)

    def _warn_if_slow(self, took_s: float) -> None:
        """Not of the first chunk of a start, which compiles."""
        is_first, self._has_made_chunks = not self._has_made_chunks, True
        if took_s > SLOW_CHUNK_S and not is_first and not self._told_slow:
            self._told_slow = True
            self._reporter.message(
                f"warning: a chunk took {took_s:.0f} s; a signal waits for its end. Lower "
                "actor.chunk_moves or learner.updates_per_chunk to be stopped sooner"
            )

    def _report_switch(self, figures: ChunkFigures) -> None:
        """Tells that self-play has gone over to another arithmetic, and why."""
        hand_over = figures.hand_over
        if hand_over.reason is not None:
            self._reporter.message(f"self-play is in {hand_over.precision} now: {hand_over.reason}")
            self._report("switch", switch_fields(figures))

    def _save_and_evaluate(self) -> None:
        """What is due after a chunk. Saved first: a kill during the evaluation costs little."""
        self._directory.require_lock()
        is_last = self._chunk >= self._config.train.num_chunks
        is_due = self._chunk % self._config.train.checkpoint_every_chunks == 0
        if self._evaluation_is_due:
            is_saved = self._saver.save(self._state, is_last=is_last)
            score = self._evaluate()
            if is_saved:
                self._saver.note_score(self._state, score)
        elif (is_due or self._saver.is_owed) and not self._is_evaluated:
            self._saver.save(self._state, is_last=is_last)
            self._saver.tidy()

    def _evaluate_untrained(self) -> None:
        if self._reporter.has(UNTRAINED_EVENT):
            return
        report = self._evaluated(self._untrained).report
        self._reporter.attempt(
            "the report of the untrained network",
            lambda: write_report(self._directory.evaluations, UNTRAINED, report, 0),
        )
        fields = {"chunk": 0, "env_steps": 0, "learner_updates": 0, **evaluation_fields(report)}
        self._reporter.report(UNTRAINED_EVENT, fields)

    def _evaluate(self) -> float:
        """Evaluates, reports and leaves pictures; the score."""
        began_s, directory = time.monotonic(), self._directory
        evaluation = self._evaluated(self._state.learner.params)
        env_steps, name = int(self._state.counters.env_steps), f"chunk-{self._chunk:06d}"

        def write_pictures() -> None:
            write_layouts(directory.layouts, self._evaluator.specs, evaluation)
            picture = draw_curriculum(self._state.curriculum, self._config.actor.review_share)
            write_picture(directory.layouts / CURRICULUM_FILE, picture)
            self._reporter.show(shown_pictures(directory.layouts), counter_fields(self._state))

        self._reporter.attempt(
            f"the report of chunk {self._chunk}",
            lambda: write_report(directory.evaluations, name, evaluation.report, env_steps),
        )
        self._reporter.attempt(f"the pictures of chunk {self._chunk}", write_pictures)
        params, counters = self._state.learner.params, counter_fields(self._state)
        best = (directory.path, self._config, params, evaluation.report, counters)
        self._reporter.attempt(
            "the best agent", lambda: keep_best(*best, self._reporter.offer_agent)
        )
        took_s = round(time.monotonic() - began_s, 3)
        self._report("eval", {**evaluation_fields(evaluation.report), "eval_s": took_s})
        self._is_evaluated = True
        self._clock.start(self._state.counters)
        return evaluation.report["score"]

    def _evaluated(self, params: Params) -> Evaluation:
        evaluation = self._evaluator.evaluate(params, self._stop.raise_if_asked)
        self._directory.require_lock()
        return evaluation

    def _save_and_stop(self) -> int:
        self._directory.require_lock()
        if self._saver.save(self._state, is_last=True):
            self._reporter.message("stopped by a signal; saved, the same command goes on from here")
        else:
            self._reporter.message(
                "stopped by a signal; NOT SAVED, the same command goes on from the last checkpoint"
            )
        return self._stop.exit_code

    def _finish(self) -> int:
        folder = self._directory.evaluations
        report = read_report(folder, f"chunk-{self._chunk:06d}")
        if report is None:
            self._reporter.message(
                f"the report of chunk {self._chunk} is not in {folder}, or is damaged; "
                "python -m factorio_rl evaluate makes one"
            )
        else:
            console = self._reporter.display.console
            print_report(console, report, read_report(folder, UNTRAINED))
        self._reporter.message(f"pictures of held-out layouts: {self._directory.layouts}")
        return 0

    def _report(self, event: str, fields: Mapping[str, Any]) -> None:
        """Reports an event with the counters before its fields and the time after."""
        self._directory.require_lock()
        elapsed_s = round(time.monotonic() - self._began_s, 1)
        self._reporter.report(
            event, {**counter_fields(self._state), **fields, "elapsed_s": elapsed_s}
        )
