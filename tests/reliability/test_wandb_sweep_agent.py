"""wandb's own agent starts, stops and resumes runs of the sweep, offline and without an account."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from offline_run import OfflineRun
from saved_runs import TINY, metrics_lines, steps

pytestmark = pytest.mark.drill

ROOT = Path(__file__).parents[2]
SWEEP = yaml.safe_load((ROOT / "sweeps" / "quickstart.yaml").read_text())
PATIENCE_S = 240.0


class Agent:
    """An agent that is told by a test, not by a server, what to run."""

    def __init__(self) -> None:
        from wandb.wandb_agent import Agent as WandbAgent

        self._agent = WandbAgent(None, None, sweep_id="abcd1234")
        # The command of the file, but for a smaller config, and from another folder than its own.
        config = f"--config={ROOT / 'configs' / 'minute.yaml'}"
        fixed = [part for part in SWEEP["command"] if not part.startswith("--")]
        fixed[-1:] = [config, *TINY[:-1], "--logging.wandb=offline", "${args}"]
        self._agent._sweep_command = fixed

    def tell(self, kind: str, run: str, **values: Any) -> None:
        parameters = {name: {"value": value} for name, value in values.items()}
        program = str(ROOT / SWEEP["program"])
        command = {"type": kind, "run_id": run, "program": program, "args": parameters}
        assert "exception" not in self._agent._process_command(command)

    def process(self, run: str) -> Any:
        return self._agent._run_processes[run]

    def end(self) -> None:
        for process in self._agent._run_processes.values():
            if process.poll() is None:
                process.kill()


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Agent]:
    for name in [name for name in os.environ if name.startswith("WANDB_")]:
        monkeypatch.delenv(name)
    # As the agent's own start does; the others are those that it sets for each run.
    monkeypatch.setenv("WANDB_SWEEP_ID", "abcd1234")
    monkeypatch.setenv("WANDB_RUN_ID", "")
    monkeypatch.setenv("WANDB_SWEEP_PARAM_PATH", "")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    # The agent calls the interpreter `python`.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    made = Agent()
    yield made
    made.end()


def wait_for_checkpoint(run_dir: Path, process: Any) -> None:
    until_s = time.monotonic() + PATIENCE_S
    while len(steps(run_dir)) < 2:
        assert process.poll() is None
        assert time.monotonic() < until_s
        time.sleep(0.05)


def test_runs_of_a_sweep_are_runs_of_their_own(agent: Agent, tmp_path: Path) -> None:
    values = {"learner.learning_rate": 0.00123, "search.num_simulations": 4}
    agent.tell("run", "first000", **values)
    assert agent.process("first000").wait(PATIENCE_S) == 0
    agent.tell("run", "second00", **values, **{"train.num_chunks": 2000})
    second = tmp_path / "runs" / "sweep-abcd1234" / "second00"
    wait_for_checkpoint(second, agent.process("second00"))
    agent.tell("stop", "second00")  # as when the sweep ends it early
    assert agent.process("second00").wait(PATIENCE_S) == 143
    chunk = metrics_lines(second)[-1]["chunk"]
    agent.tell("resume", "second00", **values, **{"train.num_chunks": chunk + 2})
    assert agent.process("second00").wait(PATIENCE_S) == 0

    first = OfflineRun(tmp_path / "runs" / "sweep-abcd1234" / "first000")
    [run] = {(run.run_id, run.sweep_id, run.resumed) for run in first.of("run")}
    assert run == ("first000", "abcd1234", False)
    # The agent's values, as wandb takes them by itself, are those that the run has.
    settings = first.settings()
    assert settings["learner.learning_rate"] == settings["learner"]["learning_rate"] == 0.00123
    scores = [line["eval/score"] for line in first.figures() if "eval/score" in line]
    assert len(scores) == 3
    chunks = [line["chunk"] for line in metrics_lines(second) if line["event"] == "train"]
    assert chunks == list(range(1, chunk + 3))


def test_wandb_reads_the_file() -> None:
    from wandb.apis.public.sweeps import _validate_config_and_fill_distribution
    from wandb.sdk.launch.sweeps.utils import load_sweep_config

    config = load_sweep_config(str(ROOT / "sweeps" / "quickstart.yaml"))
    assert config == SWEEP
    filled = _validate_config_and_fill_distribution(SWEEP)
    assert filled["parameters"] == SWEEP["parameters"]  # which says every distribution itself
