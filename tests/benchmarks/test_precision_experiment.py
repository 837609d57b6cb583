"""The precision experiment: which runs it makes, where it goes on, and what it reads from them."""

import json

import pytest

from benchmarks import precision_experiment as experiment
from benchmarks import results
from benchmarks.precision_rows import is_finished, row_of, seconds_of, table_of
from factorio_rl.config_file import dump_config, load_config


@pytest.fixture
def finished_run(tmp_path):
    """A folder as a run of two chunks leaves it, the second one in FP8."""
    folder = tmp_path / "runs" / "fp8-later-seed-0"
    (folder / "eval").mkdir(parents=True)
    config = load_config(experiment.CONFIG, ["--train.num_chunks=2"])
    (folder / "config.yaml").write_text(dump_config(config))
    for chunk, score in ((0, 0.125), (2, 0.5)):
        report = {
            "score": score,
            "ci95": [score - 0.1, score + 0.1],
            "functional": 0.75,
            "solved": 0.25,
            "raw_policy": {"score": 0.375},
            "env_steps": 512 * chunk,
        }
        (folder / "eval" / f"chunk-{chunk:06d}.json").write_text(json.dumps(report))
    in_fp8 = json.dumps({"score": 0.4375})
    (folder / "eval" / "quickstart-174-n16-fp8.json").write_text(in_fp8)
    records = [
        {"event": "train", "actor_precision": "bf16", "elapsed_s": 7.0},
        {"event": "switch", "actor_precision": "fp8", "elapsed_s": 2.0},
        {"event": "train", "actor_precision": "fp8", "elapsed_s": 4.0},
    ]
    lines = [json.dumps(record) + "\n" for record in records]
    (folder / "metrics.jsonl").write_text("".join(lines))
    return folder


def test_a_row_tells_how_a_run_ended_and_how_much_of_it_was_in_fp8(finished_run):
    row = row_of("fp8-later", 0, finished_run)
    assert row == {
        "variant": "fp8-later",
        "seed": 0,
        "env_steps": 1024,
        "imitation_score": 0.125,
        "score": 0.5,
        "ci95_low": 0.4,
        "ci95_high": 0.6,
        "functional": 0.75,
        "solved": 0.25,
        "raw_score": 0.375,
        "fp8_score": 0.4375,
        "fp8_share": 0.5,
        "switches": 1,
        "seconds": 11,
    }
    assert "fp8-later" in table_of([row])


def test_seconds_add_up_over_the_starts_of_a_run():
    assert seconds_of([{"elapsed_s": t} for t in (1.0, 9.0, 2.0, 3.0)]) == 12.0
    assert seconds_of([{"event": "other"}]) == 0.0


def test_a_run_is_finished_with_the_report_of_its_last_chunk(finished_run, tmp_path):
    assert is_finished(finished_run)
    (finished_run / "eval" / "chunk-000002.json").unlink()
    assert not is_finished(finished_run)
    assert not is_finished(tmp_path / "none")


@pytest.fixture
def commands(monkeypatch, tmp_path):
    """Commands that were to be executed; none is."""
    executed = []

    class Ended:
        returncode = 2

    def run(command, **options):
        assert options["env"]["JAX_PLATFORMS"] == "cpu"
        executed.append(command)
        return Ended()

    monkeypatch.setattr(experiment.subprocess, "run", run)
    monkeypatch.setattr(results, "RESULTS", tmp_path / "results")
    return executed


def test_a_finished_run_is_not_run_again_and_a_failed_one_is_told(finished_run, commands, capsys):
    folder = finished_run.parent
    arguments = ["--dir", str(folder), "--threads", "1", "--variants", "fp8-later"]
    assert experiment.main([*arguments, "--seeds", "0"]) == 0
    assert commands == []
    assert experiment.main([*arguments, "--train.num_chunks=2"]) == 1
    (command,) = commands
    assert "--run.seed=1" in command
    assert command[-1] == "--train.num_chunks=2"
    assert "fp8-later-seed-1: failed with exit code 2" in capsys.readouterr().out
    assert not results.RESULTS.exists()


def test_a_finished_run_is_evaluated_in_fp8_once_and_one_without_scales_is_not(
    finished_run, commands
):
    folder = finished_run.parent
    (finished_run / "eval" / "quickstart-174-n16-fp8.json").unlink()
    assert row_of("fp8-later", 0, finished_run)["fp8_score"] is None
    arguments = ["--dir", str(folder), "--threads", "1", "--seeds", "0", "--variants"]
    experiment.main([*arguments, "fp8-later"])
    (command,) = commands
    assert command[-2:] == ["--precision", "fp8"]
    finished_run.rename(folder / "bf16-seed-0")
    assert experiment.main([*arguments, "bf16"]) == 0
    assert len(commands) == 1


def test_a_part_writes_only_a_file_that_is_named(finished_run, commands, tmp_path):
    arguments = ["--dir", str(finished_run.parent), "--threads", "1", "--seeds", "0"]
    out = tmp_path / "own.json"
    experiment.main([*arguments, "--variants", "fp8-later", "--out", str(out)])
    assert [row["score"] for row in json.loads(out.read_text())["rows"]] == [0.5]
    assert not results.RESULTS.exists()


@pytest.mark.parametrize("variant", experiment.VARIANTS)
def test_settings_of_every_variant_are_understood(variant):
    config = load_config(experiment.CONFIG, experiment.VARIANTS[variant])
    assert (config.actor.precision == "fp8") is variant.startswith("fp8")
    assert config.actor.switch.gate is (variant in ("bf16", "fp8-later-qat-gate"))
    assert (config.actor.switch.after_env_steps > 0) is ("later" in variant)
    assert config.learner.qat is ("qat" in variant)
    total = config.train.num_chunks * config.actor.num_envs * config.actor.chunk_moves
    assert config.actor.switch.after_env_steps < total / 2


def test_jobs_share_no_core():
    assert list(experiment.core_lists([0, 1, 4, 5, 6], 2, 2)) == ["0,1", "4,5"]


@pytest.mark.parametrize("wrong", [["--jobs", "999"], ["--threads", "0"], ["--train.num_chunks"]])
def test_wrong_arguments_are_usage_errors(wrong, tmp_path, capsys):
    with pytest.raises(SystemExit) as error:
        experiment.main(["--dir", str(tmp_path), *wrong])
    assert error.value.code == 2
