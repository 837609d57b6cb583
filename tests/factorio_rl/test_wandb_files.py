"""Pictures and agents reach wandb as they were noted, and their failures cost no figures."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_wandb_use import FakeWandb
from PIL import Image

from envs.atomic_file import write_text_atomically
from factorio_rl.evaluation_files import write_picture
from factorio_rl.wandb_files import AGENT_EVERY_S, Agents, noted_agent

FACTS = {"score": 0.5, "env_steps": 8}


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeWandb]:
    used = FakeWandb(tmp_path, monkeypatch)
    yield used
    used.clean_up()


def draw(path: Path, width: int) -> dict[str, Path]:
    write_picture(path, Image.new("RGB", (width, 4)))
    return {path.stem: path}


def test_pictures_are_shown_with_their_counters(fake: FakeWandb) -> None:
    sink = fake.sink()
    sink.log_pictures(draw(fake.run_dir / "layouts.png", 5), {"env_steps": 8})
    fake.wait_for(fake.logged)
    sink.log_pictures(draw(fake.run_dir / "layouts.png", 6), {"env_steps": 16})
    sink.close(20)
    assert fake.logged() == [
        {"env_steps": 8, "pictures/layouts": [5, 4]},
        {"env_steps": 16, "pictures/layouts": [6, 4]},
    ]
    assert ["pictures/layouts", "env_steps"] in fake.calls("define_metric")
    assert fake.texts == []


def test_picture_that_is_gone_or_replaced_is_left_out(fake: FakeWandb) -> None:
    gone, replaced = fake.run_dir / "gone.png", fake.run_dir / "replaced.png"
    sink = fake.sink(online=True)
    sink.log("train", {"chunk": 1})
    fake.wait_for(fake.logged)
    sink.log_pictures({**draw(gone, 5), **draw(replaced, 5)}, {"env_steps": 8})
    fake.wait_for(lambda: len(fake.logged()) == 2)
    gone.unlink()
    draw(replaced, 6)
    fake.kill_newest()  # The next process gets all lines once more.
    fake.wait_for(lambda: len(fake.calls("init")) == 2)
    sink.log_pictures(draw(replaced, 7), {"env_steps": 16})
    sink.log_pictures({"never": fake.run_dir / "never.png"}, {"env_steps": 24})
    sink.close(20)
    assert fake.logged()[2:] == [{"chunk": 1}, {"env_steps": 16, "pictures/replaced": [7, 4]}]


@pytest.mark.parametrize("fault", ["raise Image", ""])
def test_picture_that_cannot_be_shown_is_a_warning(fake: FakeWandb, fault: str) -> None:
    path = fake.run_dir / "layouts.png"
    if fault:
        draw(path, 5)
    else:
        path.write_text("no picture")
    sink = fake.sink(fault=fault)
    sink.log_pictures({"layouts": path}, {"env_steps": 8})
    sink.log("train", {"chunk": 1})
    sink.close(20)
    assert fake.logged() == [{"chunk": 1}]
    [text] = fake.texts
    assert text.startswith("warning: wandb: cannot show the picture layouts: ")


def test_offline_only_the_last_agent_is_an_artifact(fake: FakeWandb) -> None:
    path = fake.run_dir / "best.safetensors"
    sink = fake.sink()
    for score in (0.25, 0.5):
        write_text_atomically(path, f"agent of {score}")
        sink.log_agent(path, {**FACTS, "score": score})
        sink.log("train", {"chunk": 1})
    fake.wait_for(lambda: len(fake.logged()) == 2)
    assert fake.artifacts() == []
    sink.close(20)
    [[name, metadata, files, aliases]] = fake.calls("log_artifact")
    assert name == "model agent-" + (fake.run_dir / "wandb_id").read_text().strip()
    assert metadata == FACTS
    assert files == {"best.safetensors": "agent of 0.5"}
    assert aliases == ["best", "latest"]


def test_agent_is_not_lost_with_a_process_that_is_killed(fake: FakeWandb) -> None:
    path = fake.run_dir / "best.safetensors"
    write_text_atomically(path, "agent")
    sink = fake.sink(online=True)
    sink.log_agent(path, FACTS)
    fake.wait_for(fake.artifacts)
    fake.kill_newest()
    sink.close(20)
    assert fake.artifacts() == [{"best.safetensors": "agent"}] * 2


@pytest.mark.parametrize("mode", ["online", "offline"])
def test_agent_that_cannot_be_uploaded_is_a_warning(fake: FakeWandb, mode: str) -> None:
    path = fake.run_dir / "best.safetensors"
    write_text_atomically(path, "agent")
    sink = fake.sink(online=mode == "online", fault="raise log_artifact")
    sink.log_agent(path, FACTS)
    sink.log("train", {"chunk": 1})
    sink.close(20)
    assert fake.logged() == [{"chunk": 1}]
    assert fake.calls("finish") == [[0]]
    assert "warning: wandb: cannot upload the best agent: " in fake.texts[-1]


class Uploads:
    """Artifacts that are logged online, on a clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.names: list[str] = []
        self.agents = Agents(
            SimpleNamespace(Artifact=self._artifact),
            SimpleNamespace(offline=False, id="a", log_artifact=lambda *_, **__: None),
            self.names.append,
            lambda: self.now_s,
        )

    def _artifact(self, *_: Any, metadata: dict[str, Any]) -> SimpleNamespace:
        self.names.append(metadata["name"])
        return SimpleNamespace(add_file=lambda *_, **__: None)


def test_online_agents_are_uploaded_seldom_and_the_newest_at_the_end(tmp_path: Path) -> None:
    uploads, path = Uploads(), tmp_path / "best.safetensors"

    def offer(name: str) -> None:
        write_text_atomically(path, name)
        uploads.agents.offer(noted_agent(path, {"name": name}))

    for name in ("first", "second", "third"):
        offer(name)
    assert uploads.names == ["first"]
    uploads.now_s = AGENT_EVERY_S
    uploads.agents.upload_if_due()
    assert uploads.names == ["first", "third"]
    offer("fourth")
    uploads.agents.upload()
    uploads.agents.upload()
    assert uploads.names == ["first", "third", "fourth"]


def test_agent_file_that_is_gone_is_left_out(tmp_path: Path) -> None:
    uploads, path = Uploads(), tmp_path / "best.safetensors"
    uploads.agents.offer(noted_agent(path, {"name": "never there"}))
    assert uploads.names == []
