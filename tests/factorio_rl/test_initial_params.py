"""Where the parameters of a new run come from: another run, or an agent file. Tiny sizes."""

from pathlib import Path

import numpy as np
import pytest
from saved_runs import CONFIG, TINY, saved

from envs.errors import UserError
from factorio_rl.cli import main
from factorio_rl.config import Config
from factorio_rl.config_file import load_config
from factorio_rl.preemption import StopRequest
from factorio_rl.trainer import train


class StopAfterSetUp(StopRequest):
    """Asks to stop once there is a folder for checkpoints."""

    exit_code = 143

    def __init__(self, run_dir: Path) -> None:
        super().__init__()
        self._checkpoints = run_dir / "checkpoints"

    def __bool__(self) -> bool:
        return self._checkpoints.exists()


def _config(*overrides: str) -> Config:
    return load_config(CONFIG, [*TINY, "--train.num_chunks=1", *overrides])


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one chunk."""
    run_dir = tmp_path_factory.mktemp("runs") / "straight"
    assert train(_config(), run_dir, None, StopRequest()) == 0
    return run_dir


def test_init_from_starts_a_new_run_from_the_parameters_of_another(
    straight: Path, tmp_path: Path
) -> None:
    config = _config("--train.imitation_updates=0")

    run_dir = tmp_path / "warm"
    assert train(config, run_dir, straight, StopAfterSetUp(run_dir)) == 143
    warm, source = saved(run_dir), saved(straight)
    params = [path for path in source if path.startswith("['learner']['params']")]
    assert params
    for path in params:
        np.testing.assert_array_equal(warm[path], source[path])
    assert int(warm["['learner']['updates']"]) == 0


def test_init_from_an_agent_file_starts_from_its_parameters(
    straight: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    agent, run_dir = tmp_path / "agent.safetensors", tmp_path / "warm"
    assert main(["pack", "--run-dir", str(straight), "--out", str(agent)]) == 0
    config = _config("--train.imitation_updates=0")
    assert train(config, run_dir, agent, StopAfterSetUp(run_dir)) == 143
    warm, source = saved(run_dir), saved(straight)
    params = [path for path in source if path.startswith("['learner']['params']")]
    assert params
    for path in params:
        np.testing.assert_allclose(warm[path], source[path], rtol=2**-8)
    other = _config("--network.channels=16")
    with pytest.raises(UserError, match=r"another network:\n  network.channels: .* 16 now"):
        train(other, tmp_path / "other", agent, StopRequest())
    assert not (tmp_path / "other").exists()
