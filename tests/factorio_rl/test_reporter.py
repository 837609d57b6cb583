"""One report reaches the file and the terminal; closing tells how the run ended."""

import errno
import io
from pathlib import Path

import pytest
from rich.console import Console

from envs.errors import UserError
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


def test_resume_of_a_run_whose_evaluation_is_made_again(tmp_path: Path, config: Config) -> None:
    with open_reporter(config, tmp_path, Console(file=io.StringIO())) as reporter:
        reporter.report("eval", {"learner_updates": 1})
        assert reporter.has("eval")
        reporter.resume(1, scored=False)
        assert not reporter.has("eval")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (RuntimeError("cannot draw"), "RuntimeError('cannot draw')"),
        (UserError("agent file a: cannot be written"), "agent file a: cannot be written"),
    ],
)
def test_file_that_cannot_be_written_is_a_warning(
    tmp_path: Path, config: Config, error: Exception, reason: str
) -> None:
    def write() -> None:
        raise error

    output = io.StringIO()
    with open_reporter(config, tmp_path, Console(file=output)) as reporter:
        reporter.attempt("the report of chunk 4", write)
        reporter.attempt("a picture", lambda: None)
    warning = f"warning: cannot write the report of chunk 4: {reason}; the run goes on without it"
    assert output.getvalue() == warning + "\n"


def test_run_goes_on_and_tells_when_nothing_can_be_written(tmp_path: Path, config: Config) -> None:
    output = io.StringIO()
    with open_reporter(config, tmp_path / "gone", Console(file=output)) as reporter:
        reporter.report("train", {"learner_updates": 1})
    lines = output.getvalue().splitlines()
    assert "cannot write" in lines[0]
    assert lines[-1].endswith("metrics.jsonl could not be written")


class _Sink:
    def __init__(self) -> None:
        self.codes: list[int] = []
        self.taken: list[tuple[object, object]] = []

    def log_pictures(self, files: object, fields: object) -> None:
        self.taken.append((files, fields))

    def log_agent(self, file: object, facts: object) -> None:
        self.taken.append((file, facts))

    def close(self, timeout_s: float, exit_code: int) -> None:
        self.codes.append(exit_code)


def test_pictures_and_agents_go_to_wandb_alone(tmp_path: Path, config: Config) -> None:
    output, sink = io.StringIO(), _Sink()
    made = open_reporter(config, tmp_path, Console(file=output))
    reporter = Reporter(made.log, made.display, sink)  # type: ignore[arg-type]
    with reporter:
        reporter.show({"layouts": tmp_path / "a.png"}, {"env_steps": 8})
        reporter.offer_agent(tmp_path / "best.safetensors", {"score": 0.5})
    assert sink.taken == [
        ({"layouts": tmp_path / "a.png"}, {"env_steps": 8}),
        (tmp_path / "best.safetensors", {"score": 0.5}),
    ]
    assert output.getvalue() == ""
    assert not (tmp_path / METRICS_FILE).exists()


def test_end_state_is_that_of_the_run(tmp_path: Path, config: Config) -> None:
    made = open_reporter(config, tmp_path, Console(file=io.StringIO()))
    sink = _Sink()
    reporter = Reporter(made.log, made.display, sink)  # type: ignore[arg-type]
    with reporter:
        reporter.exit_code = 143
    with pytest.raises(RuntimeError), reporter:
        raise RuntimeError
    assert sink.codes == [143, 1]
