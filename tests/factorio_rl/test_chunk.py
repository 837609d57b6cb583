"""One chunk of training: scores arrive a fixed number of chunks later, however slow to verify.

Play and updates are replaced by cheap ones, which take minutes less to compile: episodes end by
chance where they began, and parameters take up what the replay knows.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from envs.actions import num_actions
from envs.solved import Solved
from factorio_rl import chunk, precision
from factorio_rl.chunk import ChunkRunner
from factorio_rl.config import Config
from factorio_rl.curriculum import start_weights
from factorio_rl.demonstrations import References, sample_finished
from factorio_rl.keys import make_keys
from factorio_rl.learner import LearnerState, Shares, Update, UpdateFigures, mean_figures
from factorio_rl.loop_state import LoopState
from factorio_rl.losses import LossFigures
from factorio_rl.model import Params, Predict
from factorio_rl.network import Network
from factorio_rl.precision_switch import PrecisionState, start_precision
from factorio_rl.replay import Replay, Rows
from factorio_rl.scoring import Outcome, Scorer
from factorio_rl.selfplay import ActorState, Chunk, ChunkStats, Ended, RunChunk

CHUNKS = 6

LAG = 3
"""`actor.score_lag_chunks` of the tiny configuration."""


def cheap_play(config: Config, predict: Predict) -> RunChunk:
    """Episodes that end by chance on the board that they began on; stats tell the weights."""
    del predict
    moves, envs = config.actor.chunk_moves, config.actor.num_envs
    actions = num_actions(config.env.height, config.env.width)

    def run_chunk(
        params: Params,
        references: References,
        start_weights: jax.Array,
        actor: ActorState,
        key: jax.Array,
    ) -> tuple[ActorState, Chunk]:
        del params, references
        over = jax.random.bernoulli(key, 0.2, (moves, envs))
        counts = jnp.cumsum(over, axis=0, dtype=jnp.int32)
        every = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (moves, *leaf.shape)), actor)
        episode = every.episode + counts - over
        board = replace(every.board, finished=over)
        env = jnp.broadcast_to(jnp.arange(envs), (moves, envs))
        policy = jnp.ones((moves, envs, actions)) / actions
        rows = Rows(every.task_index, board, policy, env, episode, jnp.ones_like(over))
        flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), rows)
        ended = Ended(
            over,
            every.task_index,
            board,
            episode,
            every.removed,
            every.start_placed,
            jnp.zeros_like(over),
        )
        marked = start_weights * jnp.arange(start_weights.size).reshape(start_weights.shape)
        stats = ChunkStats(marked.sum(), *jnp.zeros(len(ChunkStats._fields) - 1))
        return replace(actor, episode=actor.episode + counts[-1]), Chunk(flat, ended, stats)

    return run_chunk


def cheap_update(config: Config, network: Network) -> Update:
    """Parameters that depend on all values that are known and on the key."""
    del config, network

    def update(
        state: LearnerState,
        replay: Replay,
        references: References,
        shares: Shares,
        scales: jax.Array,
        key: jax.Array,
    ) -> tuple[LearnerState, UpdateFigures]:
        del references
        step = replay.value.sum() * shares.demonstrations + jax.random.uniform(key)
        params = jax.tree.map(lambda leaf: leaf + step, state.params)
        losses = LossFigures(*jnp.ones(len(LossFigures._fields)))
        figures = UpdateFigures(losses._replace(loss=scales.sum()), step, jnp.isfinite(step))
        return replace(state, params=params, updates=state.updates + 1), figures

    return update


class SlowScorer(Scorer):
    """A scorer that takes its time."""

    delay_s = 0.0

    def _score_places(self, ended: Ended, places: np.ndarray) -> list[Outcome]:
        time.sleep(self.delay_s)
        return super()._score_places(ended, places)


@pytest.fixture(scope="module")
def scorer(solved: list[Solved]) -> Iterator[SlowScorer]:
    made = SlowScorer([entry.spec for entry in solved], threads=3)
    yield made
    made.close()


@pytest.fixture(scope="module")
def runner(
    config: Config, network: Network, references: References, scorer: SlowScorer
) -> Iterator[ChunkRunner]:
    large = config.replay.model_copy(update={"capacity": 400})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunk, "make_run_chunk", cheap_play)
        patch.setattr(chunk, "make_update", cheap_update)
        changed = config.model_copy(update={"replay": large})
        yield ChunkRunner(changed, network, references, scorer)


def taken_up(state: LoopState) -> LoopState:
    """A state from the host with learner, actor and replay on the device, as from a file."""
    learner, actor, replay, scales = jax.device_put(
        (state.learner, state.actor, state.replay, state.precision.scales)
    )
    precision = replace(state.precision, scales=scales)
    return replace(state, learner=learner, actor=actor, replay=replay, precision=precision)


def run(runner: ChunkRunner, state: LoopState, chunks: int) -> list[LoopState]:
    """The states after each chunk, on the host."""
    runner.resume(state)
    states = []
    for _ in range(chunks):
        state, _ = runner.run(state)
        states.append(jax.tree.map(np.copy, jax.device_get(state)))
    return states


@pytest.fixture(scope="module")
def states(runner: ChunkRunner, config: Config, references: References) -> list[LoopState]:
    """States after 0 to 6 chunks without a stop; some of the layouts played are whole."""
    start = runner.start()
    whole = sample_finished(jax.random.key(1), references, config.actor.num_envs)
    board = replace(whole.board, finished=start.actor.board.finished)
    start = replace(start, actor=replace(start.actor, task_index=whole.task_index, board=board))
    first = jax.tree.map(np.copy, jax.device_get(start))
    return [first, *run(runner, start, CHUNKS)]


def ended_episodes(state: LoopState) -> set[tuple[int, int]]:
    """(environment, episode) of what the last chunk ended."""
    last = state.pending[-1]
    places = zip(*np.nonzero(last.ended), strict=True)
    return {(int(env), int(last.episode[move, env])) for move, env in places}


def test_scores_enter_the_replay_a_fixed_number_of_chunks_after_the_episode_ended(
    states: list[LoopState],
) -> None:
    assert all(ended_episodes(state) for state in states[1:])
    for number, state in enumerate(states):
        replay = state.replay
        scored = {
            (int(env), int(episode))
            for env, episode in zip(
                replay.env[replay.scored], replay.episode[replay.scored], strict=True
            )
        }
        due = states[1 : max(number - LAG + 1, 1)]
        assert scored == set().union(*map(ended_episodes, due))


def test_values_are_the_verified_scores(states: list[LoopState], scorer: SlowScorer) -> None:
    replay = states[-1].replay
    for state in states[1:-LAG]:
        ended = state.pending[-1]
        scores = scorer.submit(ended).result()
        for move, env in zip(*np.nonzero(ended.ended), strict=True):
            rows = (replay.env == env) & (replay.episode == ended.episode[move, env])
            assert np.all(replay.value[rows] == scores.score[move, env])
    assert np.any(replay.value > 0)


def test_pending_holds_what_the_last_chunks_ended(states: list[LoopState]) -> None:
    for before, after in pairwise(states):
        assert len(after.pending) == LAG
        jax.tree.map(np.testing.assert_array_equal, after.pending[0], before.pending[1])


def test_counters_count(config: Config, states: list[LoopState]) -> None:
    steps = config.actor.num_envs * config.actor.chunk_moves
    updates = config.learner.updates_per_chunk
    for number, state in enumerate(states):
        assert int(state.counters.chunk) == number
        assert int(state.counters.env_steps) == number * steps
        assert int(state.learner.updates) == number * updates
    ended = [state.pending[-1].ended.sum() for state in states[1:]]
    assert int(states[-1].counters.episodes) == sum(ended[:-LAG])


def test_starts_of_a_chunk_are_drawn_by_the_scores_that_were_due_before_it(
    runner: ChunkRunner, config: Config, states: list[LoopState]
) -> None:
    first = taken_up(states[0])
    at_one_level = jnp.full_like(first.actor.removed, 5)
    nothing = jax.tree.map(jnp.zeros_like, first.actor.board)
    unsolved = replace(
        first.actor, board=nothing, removed=at_one_level, task_index=0 * at_one_level
    )
    state = replace(first, actor=unsolved)
    runner.resume(state)
    known = []
    for _ in range(CHUNKS):
        state, figures = runner.run(state)
        actor = config.actor
        weights = start_weights(state.curriculum, actor.review_share, actor.family_focus)
        marked = weights * np.arange(weights.size).reshape(weights.shape)
        np.testing.assert_allclose(figures.search.target_entropy, marked.sum(), rtol=1e-5)
        known.append(float(marked.sum()))
    assert len(set(known)) > 1


def test_slow_verifier_changes_nothing(
    runner: ChunkRunner, scorer: SlowScorer, states: list[LoopState]
) -> None:
    scorer.delay_s = 0.1
    slow = run(runner, taken_up(states[0]), CHUNKS)
    scorer.delay_s = 0.0
    jax.tree.map(np.testing.assert_array_equal, slow[-1], states[-1])


def test_run_taken_up_from_its_state_equals_one_without_a_stop(
    runner: ChunkRunner, states: list[LoopState]
) -> None:
    for stop in (1, 3):
        resumed = run(runner, taken_up(states[stop]), CHUNKS - stop)
        jax.tree.map(np.testing.assert_array_equal, resumed[-1], states[-1])


def test_imitation_updates_the_learner_alone(
    runner: ChunkRunner, config: Config, states: list[LoopState]
) -> None:
    before = states[0]
    after, figures = runner.imitate(taken_up(before))
    assert int(after.learner.updates) == config.learner.updates_per_chunk
    assert bool(figures.finite)
    for name in ("actor", "replay", "curriculum", "pending", "counters"):
        jax.tree.map(
            np.testing.assert_array_equal,
            getattr(before, name),
            jax.device_get(getattr(after, name)),
        )


def test_figures_of_skipped_updates_are_left_out_of_the_means() -> None:
    def figures(loss: float) -> UpdateFigures:
        value = jnp.float32(loss)
        losses = LossFigures(*[value] * len(LossFigures._fields))
        return UpdateFigures(losses, 2 * value, jnp.isfinite(value))

    mean = mean_figures([figures(1.0), figures(float("nan")), figures(2.0)])
    assert float(mean.losses.loss) == 1.5
    assert float(mean.gradient_norm) == 3.0
    assert not mean.finite
    assert mean_figures([figures(1.0), figures(3.0)]).finite
    assert np.isnan(mean_figures([figures(float("inf"))]).losses.loss)


def test_keys_of_purposes_and_seeds_differ() -> None:
    numbers = {
        bytes(jax.random.key_data(key)) for seed in (0, 1) for key in vars(make_keys(seed)).values()
    }
    assert len(numbers) == 10


def cheap_play_in_fp8(config: Config, network: Network) -> RunChunk:
    """As `cheap_play`, with stats that tell the sum of the scales in the frozen parameters."""
    play = cheap_play(config, lambda *_: None)
    del network

    def run_chunk(
        params: Params,
        references: References,
        start_weights: jax.Array,
        actor: ActorState,
        key: jax.Array,
    ) -> tuple[ActorState, Chunk]:
        block = params["fp8"]["ResidualBlock_0"]
        scales = [block[name]["activation_scale"] for name in ("Conv_0", "Conv_1")]
        actor, played = play(params, references, start_weights, actor, key)
        return actor, played._replace(stats=played.stats._replace(root_value=sum(scales)))

    return run_chunk


def test_chunk_in_fp8_is_played_and_learnt_with_the_scales_of_its_parameters(
    config: Config,
    network: Network,
    references: References,
    scorer: SlowScorer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chunk, "make_run_chunk", cheap_play)
    monkeypatch.setattr(chunk, "make_update", cheap_update)
    monkeypatch.setattr(precision, "make_fp8_run_chunk", cheap_play_in_fp8)
    switch = config.actor.switch.model_copy(update={"gate": False})
    actor = config.actor.model_copy(update={"switch": switch})
    config = config.model_copy(update={"actor": actor})
    runner = ChunkRunner(config, network, references, scorer, may_use_fp8=True)
    calibration = precision.Precision(config, network, references, make_keys(0).precision)
    state = runner.start()
    runner.resume(state)
    used = []
    for number in range(2):
        learner = config.learner
        share = learner.demonstration_share_start
        share += (learner.demonstration_share_end - share) * number / (config.train.num_chunks - 1)
        shares = Shares(jnp.float32(share), jnp.float32(learner.incomplete_share))
        expected = calibration.calibrated(
            start_precision(2), state.learner.params, state.replay, shares, 2 * number
        )
        state, figures = runner.run(state)
        assert figures.hand_over.precision == "fp8"
        np.testing.assert_array_equal(state.precision.scales, expected.scales)
        total = float(expected.scales.sum())
        assert float(figures.search.root_value) == pytest.approx(total)
        assert float(figures.updates.losses.loss) == pytest.approx(total)
        used.append(total)
    # The updates in between have changed all parameters.
    assert used[0] != used[1]


def test_runner_that_must_not_use_fp8_forgets_it_and_says_so(runner: ChunkRunner) -> None:
    state = runner.start()
    in_fp8 = PrecisionState(jnp.ones(2), np.asarray(True), np.asarray(3, np.int64))
    runner.resume(state)
    after, figures = runner.run(replace(state, precision=in_fp8))
    assert figures.hand_over.precision == "bf16"
    assert figures.hand_over.reason is not None
    assert not after.precision.in_fp8
    assert not after.precision.scales.any()
    _, figures = runner.run(after)
    assert figures.hand_over.reason is None
