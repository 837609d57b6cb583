"""Weights & Biases can be absent, raise, hang or be killed: the run goes on and nothing is lost."""

import errno
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_wandb_use import FakeWandb

from factorio_rl import wandb_sink

URL = "wandb: https://wandb.example/run"


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeWandb]:
    used = FakeWandb(tmp_path, monkeypatch)
    yield used
    used.clean_up()


def test_events_arrive_under_their_names_with_env_steps_as_axis(fake: FakeWandb) -> None:
    sink = fake.sink()
    sink.log("train", {"chunk": 1, "env_steps": 8, "loss": 0.5})
    sink.log("eval", {"chunk": 1, "env_steps": 8, "score": 1.0})
    sink.close(20, exit_code=3)
    assert fake.logged() == [
        {"chunk": 1, "env_steps": 8, "train/loss": 0.5},
        {"chunk": 1, "env_steps": 8, "eval/score": 1.0},
    ]
    assert fake.calls("define_metric") == [
        ["chunk", "env_steps"],
        ["env_steps", None],
        ["train/loss", "env_steps"],
        ["eval/score", "env_steps"],
    ]
    assert fake.calls("finish") == [[3]]
    assert fake.calls("teardown") == [[]]
    assert fake.texts == []
    [[options]] = fake.calls("init")
    assert options["config"] == {"a": {"b": 1}}
    assert options["settings"]["console"] == "off"
    assert options["settings"]["x_stats_pid"] == os.getpid()
    assert Path(options["dir"]) == fake.run_dir.resolve()


def test_second_start_goes_on_with_the_same_run(fake: FakeWandb) -> None:
    for _ in range(2):
        fake.sink().close(20)
    [first], [second] = fake.calls("init")
    assert first["id"] == second["id"] == (fake.run_dir / "wandb_id").read_text().strip()
    assert first["resume"] == "allow"


def test_run_of_a_sweep_is_the_one_that_the_agent_wants(
    fake: FakeWandb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_SWEEP_ID", "abcd1234")
    monkeypatch.setenv("WANDB_RUN_ID", "wxyz5678")
    fake.sink().close(20)
    for name in ("WANDB_SWEEP_ID", "WANDB_RUN_ID"):
        monkeypatch.delenv(name)
    fake.sink().close(20)
    [in_sweep], [by_hand] = fake.calls("init")
    # What the agent's environment says of these, wandb takes by itself.
    assert {"project", "entity", "id", "name"}.isdisjoint(in_sweep)
    assert by_hand["id"] == "wxyz5678"


def test_address_of_a_run_that_is_online_is_told(fake: FakeWandb) -> None:
    fake.sink(online=True).close(20)
    assert fake.texts == [URL]


def test_nothing_of_wandb_enters_the_process_of_the_run(fake: FakeWandb) -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)
    before = [signal.getsignal(number) for number in numbers]
    sink = fake.sink()
    sink.log("train", {"chunk": 1})
    sink.close(20)
    assert fake.logged() == [{"chunk": 1}]
    assert "wandb" not in sys.modules
    assert [signal.getsignal(number) for number in numbers] == before
    [[pid, session]] = fake.calls("import")
    assert pid == session != os.getsid(0)  # so the Ctrl-C of the terminal does not reach it


@pytest.mark.parametrize("fault", ["raise", "exit", "abort"])
@pytest.mark.parametrize("call", ["import", "init", "log", "finish"])
def test_failing_call_is_one_warning_a_second_attempt_and_off(
    fake: FakeWandb, fault: str, call: str
) -> None:
    sink = fake.sink(fault=f"{fault} {call}")
    for chunk in range(3):
        sink.log("train", {"chunk": chunk})
    sink.close(20)
    sink.log("train", {"chunk": 4})
    first, second = fake.texts
    reasons = {"raise": f"RuntimeError: {call} failed", "exit": "SystemExit: no", "abort": "9"}
    assert first.startswith("warning: wandb: ")
    assert f"{reasons[fault]}; writing offline" in first
    assert second.startswith("warning: wandb: switched off: ")
    assert reasons[fault] in second


def test_absent_module_turns_the_sink_off(fake: FakeWandb, monkeypatch: pytest.MonkeyPatch) -> None:
    (fake.run_dir / "wandb.py").write_text("import no_such_module")
    monkeypatch.setenv("PYTHONPATH", str(fake.run_dir))
    sink = fake.sink()
    sink.log("train", {"chunk": 1})
    sink.close(20)
    assert "ModuleNotFoundError" in fake.texts[-1]


@pytest.mark.parametrize("call", ["init", "log", "finish"])
def test_hanging_call_never_blocks_the_run(fake: FakeWandb, call: str) -> None:
    sink = fake.sink(fault=f"hang {call}")
    for chunk in range(wandb_sink.KEPT_EVENTS + 10):
        sink.log("train", {"chunk": chunk})
    sink.close(0.2)
    [text] = fake.texts
    assert "still at work" in text


def test_online_start_that_fails_goes_offline_with_all_events(fake: FakeWandb) -> None:
    sink = fake.sink(online=True, fault="raise init online")
    sink.log("train", {"chunk": 1})
    fake.wait_for(lambda: len(fake.calls("init")) == 2)
    sink.log("train", {"chunk": 2})
    sink.close(20)
    assert [options["mode"] for (options,) in fake.calls("init")] == ["online", "offline"]
    assert fake.logged() == [{"chunk": 1}, {"chunk": 2}]
    [text] = fake.texts
    assert "init online failed; writing offline" in text


def test_end_of_a_run_does_not_wait_for_a_start_that_hangs(fake: FakeWandb) -> None:
    sink = fake.sink(online=True, fault="hang init online")
    sink.log("train", {"chunk": 1})
    fake.wait_for(lambda: fake.calls("init"))
    sink.close(4, exit_code=143)
    fake.wait_for(lambda: fake.calls("finish"))
    assert fake.logged() == [{"chunk": 1}]
    assert fake.calls("finish") == [[143]]
    assert "did not answer in time; writing offline" in fake.texts[0]


def test_killed_process_is_replaced_by_one_that_gets_all_events(fake: FakeWandb) -> None:
    sink = fake.sink(online=True)
    sink.log("train", {"chunk": 1})
    fake.wait_for(fake.logged)
    fake.kill_newest()
    fake.wait_for(lambda: len(fake.calls("init")) == 2)
    sink.log("train", {"chunk": 2})
    sink.close(20)
    assert fake.texts == [
        URL,
        "warning: wandb: its process was killed by signal 9; writing offline",
    ]
    [options] = fake.calls("init")[-1]
    assert options["mode"] == "offline"
    assert fake.logged() == [{"chunk": 1}, {"chunk": 1}, {"chunk": 2}]


def test_newest_events_are_kept_for_a_process_that_comes_late(
    fake: FakeWandb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wandb_sink, "KEPT_EVENTS", 3)
    sink = fake.sink(online=True)
    sink.log("train", {"chunk": 0})
    fake.wait_for(fake.logged)
    fake.kill_newest()
    for chunk in range(1, 9):
        sink.log("train", {"chunk": chunk})
    fake.wait_for(lambda: {"chunk": 8} in fake.logged())
    sink.log("train", {"chunk": 9})
    sink.close(20)
    assert fake.logged()[1:] == [{"chunk": chunk} for chunk in (6, 7, 8, 9)]


def test_what_wandb_prints_does_not_reach_the_terminal(
    fake: FakeWandb, capfd: pytest.CaptureFixture[str]
) -> None:
    fake.sink(fault="print init").close(20)
    assert fake.calls("finish") == [[0]]
    assert fake.texts == []
    assert capfd.readouterr() == ("", "")


def test_message_that_was_cut_short_is_none(
    fake: FakeWandb, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = 'import os; print("{\\"star", end="", flush=True); os.abort()'
    monkeypatch.setattr(wandb_sink, "COMMAND", (sys.executable, "-c", program))
    fake.sink().close(20)
    assert [text.partition("; ")[0] for text in fake.texts] == [
        "warning: wandb: its process was killed by signal 6",
        "warning: wandb: switched off: its process was killed by signal 6",
    ]


def test_full_disk_at_the_start_turns_the_sink_off(
    fake: FakeWandb, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, text: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(wandb_sink, "write_text_atomically", refuse)
    sink = fake.sink()
    sink.close(20)
    [text] = fake.texts
    assert "cannot start: No space left on device" in text


def test_online_without_a_key_writes_offline_and_says_so(fake: FakeWandb) -> None:
    fake.sink(mode="online").close(20)
    assert fake.calls("init")[0][0]["mode"] == "offline"
    assert "no key is configured" in fake.texts[0]


def test_disabled_sink_touches_nothing(fake: FakeWandb) -> None:
    sink = fake.sink(mode="disabled")
    sink.log("train", {"chunk": 1})
    sink.close(20)
    assert fake.calls("import") == []
    assert list(fake.run_dir.iterdir()) == []
