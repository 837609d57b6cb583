"""`pack` and what `evaluate` makes of its file, on a run directory with two checkpoints."""

import json
from pathlib import Path

import jax
import numpy as np
import pytest
from saved_runs import CONFIG, TINY

from factorio_rl import cli
from factorio_rl.agent_file import load_agent, parameters_sha256, read_agent_file
from factorio_rl.agent_scores import scores_of
from factorio_rl.checkpoint import CheckpointStore
from factorio_rl.checkpoint_manifest import Manifest
from factorio_rl.config_file import fixed_settings, load_config
from factorio_rl.evaluation_files import write_report
from factorio_rl.learner import LearnerState, start_learner
from factorio_rl.loop_state import Counters, start_counters
from factorio_rl.network import Params, make_network
from factorio_rl.run_directory import RunDirectory, task_identity
from factorio_rl.run_parameters import RunParameters

BEST, NEWEST = 7, 9


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The better checkpoint is the older one."""
    path = tmp_path_factory.mktemp("run")
    config = load_config(CONFIG, TINY)
    directory = RunDirectory(path)
    directory.open(config, task_identity("fv-1", "1", "0", "0"))
    store = CheckpointStore(directory.checkpoints, {})
    for chunk, step, score in ((2, BEST, 0.5), (4, NEWEST, 0.25)):
        learner = start_learner(config, make_network(config.network), jax.random.key(step))
        parts = {"learner": learner, "counters": _counters(chunk)}
        store.save(Manifest(step, chunk, score, {}, fixed_settings(config), {}), parts)
        write_report(directory.evaluations, f"chunk-{chunk:06d}", _report(score), 10 * chunk)
    return path


def _counters(chunk: int) -> Counters:
    values = vars(start_counters())
    chunk_and_steps = {"chunk": np.int64(chunk), "env_steps": np.int64(10 * chunk)}
    return Counters(**(values | {name: np.asarray(v) for name, v in chunk_and_steps.items()}))


def _report(score: float, n: int = 4) -> dict:
    family = {"n": n, "score": score, "solved": 0.0, "functional": 0.5}
    return {
        "task_set": "quickstart",
        "num_simulations": 2,
        "ci95": [0.0, 1.0],
        **family,
        "by_family": {"pipe": family},
        "tasks": [],
    }


def _saved(run_dir: Path, step: int) -> Params:
    config = load_config(CONFIG, TINY)
    learner = start_learner(config, make_network(config.network), jax.random.key(0))
    store = CheckpointStore(RunDirectory(run_dir).checkpoints, {})
    found = store.load(step, {"learner": learner})["learner"]
    assert isinstance(found, LearnerState)
    return found.params


@pytest.mark.parametrize(
    ("arguments", "step", "score"),
    [([], BEST, 0.5), (["--checkpoint", "newest"], NEWEST, 0.25)],
)
def test_pack_writes_the_chosen_checkpoint_with_its_own_scores(
    run_dir: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    step: int,
    score: float,
) -> None:
    out = tmp_path / "agent.safetensors"
    assert cli.main(["pack", "--run-dir", str(run_dir), "--out", str(out), *arguments]) == 0
    printed = capsys.readouterr().out
    agent = read_agent_file(out)
    expected = parameters_sha256(_saved(run_dir, step))
    assert parameters_sha256(agent.params) == expected
    assert expected in printed
    assert f"{out.stat().st_size:,} bytes" in printed
    assert f"quickstart: score {score:.3f} (0.000 to 1.000), solved 0.000, 4 tasks" in printed
    assert (agent.facts["checkpoint"], agent.facts["env_steps"]) == (step, {7: 20, 9: 40}[step])
    assert [entry["score"] for entry in agent.facts["scores"]] == [score]
    assert "float32" in agent.facts["scores_measured_with"]


def test_the_agent_of_a_run_is_that_of_its_file_but_for_rounding(
    run_dir: Path, tmp_path: Path
) -> None:
    out = tmp_path / "agent"
    assert cli.main(["pack", "--run-dir", str(run_dir), "--out", str(out)]) == 0
    of_run = load_agent(run_dir, None, tell=pytest.fail)
    of_file = load_agent(None, out, tell=pytest.fail)
    assert of_run.label == f"checkpoint {BEST} of {run_dir}"
    assert of_run.facts == {"checkpoint": BEST, "env_steps": 20}
    assert parameters_sha256(of_run.params) == parameters_sha256(of_file.params)
    newest = load_agent(run_dir, None, newest=True, tell=pytest.fail)
    assert newest.facts["checkpoint"] == NEWEST
    with pytest.raises(AssertionError):
        jax.tree.map(np.testing.assert_array_equal, of_run.params, of_file.params)


def test_evaluate_measures_the_file(
    run_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent, out = tmp_path / "mine.safetensors", tmp_path / "results"
    assert cli.main(["pack", "--run-dir", str(run_dir), "--out", str(agent)]) == 0
    capsys.readouterr()
    command = ["evaluate", "--agent", str(agent), "--json"]
    assert cli.main([*command, "--out", str(out)]) == 0
    printed = json.loads(capsys.readouterr().out)
    name = "quickstart-mine-n2"
    assert json.loads((out / f"{name}.json").read_text()) == printed
    assert (printed["n"], printed["env_steps"], printed["precision"]) == (4, 20, "bf16")
    assert (out / name / "heldout_sheet.png").exists()
    before = sorted(tmp_path.rglob("*"))
    assert cli.main(command) == 0
    assert json.loads(capsys.readouterr().out) == printed
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_cannot_be_written_is_told_before_playing(
    run_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent, taken = tmp_path / "agent", tmp_path / "file"
    assert cli.main(["pack", "--run-dir", str(run_dir), "--out", str(agent)]) == 0
    taken.touch()
    assert cli.main(["evaluate", "--agent", str(agent), "--out", str(taken)]) == 2
    assert f"cannot write into {taken}" in capsys.readouterr().err


def test_only_reports_of_the_checkpoint_count_and_the_one_of_more_tasks(tmp_path: Path) -> None:
    loaded = RunParameters(step=7, chunk=2, env_steps=20, params={}, precision=None)
    told: list[str] = []
    write_report(tmp_path, "chunk-000002", _report(0.5), 20)
    write_report(tmp_path, "quickstart-7-n2", _report(0.75, n=8), 20)
    write_report(tmp_path, "quickstart-7-n2-fp8", _report(0.25) | {"precision": "fp8"}, 20)
    write_report(tmp_path, "quickstart-70-n2", _report(0.1, n=9), 20)
    write_report(tmp_path, "quickstart-7-n3", _report(0.1) | {"num_simulations": 3}, 30)
    (tmp_path / "quickstart-7-n4.json").write_text("{}")
    write_report(tmp_path, "quickstart-7-n5", _report(0.1) | {"score": 2}, 20)
    found = {
        (score.precision, score.score, score.n)
        for score in scores_of(tmp_path, loaded, told.append)
    }
    assert found == {("bf16", 0.75, 8), ("fp8", 0.25, 4)}
    assert [name in text for name, text in zip(("n4", "n5"), told, strict=True)] == [True, True]


def test_pack_of_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["pack", "--run-dir", str(tmp_path), "--out", str(tmp_path / "a")]) == 2
    assert "is no run directory" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
