"""One chunk of training: scores that are due, self-play, verification started, updates.

In and out: the whole `LoopState`. Scores of chunk t enter the replay before chunk
t + `actor.score_lag_chunks` starts, whatever the threads did: the result does not depend on how
fast they are. Every key is folded from the seed, a purpose and a counter: none has to be saved.
"""

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from envs.actions import num_actions
from envs.types import State
from factorio_rl import curriculum
from factorio_rl.config import Config
from factorio_rl.demonstrations import References, family_longest
from factorio_rl.device_errors import CALIBRATION, SELF_PLAY, UPDATE, Work, explained
from factorio_rl.keys import make_keys
from factorio_rl.learner import (
    LearnerState,
    Shares,
    UpdateFigures,
    make_batch,
    make_update,
    mean_figures,
    start_learner,
)
from factorio_rl.loop_state import Counters, LoopState, start_counters
from factorio_rl.model import gather_tasks, make_predict
from factorio_rl.network import Network, Params, trunk_convolution_names
from factorio_rl.network_timing import evaluation_s
from factorio_rl.non_finite_case import SearchCase, UpdateCase
from factorio_rl.precision_switch import (
    HandOver,
    PrecisionState,
    is_due,
    own_arithmetic,
    start_precision,
)
from factorio_rl.replay import Replay, Scores, add_rows, add_scores, empty_replay, num_scored
from factorio_rl.scoring import ChunkScores, Scorer
from factorio_rl.selfplay import (
    ActorState,
    ChunkStats,
    Ended,
    RunChunk,
    make_run_chunk,
    nothing_ended,
    search_key,
    start_actor,
)
from factorio_rl.time_breakdown import ChunkTimes

T = TypeVar("T")


class ChunkFigures(NamedTuple):
    """Figures of one chunk; device arrays where nothing waits for them yet."""

    updates: UpdateFigures
    search: ChunkStats
    scored_rows: Array
    hand_over: HandOver
    times: ChunkTimes


class ChunkRunner:
    """The compiled programs of training, and the scores that are on their way."""

    def __init__(
        self,
        config: Config,
        network: Network,
        references: References,
        scorer: Scorer,
        *,
        may_use_fp8: bool = False,
    ) -> None:
        """Without `may_use_fp8` the actor stays in the network's own arithmetic."""
        self._config = config
        self._network = network
        self._references = references
        self._scorer = scorer
        self._keys = make_keys(config.run.seed)
        self._futures: list[Future[ChunkScores]] = []
        self._family = np.asarray(references.family)
        self._predict = make_predict(network, config.env.growth_rule)
        self._act = _jit_act(make_run_chunk(config, self._predict))
        self._precision = None
        if may_use_fp8:
            # Loaded where it is used: other runs touch nothing of FP8.
            from factorio_rl.precision import Precision, make_fp8_run_chunk

            self._precision = Precision(config, network, references, self._keys.precision)
            self._jit_act_in_fp8 = _jit_act(make_fp8_run_chunk(config, network))
            self._act_in_fp8: Callable[..., Any] = self._jit_act_in_fp8
        self._update = jax.jit(make_update(config, network), donate_argnums=0)
        self._mean = jax.jit(mean_figures)
        self._shares_of_update: Shares | None = None
        self._played_with: Params | None = None

    def start(self) -> LoopState:
        """The state before any update."""
        config, env = self._config, self._config.env
        actions = num_actions(env.height, env.width)
        references = self._references
        tallies = curriculum.start_curriculum(references.families, family_longest(references))

        def arrays(
            references: References, start_weights: Array
        ) -> tuple[LearnerState, ActorState, Replay]:
            return (
                start_learner(config, self._network, self._keys.init),
                start_actor(config, references, start_weights, self._keys.actor),
                empty_replay(config.replay.capacity, env.height, env.width, actions),
            )

        learner, actor, replay = jax.jit(arrays)(references, self._start_weights(tallies))
        nothing = nothing_ended(config, actor)
        return LoopState(
            learner=learner,
            actor=actor,
            replay=replay,
            curriculum=tallies,
            pending=(nothing,) * config.actor.score_lag_chunks,
            counters=start_counters(),
            precision=start_precision(len(trunk_convolution_names(config.network.blocks))),
        )

    def resume(self, state: LoopState) -> None:
        """Starts again to verify what the state waits for, but for what `run` starts itself."""
        self._futures = [self._scorer.submit(ended) for ended in state.pending[:-1]]

    def compile_fp8(self, state: LoopState) -> None:
        """Compiles what a change to FP8 needs, lest a signal has to wait for that later."""
        if self._precision is None:
            return
        params, due = state.learner.params, state.pending[0]
        scores = Scores(due.ended, due.episode, jnp.zeros(due.ended.shape, jnp.float32))
        with explained(CALIBRATION, self._config):
            scales = self._precision.calibrated(
                state.precision, params, state.replay, self._shares(0, state.curriculum), 0
            ).scales
            frozen, _ = self._precision.compared(params, scales)
        with explained(SELF_PLAY, self._config):
            self._act_in_fp8 = self._jit_act_in_fp8.lower(
                frozen,
                self._references,
                self._start_weights(state.curriculum),
                state.actor,
                state.replay,
                scores,
                self._keys.chunk,
            ).compile()

    def imitate(self, state: LoopState) -> tuple[LoopState, UpdateFigures]:
        """`learner.updates_per_chunk` updates on references alone."""
        finished = self._config.learner.incomplete_share
        families = self._family_shares(state.curriculum)
        shares = Shares(jnp.float32(1.0 - finished), jnp.float32(finished), families)
        precision = self._calibrated(state, shares)
        learner, figures = self._wait(
            UPDATE, self._updates(state.learner, state.replay, shares, precision.scales)
        )
        return replace(state, learner=learner, precision=precision), figures

    def run(self, state: LoopState) -> tuple[LoopState, ChunkFigures]:
        """The state one chunk later; call `resume` once before the first."""
        began_s = time.monotonic()
        due, outcomes = state.pending[0], self._futures.pop(0).result()
        verification_s = time.monotonic() - began_s
        scores = Scores(due.ended, due.episode, jnp.asarray(outcomes.score))
        tallies = curriculum.tally(state.curriculum, due, outcomes, self._family)
        chunk = int(state.counters.chunk)
        shares = self._shares(chunk, tallies)
        hand_over = self._hand_over(state, shares)
        moving_s = time.monotonic()
        actor, replay, ended, stats = self._play(state, hand_over, tallies, scores)
        scored_rows = num_scored(replay)
        scales = hand_over.state.scales
        learner, updates = self._updates(state.learner, replay, shares, scales)
        ended = jax.device_get(self._wait(SELF_PLAY, ended))
        played_s = time.monotonic()
        self._wait(UPDATE, updates)
        times = ChunkTimes(verification_s, played_s - moving_s, time.monotonic() - played_s)
        after = LoopState(
            learner=learner,
            actor=actor,
            replay=replay,
            curriculum=tallies,
            pending=(*state.pending[1:], ended),
            counters=self._count(state.counters, due, outcomes, ended),
            precision=hand_over.state,
        )
        return after, ChunkFigures(updates, stats, scored_rows, hand_over, times)

    def network_s(self, state: LoopState, hand_over: HandOver) -> float:
        """Seconds that the evaluations of a chunk's searches take by themselves; measures them."""
        predict, variables = self._predict, state.learner.params
        if hand_over.frozen is not None:
            from factorio_rl.precision import fp8_predicts

            predict, _ = fp8_predicts(self._config, self._network)
            variables = hand_over.frozen
        tasks = gather_tasks(self._references.tasks, state.actor.task_index)
        with explained(SELF_PLAY, self._config):
            one_s = evaluation_s(predict, variables, State(tasks, state.actor.board))
        per_move = self._config.search.num_simulations + 1
        return one_s * per_move * self._config.actor.chunk_moves

    def _play(
        self,
        state: LoopState,
        hand_over: HandOver,
        tallies: curriculum.Curriculum,
        scores: Scores,
    ) -> tuple[ActorState, Replay, Ended, ChunkStats]:
        """Starts to verify what the last chunk ended, and the moves of the next one.

        The scores that are due are in the replay before these.
        """
        act, params = self._act, state.learner.params
        # The updates overwrite the parameters, and `last_search` may be asked for.
        limit = self._config.actor.max_non_finite_chunks
        is_last_chance = state.counters.non_finite_chunks >= limit
        self._played_with = jax.tree.map(jnp.copy, params) if is_last_chance else None
        if hand_over.frozen is not None:
            act, params = self._act_in_fp8, hand_over.frozen
        weights = self._start_weights(tallies)
        key = jax.random.fold_in(self._keys.chunk, int(state.counters.chunk))
        # Threads that verify hold the interpreter lock so often that all else the host does takes
        # many times as long. So they begin now: the call below holds it no longer, for as long as
        # it takes to hand thousands of kernels to a GPU.
        self._futures.append(self._scorer.submit(state.pending[-1]))
        with explained(SELF_PLAY, self._config):
            return act(params, self._references, weights, state.actor, state.replay, scores, key)

    def _wait(self, work: Work, values: T) -> T:
        """Waits for what is computed in the background.

        Where that fails, reading a value would wait for ever (CPU, jax 0.10.2); this raises.
        """
        with explained(work, self._config):
            return jax.block_until_ready(values)

    def last_update(self, state: LoopState) -> UpdateCase:
        """What the last update was computed from, in a state that this runner returned.

        It was skipped: so parameters, optimizer and replay are still as they were before it.
        """
        assert self._shares_of_update is not None
        key = jax.random.fold_in(self._keys.update, int(state.learner.updates) - 1)
        batch = jax.jit(partial(make_batch, self._config))(
            state.replay, self._references, self._shares_of_update, key
        )
        learner = state.learner
        return UpdateCase(learner.params, learner.optimizer, batch, state.precision.scales)

    def last_search(self, state: LoopState) -> SearchCase:
        """The first move of the last chunk with a search that was not finite.

        For a state that this runner returned, with more such chunks in a row than the settings
        allow. Such a search ended its episode, so what it began from is among what ended.
        """
        assert self._played_with is not None
        ended = state.pending[-1]
        move = int(np.argmax(ended.non_finite.any(axis=1)))
        of_move: Ended = jax.device_put(jax.tree.map(lambda leaf: leaf[move], ended))
        finished = of_move.board.finished & ~of_move.non_finite
        tasks = gather_tasks(self._references.tasks, of_move.task_index)
        states = State(tasks, replace(of_move.board, finished=finished))
        chunk_key = jax.random.fold_in(self._keys.chunk, int(state.counters.chunk) - 1)
        return SearchCase(
            params=self._played_with,
            scales=state.precision.scales,
            in_fp8=state.precision.in_fp8,
            states=states,
            non_finite=of_move.non_finite,
            key=jax.random.key_data(search_key(chunk_key, move)),
        )

    def _calibrated(self, state: LoopState, shares: Shares) -> PrecisionState:
        """The precision state, with scales for the present parameters where they are used.

        Where they are not there are none, lest those of other parameters pass for theirs.
        """
        uses_scales = self._config.learner.qat or is_due(
            self._config.actor.switch, int(state.counters.env_steps)
        )
        if self._precision is None or not uses_scales:
            return replace(state.precision, scales=jnp.zeros_like(state.precision.scales))
        updates = int(state.learner.updates)
        with explained(CALIBRATION, self._config):
            return self._precision.calibrated(
                state.precision, state.learner.params, state.replay, shares, updates
            )

    def _hand_over(self, state: LoopState, shares: Shares) -> HandOver:
        """The arithmetic of the next chunk, and the parameters in it if it is FP8."""
        if self._precision is None:
            return own_arithmetic(state.precision)
        calibrated = self._calibrated(state, shares)
        env_steps = int(state.counters.env_steps)
        with explained(CALIBRATION, self._config):
            return self._precision.hand_over(calibrated, state.learner.params, env_steps)

    def _updates(
        self, learner: LearnerState, replay: Replay, shares: Shares, scales: Array
    ) -> tuple[LearnerState, UpdateFigures]:
        self._shares_of_update = shares
        first = int(learner.updates)
        figures = []
        with explained(UPDATE, self._config):
            for number in range(first, first + self._config.learner.updates_per_chunk):
                key = jax.random.fold_in(self._keys.update, number)
                learner, of_update = self._update(
                    learner, replay, self._references, shares, scales, key
                )
                figures.append(of_update)
            return learner, self._mean(figures)

    def _start_weights(self, tallies: curriculum.Curriculum) -> Array:
        """Of a chunk that follows these tallies, which hold only scores that were due before it."""
        actor = self._config.actor
        return jnp.asarray(
            curriculum.start_weights(tallies, actor.review_share, actor.family_focus)
        )

    def _family_shares(self, tallies: curriculum.Curriculum) -> Array:
        return jnp.asarray(curriculum.family_shares(tallies, self._config.actor.family_focus))

    def _shares(self, chunk: int, tallies: curriculum.Curriculum) -> Shares:
        learner, last = self._config.learner, max(self._config.train.num_chunks - 1, 1)
        first_share, last_share = (
            learner.demonstration_share_start,
            learner.demonstration_share_end,
        )
        share = first_share + (last_share - first_share) * min(chunk / last, 1.0)
        families = self._family_shares(tallies)
        return Shares(jnp.float32(share), jnp.float32(learner.incomplete_share), families)

    def _count(
        self, counters: Counters, due: Ended, outcomes: ChunkScores, ended: Ended
    ) -> Counters:
        actor = self._config.actor
        non_finite = ended.non_finite.sum()
        in_a_row = counters.non_finite_chunks + 1 if non_finite else np.zeros((), np.int64)
        return Counters(
            chunk=np.asarray(counters.chunk + 1),
            env_steps=np.asarray(counters.env_steps + actor.num_envs * actor.chunk_moves),
            episodes=np.asarray(counters.episodes + due.ended.sum()),
            inexact=np.asarray(counters.inexact + outcomes.inexact),
            failed=np.asarray(counters.failed + outcomes.failed),
            non_finite_moves=np.asarray(counters.non_finite_moves + non_finite),
            non_finite_chunks=np.asarray(in_a_row),
        )


def _jit_act(run_chunk: RunChunk):
    return jax.jit(partial(_act, run_chunk), donate_argnums=(3, 4))


def _act(
    run_chunk: RunChunk,
    params: Params,
    references: References,
    start_weights: Array,
    actor: ActorState,
    replay: Replay,
    scores: Scores,
    key: Array,
) -> tuple[ActorState, Replay, Ended, ChunkStats]:
    actor, chunk = run_chunk(params, references, start_weights, actor, key)
    replay = add_rows(add_scores(replay, scores), chunk.rows)
    return actor, replay, chunk.ended, chunk.stats
