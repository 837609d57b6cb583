"""What the real wandb makes of figures, pictures and agents, offline."""

from pathlib import Path

import pytest
from offline_run import OfflineRun
from PIL import Image

from envs.atomic_file import write_text_atomically
from factorio_rl.config import LoggingConfig
from factorio_rl.evaluation_files import write_picture
from factorio_rl.wandb_sink import WandbSink

pytestmark = pytest.mark.slow

FACTS = {"score": 0.75, "env_steps": 16}


@pytest.fixture
def run_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("WANDB_MODE", "WANDB_DATA_DIR", "WANDB_SWEEP_ID", "WANDB_RUN_ID"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "run"
    path.mkdir()
    return path


def test_panels_pictures_and_the_best_agent_arrive(run_dir: Path) -> None:
    texts: list[str] = []
    sink = WandbSink(run_dir, LoggingConfig(wandb="offline"), {"a": {"b": 1}}, texts.append)
    sink.log("imitation", {"env_steps": 0, "learner_updates": 2, "loss": 2.0})
    picture, agent = run_dir / "sheet.png", run_dir / "best.safetensors"
    for env_steps, score in ((8, 0.5), (16, 0.75)):
        write_picture(picture, Image.new("RGB", (env_steps, 4)))
        sink.log("eval", {"env_steps": env_steps, "score": score, "solved_gear": score})
        sink.log_pictures({"layouts": picture}, {"env_steps": env_steps})
        write_text_atomically(agent, f"agent of {score}")
        sink.log_agent(agent, {"score": score, "env_steps": env_steps})
    sink.close(60)

    run = OfflineRun(run_dir)
    assert texts == []
    assert run.settings()["a"] == {"b": 1}
    figures = run.figures()
    assert figures[0] == {"env_steps": 0, "learner_updates": 2, "imitation/loss": 2.0}
    assert {"env_steps": 8, "eval/score": 0.5, "eval/family/gear/solved": 0.5} in figures
    assert run.axes() == {
        "env_steps": "",
        "learner_updates": "env_steps",
        "imitation/loss": "learner_updates",
        "eval/score": "env_steps",
        "eval/family/gear/solved": "env_steps",
        "pictures/layouts": "env_steps",
    }
    shown = [line for line in figures if line.get("pictures/layouts/_type") == "image-file"]
    assert shown[-1]["env_steps"] == 16
    assert shown[-1]["pictures/layouts/width"] == 16
    assert (run.folder / "files" / shown[-1]["pictures/layouts/path"]).is_file()


def test_versions_of_the_agent_do_not_fill_the_disk_offline(run_dir: Path) -> None:
    sink = WandbSink(run_dir, LoggingConfig(wandb="offline"), {}, lambda _: None)
    agent = run_dir / "best.safetensors"
    for number in range(20):
        write_text_atomically(agent, f"agent {number}")
        sink.log_agent(agent, {"score": number})
    sink.close(60)
    write_text_atomically(agent, "a later one")

    [artifact] = OfflineRun(run_dir).of("artifact")
    assert artifact.type == "model"
    assert artifact.name == "agent-" + (run_dir / "wandb_id").read_text().strip()
    assert sorted(artifact.aliases) == ["best", "latest"]
    assert artifact.metadata == '{"score":19}'
    [content] = artifact.manifest.contents
    assert content.path == "best.safetensors"
    copies = [path for path in (run_dir / "wandb" / "artifacts").rglob("*") if path.is_file()]
    assert copies == [Path(content.local_path)]
    assert copies[0].read_text() == "agent 19"
