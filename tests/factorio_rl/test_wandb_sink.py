"""Weights & Biases can be absent, raise or hang: the run goes on, with one warning."""

import sys
import threading
import types
from pathlib import Path
from typing import Any

import pytest

from factorio_rl.config import LoggingConfig
from factorio_rl.wandb_sink import QUEUE_EVENTS, WandbSink, resolve_mode


class _Run:
    def __init__(self, fake: "_Wandb", mode: str) -> None:
        self.fake = fake
        self.offline = mode == "offline"
        self.url = "https://wandb.example/run"

    def define_metric(self, name: str, step_metric: str | None = None) -> None:
        self.fake.metrics.append((name, step_metric))

    def log(self, figures: dict[str, Any]) -> None:
        self.fake.at("log")
        self.fake.logged.append(figures)

    def finish(self, exit_code: int) -> None:
        self.fake.at("finish")
        self.fake.exit_codes.append(exit_code)


class _Wandb:
    """Stand-in for the module: raises or hangs at the named call."""

    Settings = dict

    def __init__(self, raise_at: str = "", hang_at: str = "") -> None:
        self.raise_at, self.hang_at = raise_at, hang_at
        self.release = threading.Event()
        self.inits: list[dict[str, Any]] = []
        self.metrics: list[tuple[str, str | None]] = []
        self.logged: list[dict[str, Any]] = []
        self.exit_codes: list[int] = []
        self.torn_down = 0

    def at(self, call: str) -> None:
        if call == self.hang_at:
            self.release.wait()
        if call == self.raise_at:
            raise RuntimeError(f"{call} failed\nwith details")

    def init(self, **options: Any) -> _Run:
        self.inits.append(options)
        self.at("init")
        self.at(f"init {options['mode']}")
        return _Run(self, options["mode"])

    def teardown(self) -> None:
        self.torn_down += 1


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("WANDB_API_KEY", "WANDB_MODE", "WANDB_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))


@pytest.fixture
def texts() -> list[str]:
    return []


def _sink(folder: Path, fake: Any, texts: list[str], mode: str = "auto") -> WandbSink:
    settings = LoggingConfig.model_validate({"wandb": mode})
    return WandbSink(folder, settings, {"a": {"b": 1}}, texts.append, fake)


def test_events_arrive_under_their_names_with_env_steps_as_axis(
    tmp_path: Path, texts: list[str]
) -> None:
    fake = _Wandb()
    sink = _sink(tmp_path, fake, texts)
    sink.log("train", {"chunk": 1, "env_steps": 8, "loss": 0.5})
    sink.log("eval", {"chunk": 1, "env_steps": 8, "score": 1.0})
    sink.close(5, exit_code=3)
    assert fake.logged == [
        {"chunk": 1, "env_steps": 8, "train/loss": 0.5},
        {"chunk": 1, "env_steps": 8, "eval/score": 1.0},
    ]
    assert ("*", "env_steps") in fake.metrics
    assert fake.exit_codes == [3]
    assert texts == []
    assert fake.inits[0]["config"] == {"a": {"b": 1}}
    assert fake.inits[0]["settings"]["console"] == "off"


def test_second_start_goes_on_with_the_same_run(tmp_path: Path, texts: list[str]) -> None:
    fake = _Wandb()
    for _ in range(2):
        _sink(tmp_path, fake, texts).close(5)
    first, second = fake.inits
    assert first["id"] == second["id"] == (tmp_path / "wandb_id").read_text().strip()
    assert first["resume"] == "allow"


@pytest.mark.parametrize("call", ["init", "log", "finish"])
def test_failing_call_is_one_warning_then_off(tmp_path: Path, texts: list[str], call: str) -> None:
    fake = _Wandb(raise_at=call)
    sink = _sink(tmp_path, fake, texts)
    for chunk in range(3):
        sink.log("train", {"chunk": chunk})
    sink.close(5)
    sink.log("train", {"chunk": 4})
    assert texts == [f"warning: wandb: switched off after RuntimeError: {call} failed"]


def test_absent_module_is_one_warning(
    tmp_path: Path, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    sink = _sink(tmp_path, None, texts)
    sink.log("train", {"chunk": 1})
    sink.close(5)
    assert len(texts) == 1
    assert "ModuleNotFoundError" in texts[0]


def test_module_that_breaks_on_use_is_one_warning(tmp_path: Path, texts: list[str]) -> None:
    sink = _sink(tmp_path, types.SimpleNamespace(), texts)
    sink.close(5)
    assert len(texts) == 1


@pytest.mark.parametrize("call", ["init", "log", "finish"])
def test_hanging_call_never_blocks_the_run(tmp_path: Path, texts: list[str], call: str) -> None:
    fake = _Wandb(hang_at=call)
    sink = _sink(tmp_path, fake, texts)
    for chunk in range(QUEUE_EVENTS + 10 if call != "finish" else 10):
        sink.log("train", {"chunk": chunk})
    sink.close(0.2)
    assert len(texts) == 1
    fake.release.set()


def test_online_start_that_fails_goes_offline(
    tmp_path: Path, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "k")
    fake = _Wandb(raise_at="init online")
    sink = _sink(tmp_path, fake, texts)
    sink.log("train", {"chunk": 1})
    sink.close(5)
    assert [options["mode"] for options in fake.inits] == ["online", "offline"]
    assert fake.torn_down == 1
    assert fake.logged == [{"chunk": 1}]
    assert len(texts) == 1


def test_online_without_a_key_writes_offline_and_says_so(tmp_path: Path, texts: list[str]) -> None:
    fake = _Wandb()
    _sink(tmp_path, fake, texts, mode="online").close(5)
    assert fake.inits[0]["mode"] == "offline"
    assert "no key is configured" in texts[0]


def test_disabled_sink_touches_nothing(tmp_path: Path, texts: list[str]) -> None:
    fake = _Wandb()
    sink = _sink(tmp_path, fake, texts, mode="disabled")
    sink.log("train", {"chunk": 1})
    sink.close(5)
    assert fake.inits == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("mode", "environment", "resolved"),
    [
        ("auto", {}, "offline"),
        ("auto", {"WANDB_API_KEY": "k"}, "online"),
        ("auto", {"WANDB_API_KEY": "k", "WANDB_MODE": "offline"}, "offline"),
        ("auto", {"WANDB_MODE": "disabled"}, "disabled"),
        ("online", {"WANDB_API_KEY": "k", "WANDB_MODE": "offline"}, "online"),
        ("online", {}, "offline"),
        ("offline", {"WANDB_API_KEY": "k"}, "offline"),
        ("disabled", {"WANDB_API_KEY": "k"}, "disabled"),
    ],
)
def test_mode_follows_setting_key_and_environment(
    tmp_path: Path, mode: str, environment: dict[str, str], resolved: str
) -> None:
    assert resolve_mode(mode, {"NETRC": str(tmp_path / "none"), **environment}) == resolved


def test_key_in_netrc_counts(tmp_path: Path) -> None:
    path = tmp_path / "netrc"
    path.write_text("machine api.wandb.ai login user password k\n")
    path.chmod(0o600)
    environment = {"NETRC": str(path)}
    assert resolve_mode("auto", environment) == "online"
    environment["WANDB_BASE_URL"] = "https://elsewhere.example"
    assert resolve_mode("auto", environment) == "offline"
