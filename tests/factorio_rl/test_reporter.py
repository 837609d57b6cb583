"""One report reaches the file and the terminal; closing tells how the run ended."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from factorio_rl.config import Config
from factorio_rl.metrics import read_metrics
from factorio_rl.reporter import METRICS_FILE, Reporter, open_reporter


@pytest.fixture
def config() -> Config:
    return Config.model_validate({"logging": {"wandb": "disabled"}})


def test_report_goes_to_file_and_terminal(tmp_path: Path, config: Config) -> None:
    output = io.StringIO()
    with open_reporter(config, tmp_path, Console(file=output)) as reporter:
        reporter.stage("self-play", 4)
        reporter.progress(1, {"env_steps": 8})
        reporter.report("train", {"learner_updates": 1, "loss": 0.5})
        reporter.report("train", {"learner_updates": 2, "loss": 0.4})
        reporter.resume(1)
        reporter.message("done")
    assert [record["learner_updates"] for record in read_metrics(tmp_path / METRICS_FILE)] == [1]
    lines = output.getvalue().splitlines()
    assert lines[0] == "self-play: 0 of 4"
    assert lines[-1] == "done"
    assert "loss 0.4" in lines[2]


class _Sink:
    codes: list[int]

    def __init__(self) -> None:
        self.codes = []

    def close(self, timeout_s: float, exit_code: int) -> None:
        self.codes.append(exit_code)


def test_end_state_is_that_of_the_run(tmp_path: Path, config: Config) -> None:
    made = open_reporter(config, tmp_path, Console(file=io.StringIO()))
    sink = _Sink()
    reporter = Reporter(made.log, made.display, sink)  # type: ignore[arg-type]
    with reporter:
        reporter.exit_code = 143
    with pytest.raises(RuntimeError), reporter:
        raise RuntimeError
    assert sink.codes == [143, 1]
