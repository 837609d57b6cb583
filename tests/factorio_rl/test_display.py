"""The terminal: plain lines without one, a live bar with figures on one."""

import io

import pytest
from rich.console import Console

from factorio_rl.display import Display, clock_text, compact


class _Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def _console(terminal: bool) -> tuple[Console, io.StringIO]:
    output = io.StringIO()
    return Console(file=output, force_terminal=terminal, width=100, color_system=None), output


def test_without_a_terminal_each_event_is_one_line() -> None:
    console, output = _console(terminal=False)
    clock = _Clock()
    with Display(console, clock) as display:
        display.stage("self-play", 100, done=20)
        clock.now_s += 10
        display.update(40, {"env_steps": 4096})
        display.event("train", {"chunk": 40, "loss": 0.123456, "env_steps": 1234567, "depth": 3})
        display.event("other", {"depth": 3})
        display.message("[bold]as it is[/bold]")
    assert output.getvalue().splitlines() == [
        "self-play: 20 of 100",
        "[0:00:10, 0:00:30 left] train  chunk 40  env_steps 1,234,567  loss 0.1235",
        "[0:00:10, 0:00:30 left] other  depth 3",
        "[bold]as it is[/bold]",
    ]


def test_progress_alone_prints_nothing_without_a_terminal() -> None:
    console, output = _console(terminal=False)
    with Display(console, _Clock()) as display:
        display.update(1, {"env_steps": 5})
    assert output.getvalue() == ""


def test_terminal_shows_stage_rates_loss_and_score() -> None:
    console, output = _console(terminal=True)
    clock = _Clock()
    with Display(console, clock) as display:
        display.stage("self-play", 10)
        for done in range(1, 4):
            clock.now_s += 2
            display.update(done, {"env_steps": 1000 * done, "episodes": 3 * done, "loss": 0.5})
        display.event("train", {"chunk": 3, "loss": 0.25})
        display.event("eval", {"chunk": 3, "score": 0.75})
        clock.now_s += 2
        display.update(4, {"env_steps": 4000, "episodes": 12})
    shown = output.getvalue()
    assert "self-play" in shown
    assert "eval  chunk 3  score 0.75" in shown
    assert "train  chunk" not in shown
    last = shown.rpartition("self-play")[2]
    assert "4/10" in last
    assert "500 steps/s · 1.5 episodes/s · loss 0.25 · score 0.75" in last


def test_rate_is_over_the_latest_updates() -> None:
    console, output = _console(terminal=True)
    clock = _Clock()
    with Display(console, clock) as display:
        display.stage("self-play", 100)
        for done in range(1, 31):
            clock.now_s += 10 if done < 15 else 1
            display.update(done, {"env_steps": 100 * done})
    assert "\n100 steps/s" in output.getvalue()


def test_broken_output_does_not_raise() -> None:
    console, output = _console(terminal=False)
    with Display(console, _Clock()) as display:
        output.close()
        display.event("train", {"chunk": 1})


class _FullOutput(io.StringIO):
    def write(self, text: str, /) -> int:
        raise OSError("no space left")


def test_full_output_of_a_terminal_does_not_raise() -> None:
    console = Console(file=_FullOutput(), force_terminal=True, width=100)
    with Display(console, _Clock()) as display:
        display.stage("self-play", 10)
        display.update(1, {"env_steps": 5})
        display.event("eval", {"chunk": 1, "score": 0.5})
        display.console.print("a table")


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("step_s", [0.0, -1000.0])
def test_clock_that_stands_still_or_goes_backwards_gives_no_rate_and_no_negative_time(
    terminal: bool, step_s: float
) -> None:
    console, output = _console(terminal)
    clock = _Clock()
    with Display(console, clock) as display:
        display.stage("self-play", 10)
        for done in range(1, 5):
            clock.now_s += step_s
            display.update(done, {"env_steps": 100 * done})
            display.event("eval", {"chunk": done})
    shown = output.getvalue()
    assert "[0:00:00, 0:00:00 left] eval  chunk 4" in shown
    assert "steps/s" not in shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234567, "1,234,567"),
        (0.000123456, "0.0001235"),
        (2048.7, "2,049"),
        (True, "True"),
        (None, "None"),
        (float("nan"), "nan"),
    ],
)
def test_figures_are_compact(value: object, text: str) -> None:
    assert compact(value) == text


def test_clock_text_has_hours() -> None:
    assert clock_text(3723.9) == "1:02:03"
