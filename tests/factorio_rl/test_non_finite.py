"""Numbers that are not finite: updates skipped, moves given up, the run ended with a dump.

They come of what a run can have: a score in the replay that is no number, weights that are so
large that activations overflow.
"""

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_setup import overflowing_on_gears

from envs.errors import UserError
from envs.solved import Solved
from factorio_rl.chunk import ChunkRunner
from factorio_rl.cli import main
from factorio_rl.config import Config
from factorio_rl.demonstrations import References
from factorio_rl.loop_state import LoopState
from factorio_rl.network import Network
from factorio_rl.non_finite import NonFiniteError, require_finite, why_not_to_save
from factorio_rl.non_finite_case import SearchCase, UpdateCase, look_again
from factorio_rl.non_finite_dump import read_dump, write_dump
from factorio_rl.runtime import made_with
from factorio_rl.scoring import Scorer

ROOT = Path(__file__).parents[2]

HUGE = 1e38
"""A weight whose products overflow float32."""


@pytest.fixture(scope="module")
def limited(config: Config) -> Config:
    """At most one update and one chunk in a row may be not finite."""
    return config.model_copy(
        update={
            "learner": config.learner.model_copy(update={"max_skipped_updates": 1}),
            "actor": config.actor.model_copy(update={"max_non_finite_chunks": 1}),
        }
    )


@pytest.fixture(scope="module")
def scorer(solved: list[Solved]) -> Iterator[Scorer]:
    made = Scorer([entry.spec for entry in solved], threads=1)
    yield made
    made.close()


@pytest.fixture(scope="module")
def runner(
    limited: Config, network: Network, references: References, scorer: Scorer
) -> ChunkRunner:
    return ChunkRunner(limited, network, references, scorer)


@pytest.fixture(scope="module")
def saved(runner: ChunkRunner) -> LoopState:
    """The state before any update, on the host."""
    return jax.tree.map(np.copy, jax.device_get(runner.start()))


def taken_up(runner: ChunkRunner, saved: LoopState) -> LoopState:
    """The state as it is after a restart; chunks and updates overwrite what they get."""
    parts = (saved.learner, saved.actor, saved.replay, saved.precision.scales)
    learner, actor, replay, scales = jax.device_put(parts)
    precision = replace(saved.precision, scales=scales)
    runner.resume(saved)
    return replace(saved, learner=learner, actor=actor, replay=replay, precision=precision)


@pytest.fixture
def start(runner: ChunkRunner, saved: LoopState) -> LoopState:
    return taken_up(runner, saved)


def with_params(state: LoopState, change: Any) -> LoopState:
    """The state with other parameters, of its own: an update overwrites them."""
    params = jax.tree.map(lambda leaf: jnp.asarray(change(np.asarray(leaf))), state.learner.params)
    return replace(state, learner=replace(state.learner, params=params))


def overflowing(state: LoopState) -> LoopState:
    return with_params(state, lambda leaf: np.full_like(leaf, HUGE))


def test_score_that_is_no_number_skips_updates_until_it_is_gone(
    runner: ChunkRunner, start: LoopState
) -> None:
    bad = replace(
        start.replay,
        episode=jnp.zeros_like(start.replay.episode),
        value=jnp.full_like(start.replay.value, jnp.nan),
        scored=jnp.ones_like(start.replay.scored),
    )
    params, optimizer = jax.device_get((start.learner.params, start.learner.optimizer))
    state, figures = runner.run(replace(start, replay=bad))
    assert (int(state.learner.updates), int(state.learner.skipped)) == (2, 2)
    assert int(state.learner.skipped_in_row) == 2
    assert not figures.updates.finite
    assert np.isnan(figures.updates.losses.loss)
    after = jax.device_get((state.learner.params, state.learner.optimizer))
    jax.tree.map(np.testing.assert_array_equal, after, (params, optimizer))
    assert why_not_to_save(state) == "the last updates were skipped, 2 in a row"
    assert why_not_to_save(state, is_last=True) is None
    good = replace(state.replay, value=jnp.zeros_like(state.replay.value))
    state, figures = runner.run(replace(state, replay=good))
    assert (int(state.learner.skipped), int(state.learner.skipped_in_row)) == (2, 0)
    assert figures.updates.finite
    assert why_not_to_save(state) is None


def test_network_that_overflows_plays_finish_and_fills_no_replay(
    runner: ChunkRunner, limited: Config, start: LoopState
) -> None:
    moves = limited.actor.num_envs * limited.actor.chunk_moves
    state, figures = runner.run(overflowing(start))
    assert int(state.counters.non_finite_moves) == moves
    assert int(state.counters.non_finite_chunks) == 1
    assert np.isnan(figures.search.root_value)
    ended = state.pending[-1]
    assert ended.non_finite.all()
    assert ended.ended.all()
    np.testing.assert_array_equal(ended.board.placed, ended.start_placed)
    assert np.all(np.asarray(state.replay.episode) == -1)
    assert int(state.replay.cursor) == 0


def test_chunk_with_finite_searches_begins_the_count_anew(
    runner: ChunkRunner, start: LoopState
) -> None:
    sound = jax.device_get(start.learner.params)
    state, _ = runner.run(overflowing(start))
    assert why_not_to_save(state) is not None
    mended = replace(state.learner, params=jax.device_put(sound), skipped_in_row=jnp.int32(0))
    state = replace(state, learner=mended)
    assert why_not_to_save(state) == "searches of the last chunk were not finite"
    before = int(state.counters.non_finite_moves)
    state, figures = runner.run(state)
    assert int(state.counters.non_finite_chunks) == 0
    assert int(state.counters.non_finite_moves) == before
    assert np.isfinite(figures.search.root_value)
    assert int(state.replay.cursor) > 0


def test_parameter_that_is_not_finite_is_not_to_be_saved(start: LoopState) -> None:
    assert why_not_to_save(start) is None
    broken = with_params(start, lambda leaf: np.where(leaf == leaf.max(), np.inf, leaf))
    assert why_not_to_save(broken) == "a parameter is not finite"
    assert why_not_to_save(broken, is_last=True) == "a parameter is not finite"
    scales = start.precision.scales.at[1].set(jnp.nan)
    state = replace(start, precision=replace(start.precision, scales=scales))
    assert why_not_to_save(state) == "a parameter is not finite"


def test_what_is_within_the_limits_does_not_end_the_run(
    runner: ChunkRunner, limited: Config, start: LoopState, tmp_path: Path
) -> None:
    learner = replace(start.learner, skipped_in_row=jnp.int32(1))
    counters = replace(start.counters, non_finite_chunks=np.asarray(1))
    require_finite(replace(start, learner=learner, counters=counters), runner, limited, tmp_path)
    assert not any(tmp_path.iterdir())


def test_searches_past_the_limit_end_the_run(
    runner: ChunkRunner, limited: Config, start: LoopState, tmp_path: Path
) -> None:
    one_before = replace(start.counters, non_finite_chunks=np.asarray(1))
    state, _ = runner.run(replace(overflowing(start), counters=one_before))
    learner = replace(state.learner, skipped_in_row=jnp.int32(0))
    with pytest.raises(NonFiniteError, match="searches of chunks 0 to 1, 2 in a row"):
        require_finite(replace(state, learner=learner), runner, limited, tmp_path)


@pytest.fixture(scope="module")
def dumped_update(
    runner: ChunkRunner,
    saved: LoopState,
    limited: Config,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, str]:
    """The dump of updates with weights that overflow, and the message."""
    run_dir = tmp_path_factory.mktemp("update")
    state, _ = runner.imitate(overflowing(taken_up(runner, saved)))
    with pytest.raises(NonFiniteError) as caught:
        require_finite(state, runner, limited, run_dir)
    assert caught.value.exit_code == 3
    return run_dir / "non_finite" / "2", str(caught.value)


@pytest.fixture(scope="module")
def dumped_search(
    runner: ChunkRunner,
    saved: LoopState,
    limited: Config,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The dump of searches that are not finite on tasks of gears, whereas updates are."""
    run_dir = tmp_path_factory.mktemp("search")
    state, sound = taken_up(runner, saved), saved.learner
    for _ in range(2):
        require_finite(state, runner, limited, run_dir)
        learner = replace(jax.device_put(sound), params=overflowing_on_gears(sound.params))
        state, _ = runner.run(replace(state, learner=learner))
        state = replace(state, learner=jax.device_put(sound))
    with pytest.raises(NonFiniteError, match="searches of chunks 1 to 2, 2 in a row"):
        require_finite(state, runner, limited, run_dir)
    return run_dir / "non_finite" / "0"


def test_message_says_what_where_and_what_to_do(dumped_update: tuple[Path, str]) -> None:
    folder, message = dumped_update
    assert "not finite in updates 1 to 2, so 2 in a row were skipped" in message
    assert f"python -m factorio_rl reproduce {folder}" in message
    assert "lower learner.learning_rate (now 0.01)" in message
    assert "\n" not in message


def test_update_is_reproduced_from_its_dump_in_another_process(
    dumped_update: tuple[Path, str],
) -> None:
    command = [sys.executable, "-m", "factorio_rl", "reproduce", str(dumped_update[0])]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    printed = ran.stdout
    assert "updates 1 to 2" in printed
    assert "the first that is not finite is network output policy_logits: " in printed
    assert "then loss loss: 1 NaN of 1" in printed


def test_search_is_reproduced_from_its_dump(
    dumped_search: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", str(dumped_search)]) == 0
    printed = capsys.readouterr().out
    case = read_dump(dumped_search).case
    assert isinstance(case, SearchCase)
    rows = int(case.non_finite.sum())
    assert 0 < rows < case.non_finite.size
    said = f"the first that is not finite is network output at the root value: {rows} NaN of {rows}"
    assert said in printed
    assert "then values in the tree: " in printed


def test_search_in_fp8_is_made_again_in_fp8(
    limited: Config, network: Network, dumped_search: Path
) -> None:
    """With scales that are no numbers the tree is not finite, but its root, which is not in FP8."""
    case = read_dump(dumped_search).case
    assert isinstance(case, SearchCase)
    params = jax.tree.map(lambda leaf: np.full_like(leaf, 1e-3), case.params)
    scales = np.full(2, np.nan, np.float32)
    in_fp8 = case._replace(params=params, scales=scales, in_fp8=np.asarray(True))
    found = [each for each in look_again(limited, network, in_fp8) if not each.is_finite]
    assert [each.quantity for each in found[:2]] == ["scale", "prior logits in the tree"]


def test_dump_holds_the_batch_of_the_last_update(
    runner: ChunkRunner, start: LoopState, dumped_update: tuple[Path, str]
) -> None:
    state, _ = runner.imitate(start)
    expected = runner.last_update(state).batch
    case = read_dump(dumped_update[0]).case
    assert isinstance(case, UpdateCase)
    jax.tree.map(np.testing.assert_array_equal, case.batch, jax.device_get(expected))


def test_what_is_finite_on_this_device_is_told_apart(
    runner: ChunkRunner,
    limited: Config,
    start: LoopState,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    state, _ = runner.imitate(start)
    write_dump(tmp_path / "dump", limited, runner.last_update(state), "made up")
    assert main(["reproduce", str(tmp_path / "dump")]) == 1
    printed = capsys.readouterr().out
    assert "not reproduced: all " in printed
    for name, value in made_with().items():
        assert printed.count(f"{name} {value}") == 2


def test_full_disk_costs_the_dump_and_not_the_message(
    runner: ChunkRunner, limited: Config, start: LoopState, tmp_path: Path
) -> None:
    (tmp_path / "non_finite").write_text("a file where the folder should be")
    state, _ = runner.imitate(overflowing(start))
    with pytest.raises(NonFiniteError, match=r"could not be written to .*Not a directory"):
        require_finite(state, runner, limited, tmp_path)


def with_scales(folder: Path, scales: np.ndarray) -> bytes:
    """The arrays of a dump with other scales, which this update does not even use."""
    file = io.BytesIO()
    with np.load(folder / "arrays.npz") as arrays:
        np.savez(file, **{**arrays, "scales": scales})
    return file.getvalue()


def test_damaged_dump_is_refused_in_one_line(
    dumped_update: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = dumped_update[0]
    about = json.loads((folder / "dump.json").read_text())
    other = json.dumps({**about, "format": 99})
    arrays = (folder / "arrays.npz").read_bytes()
    damages = [
        ("dump.json", b"[]"),
        ("dump.json", other.encode()),
        ("arrays.npz", arrays[:-100]),
        ("arrays.npz", arrays.replace(b"<f4", b"<i4")),
        ("arrays.npz", with_scales(folder, np.zeros(3, np.float32))),
        ("arrays.npz", with_scales(folder, np.zeros(2, np.int32))),
        ("arrays.npz", with_scales(folder, np.array([None, None]))),
    ]
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    for name, content in damages:
        whole = (copy / name).read_bytes()
        (copy / name).write_bytes(content)
        assert main(["reproduce", str(copy)]) == UserError.exit_code
        printed = capsys.readouterr().err
        assert printed.startswith(f"error: cannot read {copy / name}: ")
        assert printed.count("\n") == 1
        (copy / name).write_bytes(whole)
    assert main(["reproduce", str(tmp_path / "nowhere")]) == UserError.exit_code
