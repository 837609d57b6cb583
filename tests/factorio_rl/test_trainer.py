"""The training run as a whole: exact resume, determinism, refusals. Tiny sizes."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from saved_runs import CONFIG, TINY, metrics_lines, saved, steps

from factorio_rl.checkpoint_check import CheckpointError
from factorio_rl.checkpoint_manifest import read_manifest, write_manifest
from factorio_rl.cli import main, train_main
from factorio_rl.config import Config
from factorio_rl.config_file import load_config
from factorio_rl.evaluation import Evaluation, Evaluator
from factorio_rl.metrics import read_metrics
from factorio_rl.non_finite import NonFiniteError
from factorio_rl.preemption import StopRequest
from factorio_rl.run_lock import LockedError, RunLock
from factorio_rl.trainer import train


class StopAfterChunk(StopRequest):
    """Asks to stop once a training line of this chunk is in the metrics, as a signal would."""

    def __init__(self, run_dir: Path, chunk: int) -> None:
        super().__init__()
        self.signal_number = 15
        self._metrics, self._chunk = run_dir / "metrics.jsonl", chunk

    def __bool__(self) -> bool:
        lines = read_metrics(self._metrics) if self._metrics.exists() else []
        return any(line["event"] == "train" and line["chunk"] >= self._chunk for line in lines)


class OtherRunAfter(StopRequest):
    """Removes the lock file after this event, and another run takes the directory."""

    def __init__(self, run_dir: Path, event: str, chunk: int) -> None:
        super().__init__()
        self.other = RunLock(run_dir)
        self._event, self._chunk = event, chunk
        self._is_taken = False
        self.lines: list[dict] = []

    def __bool__(self) -> bool:
        lines = metrics_lines(self.other.folder)
        is_there = any(
            line["event"] == self._event and line["chunk"] >= self._chunk for line in lines
        )
        if is_there and not self._is_taken:
            self._is_taken, self.lines = True, lines
            self.other.folder.joinpath("lock").unlink()
            self.other.__enter__()
        return False


def _config(*overrides: str) -> Config:
    return load_config(CONFIG, [*TINY, *overrides])


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of six chunks without a stop."""
    run_dir = tmp_path_factory.mktemp("runs") / "straight"
    assert train(_config(), run_dir, None, StopRequest()) == 0
    return run_dir


def test_stopped_and_resumed_run_equals_an_uninterrupted_one_bit_for_bit(
    straight: Path, tmp_path: Path
) -> None:
    run_dir = tmp_path / "resumed"
    assert train(_config(), run_dir, None, StopAfterChunk(run_dir, 3)) == 143
    assert [line["chunk"] for line in metrics_lines(run_dir) if line["event"] == "train"] == [
        1,
        2,
        3,
    ]
    assert train(_config(), run_dir, None, StopRequest()) == 0
    expected, found = saved(straight), saved(run_dir)
    assert expected.keys() == found.keys()
    different = [path for path in expected if not np.array_equal(expected[path], found[path])]
    assert not different
    assert metrics_lines(run_dir) == metrics_lines(straight)
    reports = {path.name: path.read_text() for path in (straight / "eval").iterdir()}
    assert {path.name: path.read_text() for path in (run_dir / "eval").iterdir()} == reports


def test_checkpoint_holds_played_rows_and_pending_layouts(straight: Path) -> None:
    state = saved(straight)
    assert state["['replay']['scored']"].any()
    assert state["['replay']['episode']"].max() >= 0
    assert int(state["['counters']['chunk']"]) == 6
    assert int(state["['counters']['env_steps']"]) == 6 * 6 * 8
    assert state["['pending'][1]['ended']"].shape == (8, 6)
    assert state["['curriculum']['episodes']"].sum() > 0


def test_run_without_replay_in_its_checkpoints_goes_on_from_a_small_one(
    straight: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run_dir, config = tmp_path / "small", _config("--train.checkpoint_replay=false")
    assert train(config, run_dir, None, StopAfterChunk(run_dir, 3)) == 143
    kept = saved(run_dir)
    assert not any(path.startswith("['replay']") for path in kept)
    assert any(path.startswith("['pending']") for path in kept)
    assert "holds no replay buffer" not in capfd.readouterr().out
    assert train(config, run_dir, None, StopRequest()) == 0
    printed = " ".join(capfd.readouterr().out.split())
    assert "going on from the checkpoint of chunk 3" in printed
    assert "holds no replay buffer (train.checkpoint_replay)" in printed
    lines = [line for line in metrics_lines(run_dir) if line["event"] == "train"]
    expected = [line for line in metrics_lines(straight) if line["event"] == "train"]
    assert [line["chunk"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert lines[:3] == expected[:3]
    assert lines[3]["scored_rows"] < expected[3]["scored_rows"]
    # The moves before the next update are those of the run that never stopped.
    assert lines[3]["root_value"] == expected[3]["root_value"]


def test_another_seed_gives_other_parameters(straight: Path, tmp_path: Path) -> None:
    config = _config("--run.seed=1", "--train.num_chunks=1", "--eval.every_chunks=1")
    assert train(config, tmp_path / "seed1", None, StopRequest()) == 0
    first, other = saved(straight), saved(tmp_path / "seed1")
    kernel = next(path for path in first if path.startswith("['learner']['params']"))
    assert not np.array_equal(first[kernel], other[kernel])


def test_finished_run_prints_its_result_and_changes_nothing(
    straight: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = (straight / "metrics.jsonl").read_bytes()
    assert train(_config(), straight, None, StopRequest()) == 0
    printed = capfd.readouterr().out
    assert "all 6 chunks were already made" in printed
    assert "untrained" in printed
    assert "functional" in printed
    assert (straight / "metrics.jsonl").read_bytes() == before


def test_run_leaves_reports_and_pictures(straight: Path) -> None:
    names = {path.name for path in (straight / "eval").iterdir()}
    expected = {"untrained.json", "chunk-000000.json", "chunk-000004.json", "chunk-000006.json"}
    assert names == expected
    assert (straight / "layouts" / "heldout_sheet.png").stat().st_size > 10_000
    assert (straight / "layouts" / "curriculum.png").stat().st_size > 2_000


def test_training_lines_tell_the_success_of_each_family(straight: Path) -> None:
    lines = [line for line in metrics_lines(straight) if line["event"] == "train"]
    families = _config().tasks.families
    for name in ("empty_score", "empty_solved", "frontier"):
        assert all(f"{name}_{family}" in line for family in families for line in lines)


def test_run_with_checkpoints_goes_on_though_the_one_it_began_from_is_gone(
    straight: Path, tmp_path: Path
) -> None:
    run_dir = tmp_path / "run"
    shutil.copytree(straight, run_dir)
    assert train(_config(), run_dir, tmp_path / "gone", StopRequest()) == 0


def test_damaged_state_with_right_digests_is_set_aside(
    straight: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Anybody can compute a digest."""
    run_dir = tmp_path / "run"
    shutil.copytree(straight, run_dir)
    newest = max((run_dir / "checkpoints").iterdir(), key=lambda path: int(path.name))
    manifest = read_manifest(newest)
    renamed = newest.with_name("999999999999")
    newest.rename(renamed)
    made_with = {"jax\x1b[31m": "1" * 10_000}
    write_manifest(renamed, replace(manifest, step=999999999999, made_with=made_with))
    assert train(_config(), run_dir, None, StopRequest()) == 0
    printed = capfd.readouterr().out
    assert "its manifest says otherwise" in printed
    assert "\x1b" not in printed
    assert (run_dir / "checkpoints" / "corrupt-999999999999").is_dir()
    assert metrics_lines(run_dir) == metrics_lines(straight)


def test_endless_skipping_ends_with_exit_code_3_and_a_dump_that_shows_why(tmp_path: Path) -> None:
    run_dir = tmp_path / "bad"
    config = _config("--learner.learning_rate=1e30", "--learner.warmup_updates=0")
    with pytest.raises(NonFiniteError, match="in a row were skipped") as caught:
        train(config, run_dir, None, StopRequest())
    assert caught.value.exit_code == 3
    assert not list((run_dir / "checkpoints").glob("[0-9]*"))
    [dump] = (run_dir / "non_finite").iterdir()
    assert main(["reproduce", str(dump)]) == 0


REFUSED = [
    (["--network.channels=16"], "network.channels: 8 in the run directory, 16 now"),
    (["--env.growth_rule=false"], "env.growth_rule: true in the run directory, false now"),
    (["--tasks.num_tasks=13"], "tasks.num_tasks: 12 in the run directory, 13 now"),
    (["--actor.num_envs=7"], "actor.num_envs: 6 in the run directory, 7 now"),
    (["--search.num_simulatons=3"], "did you mean search.num_simulations?"),
    (["--tasks.heldout=nothing"], "heldout"),
]


@pytest.mark.parametrize(("overrides", "message"), REFUSED)
def test_run_directory_of_other_settings_is_refused_and_left_alone(
    straight: Path, capfd: pytest.CaptureFixture[str], overrides: list[str], message: str
) -> None:
    files = {path: path.read_bytes() for path in straight.rglob("*") if path.is_file()}
    arguments = ["--config", str(CONFIG), "--run-dir", str(straight), *TINY, *overrides]
    assert train_main(arguments) == 2
    assert message in capfd.readouterr().err
    assert {path: path.read_bytes() for path in straight.rglob("*") if path.is_file()} == files


def test_same_seed_twice_gives_identical_parameters(straight: Path, tmp_path: Path) -> None:
    assert train(_config(), tmp_path / "again", None, StopRequest()) == 0
    first, second = saved(straight), saved(tmp_path / "again")
    assert first.keys() == second.keys()
    assert not [path for path in first if not np.array_equal(first[path], second[path])]


FP8 = (
    "--network.channels=16",
    "--actor.precision=fp8",
    "--actor.switch.after_env_steps=100",
    "--actor.switch.passes=2",
    "--actor.switch.probe_positions=4",
    "--actor.switch.min_policy_agreement=0",
    "--actor.switch.max_value_error=100",
    "--actor.switch.max_target_divergence=1",
    "--learner.qat=true",
)


@pytest.fixture(scope="module")
def in_fp8(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of six chunks that goes over to FP8 on the way."""
    run_dir = tmp_path_factory.mktemp("runs") / "fp8"
    assert train(_config(*FP8), run_dir, None, StopRequest()) == 0
    return run_dir


def test_run_that_goes_over_to_fp8_resumes_bit_for_bit(in_fp8: Path, tmp_path: Path) -> None:
    """Stopped between the two probes that have to pass, so that their count is in the state."""
    resumed = tmp_path / "resumed"
    assert train(_config(*FP8), resumed, None, StopAfterChunk(resumed, 4)) == 143
    assert int(saved(resumed)["['precision']['passes']"]) == 1
    assert train(_config(*FP8), resumed, None, StopRequest()) == 0
    expected, found = saved(in_fp8), saved(resumed)
    different = [path for path in expected if not np.array_equal(expected[path], found[path])]
    assert not different
    assert metrics_lines(resumed) == metrics_lines(in_fp8)


def test_switch_is_reported_with_the_figures_behind_it(in_fp8: Path) -> None:
    lines = metrics_lines(in_fp8)
    played = [line["actor_precision"] for line in lines if line["event"] == "train"]
    assert played == ["bf16"] * 4 + ["fp8"] * 2
    [switch] = [line for line in lines if line["event"] == "switch"]
    assert switch["chunk"] == 5
    assert switch["actor_precision"] == "fp8"
    assert 0 < switch["gate_target_divergence"] <= 1
    assert "probes in a row agree" in switch["reason"]


def test_run_is_evaluated_in_fp8_with_the_scales_of_its_checkpoint(
    in_fp8: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate, played = Evaluator.evaluate, []

    def remember(evaluator: Evaluator, params: dict) -> Evaluation:
        played.append(params)
        return evaluate(evaluator, params)

    monkeypatch.setattr(Evaluator, "evaluate", remember)
    command = ["evaluate", "--run-dir", str(in_fp8), "--precision", "fp8", "--json"]
    assert main([*command, "--checkpoint", "newest"]) == 0
    block = played[0]["fp8"]["ResidualBlock_0"]
    scales = [block[name]["activation_scale"] for name in ("Conv_0", "Conv_1")]
    np.testing.assert_array_equal(scales, saved(in_fp8)["['precision']['scales']"])
    report = json.loads(capsys.readouterr().out)
    assert report["precision"] == "fp8"
    assert report["n"] == 4
    assert len(list((in_fp8 / "eval").glob("*-fp8.json"))) == 1


def test_run_without_activation_scales_is_not_evaluated_in_fp8(
    straight: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "--run-dir", str(straight), "--precision", "fp8"]) == 2
    assert "has no activation scales" in capsys.readouterr().err


def test_run_that_was_in_fp8_goes_on_in_bf16_when_told_so(in_fp8: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "back"
    shutil.copytree(in_fp8, run_dir)
    more = ("--network.channels=16", "--train.num_chunks=7")
    assert train(_config(*more), run_dir, None, StopRequest()) == 0
    last = [line for line in metrics_lines(run_dir) if line["event"] == "train"][-1]
    assert (last["chunk"], last["actor_precision"]) == (7, "bf16")
    assert not saved(run_dir)["['precision']['in_fp8']"]
    switches = [line for line in metrics_lines(run_dir) if line["event"] == "switch"]
    assert [line["actor_precision"] for line in switches] == ["fp8", "bf16"]
    # The scales of other parameters must not pass for those of the present ones.
    evaluation = ["evaluate", "--run-dir", str(run_dir), "--checkpoint", "newest"]
    assert main([*evaluation, "--precision", "fp8"]) == 2


@pytest.mark.parametrize(("event", "chunk"), [("imitation", 0), ("train", 2)])
def test_run_ends_when_its_lock_was_removed_and_another_run_has_begun(
    tmp_path: Path, event: str, chunk: int
) -> None:
    run_dir = tmp_path / "run"
    stop = OtherRunAfter(run_dir, event, chunk)
    with pytest.raises(LockedError, match=r"another process .* trains in"):
        train(_config("--train.checkpoint_every_chunks=1"), run_dir, None, stop)
    stop.other.__exit__()
    assert metrics_lines(run_dir) == stop.lines
    chunks = [read_manifest(run_dir / "checkpoints" / str(step)).chunk for step in steps(run_dir)]
    assert max(chunks, default=0) == chunk


def test_run_that_has_logged_no_chunk_is_not_begun_anew_without_its_checkpoints(
    tmp_path: Path,
) -> None:
    quiet = ("--logging.every_chunks=1000", "--eval.every_chunks=1000", "--train.num_chunks=1000")
    config = _config(*quiet, "--train.checkpoint_every_chunks=1")
    run_dir = tmp_path / "run"

    class StopWhenSaved(StopRequest):
        def __bool__(self) -> bool:
            self.signal_number = 15
            return len(steps(run_dir)) > 0

    assert train(config, run_dir, None, StopWhenSaved()) == 143
    shutil.rmtree(run_dir / "checkpoints")
    (run_dir / "metrics.jsonl").unlink()
    with pytest.raises(CheckpointError, match=r"gone; last_save\.json says that there was one"):
        train(config, run_dir, None, StopWhenSaved())
    assert not (run_dir / "metrics.jsonl").exists()


def test_evaluation_that_could_not_be_written_is_refused_before_it_is_made(
    straight: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_dir = shutil.copytree(straight, tmp_path / "run")
    shutil.rmtree(run_dir / "eval")
    (run_dir / "eval").write_text("no folder")
    monkeypatch.delattr(Evaluator, "evaluate")
    assert main(["evaluate", "--run-dir", str(run_dir)]) == 2
    assert f"cannot write into {run_dir / 'eval'}" in capsys.readouterr().err
