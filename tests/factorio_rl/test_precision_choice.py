"""Whether the actor may use FP8: as set, or for `auto` where it was measured to be faster."""

from pathlib import Path

import pytest

from factorio_rl import audit_run, tower_timing
from factorio_rl.audit import AuditError
from factorio_rl.config import Config
from factorio_rl.precision_choice import choose_fp8
from factorio_rl.tower_timing import TowerTimes


def config(precision: str) -> Config:
    return Config.model_validate(
        {"actor": {"precision": precision, "num_envs": 32}, "run": {"compilation_cache": "~/x"}}
    )


@pytest.mark.parametrize(("precision", "may_use_fp8"), [("bf16", False), ("fp8", True)])
def test_a_named_arithmetic_is_used_without_a_measurement(
    monkeypatch: pytest.MonkeyPatch, precision: str, may_use_fp8: bool
) -> None:
    monkeypatch.setattr(tower_timing, "cached_times", None)
    told: list[str] = []
    assert choose_fp8(config(precision), told.append) is may_use_fp8
    assert told == ([audit_run.EMULATED] if may_use_fp8 else [])


@pytest.mark.parametrize(
    ("times", "may_use_fp8", "words"),
    [
        (TowerTimes(2.0, 1.5), True, "faster here: the residual blocks take 1.5 ms in FP8, 2 ms"),
        (TowerTimes(2.0, 2.5), False, "not slower here"),
        (TowerTimes(2.0, 2.0), False, "(ratio 1.00) for 32 positions"),
    ],
)
def test_auto_refuses_fp8_where_it_is_not_faster_and_tells_the_ratio(
    monkeypatch: pytest.MonkeyPatch, times: TowerTimes, may_use_fp8: bool, words: str
) -> None:
    asked: list[Path | None] = []

    def cached_times(config: Config, folder: Path | None) -> TowerTimes:
        del config
        asked.append(folder)
        return times

    monkeypatch.setattr(tower_timing, "cached_times", cached_times)
    told: list[str] = []
    assert choose_fp8(config("auto"), told.append) is may_use_fp8
    assert words in told[0]
    assert asked == [Path("~/x").expanduser()]


def test_on_a_gpu_a_failed_audit_ends_the_run_before_it_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(config: Config) -> None:
        raise AuditError(f"{config.actor.precision} fell back")

    monkeypatch.setattr(audit_run, "is_emulated", lambda platform: False)
    monkeypatch.setattr(audit_run, "require_fp8", refuse)
    with pytest.raises(AuditError, match="fp8 fell back"):
        choose_fp8(config("fp8"), lambda text: None)
