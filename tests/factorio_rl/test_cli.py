"""The command lines as a user meets them: messages and exit codes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from envs import heldout
from envs.generate import GENERATOR_VERSION
from factorio_rl import cli

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "configs" / "minute.yaml"


def _train(*arguments: str) -> int:
    return cli.train_main(["--config", str(CONFIG), *arguments])


BAD_SETTINGS = [
    (["--search.num_simulatons=3"], "search.num_simulatons: unknown"),
    (["--learner.batch_size=many"], "learner.batch_size"),
    (["--env.width=3"], "env.width"),
    (["--env.width=9"], "square"),
    (["--network.blocks=0"], "network.blocks"),
    (["--tasks.families=[circut]"], "did you mean circuit?"),
    (["--learner.batch_size=9000"], "replay.capacity"),
    (["--tasks.heldout=quickstrat"], "quickstart"),
]


@pytest.mark.parametrize(("overrides", "message"), BAD_SETTINGS)
def test_bad_settings_give_one_message_and_exit_code_2(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], overrides: list[str], message: str
) -> None:
    run_dir = tmp_path / "run"
    assert _train("--run-dir", str(run_dir), *overrides) == 2
    printed = capfd.readouterr().err
    assert message in printed
    assert "Traceback" not in printed
    assert not run_dir.exists()


def test_missing_config_file_gives_exit_code_2(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.train_main(["--config", str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml" in capfd.readouterr().err


def test_changed_heldout_file_is_refused_before_anything_is_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = tmp_path / "changed.json"
    text = heldout.heldout_path("quickstart").read_text()
    changed.write_text(text.replace('"target_rate":"', '"target_rate":"1', 1))
    monkeypatch.setattr(heldout, "heldout_path", lambda name: changed)
    run_dir = tmp_path / "run"
    assert _train("--run-dir", str(run_dir)) == 2
    assert "differs from this version's" in capfd.readouterr().err
    assert not run_dir.exists()


def test_foreign_directory_is_refused_and_left_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    assert _train("--run-dir", str(tmp_path)) == 2
    assert "--run-dir" in capfd.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_evaluate_refuses_a_directory_without_a_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["evaluate", "--run-dir", str(tmp_path)]) == 2
    assert "is no run directory" in capfd.readouterr().err


def test_version_names_package_rules_generator_and_heldout_sets(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    printed = capfd.readouterr().out
    assert "fv-1" in printed
    assert f"generator {GENERATOR_VERSION}" in printed
    for name, entry in heldout.HELDOUT_SETS.items():
        assert f"{name} {entry.sha256[:12]}" in printed


@pytest.mark.slow
def test_sigterm_saves_and_the_same_command_goes_on(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    command = [sys.executable, str(ROOT / "train.py"), "--config", str(CONFIG)]
    command += ["--run-dir", str(run_dir), "--logging.wandb=disabled", "--eval.num_tasks=4"]
    command += ["--tasks.num_tasks=12", "--train.num_chunks=100000"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    running = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert running.stdout is not None
    for line in running.stdout:
        if "train" in line and "chunk 3 " in line:
            running.send_signal(signal.SIGTERM)
            break
    rest = running.stdout.read()
    assert running.wait(timeout=60) == 143
    assert "saved" in rest
    metrics = (run_dir / "metrics.jsonl").read_text().splitlines()
    last_chunk = max(json.loads(line)["chunk"] for line in metrics)
    shorter = [*command, f"--train.num_chunks={last_chunk + 1}"]
    again = subprocess.run(
        shorter, cwd=tmp_path, capture_output=True, text=True, timeout=300, env=environment
    )
    assert again.returncode == 0, again.stderr
    assert f"going on from the checkpoint of chunk {last_chunk} " in again.stdout


def test_heldout_set_of_another_grid_is_refused_before_anything_is_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run_dir = tmp_path / "run"
    assert _train("--run-dir", str(run_dir), "--env.width=12", "--env.height=12") == 2
    printed = capfd.readouterr().err
    assert "quickstart does not fit" in printed
    assert "heldout-v1 (12 x 12)" in printed
    assert not run_dir.exists()


def test_init_from_something_else_is_refused_and_writes_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run_dir, other = tmp_path / "run", tmp_path / "other"
    arguments = ["--run-dir", str(run_dir), "--init-from", str(other)]
    assert _train(*arguments) == 2
    assert "is no run directory" in capfd.readouterr().err
    other.mkdir()
    text = CONFIG.read_text().replace("channels: 8", "channels: 16")
    (other / "config.yaml").write_text(text)
    assert _train(*arguments) == 2
    assert "network.channels: 16 in the run directory, 8 now" in capfd.readouterr().err
    assert not run_dir.exists()
    assert [path.name for path in other.iterdir()] == ["config.yaml"]


def test_a_signal_while_tasks_are_made_ends_the_start_without_writing(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    command = [sys.executable, str(ROOT / "train.py"), "--config", str(CONFIG)]
    command += ["--run-dir", str(run_dir), "--tasks.num_tasks=1000000"]
    running = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    assert any("solved training tasks" in line for line in running.stdout)
    running.send_signal(signal.SIGINT)
    printed, errors = running.communicate(timeout=120)
    assert running.returncode == 130
    assert "Traceback" not in printed + errors
    assert not run_dir.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_exit_code_tells_what_a_full_disk_under_standard_error_does_not() -> None:
    command = [sys.executable, "-m", "factorio_rl", "tasks", "validate", "nowhere.yaml"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, stderr=full, env=environment, cwd=ROOT, check=False)
    assert ended.returncode == 2


@pytest.mark.parametrize("number", ["0", "-5", "4097", "1000000000"])
def test_evaluate_bounds_the_simulations(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], number: str
) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG.read_text())
    arguments = ["evaluate", "--run-dir", str(tmp_path), "--num-simulations", number]
    assert cli.main(arguments) == 2
    assert f"{number!r} is no whole number from 1 to 4096" in capfd.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["pack", "--run-dir", "runs/x", "--out", ""],
        ["report", "--run-dir", ""],
        ["design", "--task", "task.yaml", "--out", ""],
    ],
)
def test_an_empty_path_is_refused(command: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(command) == 2
    assert "it is empty; give a path" in capfd.readouterr().err
