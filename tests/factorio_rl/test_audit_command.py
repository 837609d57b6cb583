"""The command `audit` on a CPU, and what it prints of other compilers' audits."""

import json
from pathlib import Path

import pytest

from factorio_rl import audit_run, cli
from factorio_rl.audit import Fp8Support, judge
from factorio_rl.audit_command import as_json
from factorio_rl.audit_run import Audit
from factorio_rl.convolutions import Convolution

LOOP = "wide.wide.region_4.1.sunk.clone.clone"
CONFIG = Path(__file__).parents[2] / "configs" / "minute.yaml"


def _audit(*arguments: str) -> int:
    return cli.main(["audit", "--config", str(CONFIG), *arguments])


def _convolutions(number: int, dtype: str, computation: str) -> list[Convolution]:
    return [
        Convolution(f"c.{index}", computation, "forward", "__cudnn$conv", dtype, dtype, "f32")
        for index in range(number)
    ]


def _of_gpu(support: Fp8Support, num_fallbacks: int) -> Audit:
    convolutions = [
        *_convolutions(1, "bf16", LOOP),
        *_convolutions(6 - num_fallbacks, "f8e4m3fn", LOOP),
        *_convolutions(
            num_fallbacks, "f32", "a_rather_long_name_of_a_computation_that_is_the_root"
        ),
    ]
    report = judge(convolutions, 6, "bfloat16")
    return Audit("NVIDIA H200", False, {"jax": "0.11.2"}, support, {"move": report})


def test_a_configuration_in_bf16_is_refused_with_the_override_to_pass(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert _audit() == 2
    assert "pass --actor.precision=fp8" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["--actor.precision=fp4"], "actor.precision"),
        (["--actor.precision=fp8"], "multiple of 16"),
        (["--actor.precisoin=fp8"], "actor.precisoin: unknown"),
        (["fp8"], "expected an option"),
    ],
)
def test_overrides_are_read_as_those_of_train(
    capfd: pytest.CaptureFixture[str], overrides: list[str], message: str
) -> None:
    assert _audit(*overrides) == 2
    assert message in capfd.readouterr().err


def test_other_commands_still_refuse_what_they_do_not_know(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["evaluate", "--run-dir", "run", "--actor.precision=fp8"]) == 2
    assert "unrecognized arguments: --actor.precision=fp8" in capfd.readouterr().err


@pytest.mark.slow
def test_on_a_cpu_the_audit_passes_with_a_table_and_says_that_fp8_is_emulated(
    capfd: pytest.CaptureFixture[str],
) -> None:
    settings = ["--network.channels=16", "--actor.chunk_moves=2", "--search.root_precision=fp8"]
    assert _audit("--actor.precision", "fp8", *settings) == 0
    printed = capfd.readouterr().out
    assert "CPU" in printed
    assert "jax 0." in printed
    assert "computation" in printed
    assert "emulated on this device" in printed


def _printed(found: Audit, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(audit_run, "audit", lambda config: found)
    return _audit("--actor.precision=fp8", "--network.channels=16", *arguments)


def test_a_clean_audit_prints_a_row_for_each_computation_and_exits_with_0(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _printed(_of_gpu(Fp8Support.ALL, 0), monkeypatch) == 0
    printed = capfd.readouterr().out
    assert "NVIDIA H200; jax 0.11.2" in printed
    [row] = [line for line in printed.splitlines() if "region" in line]
    assert [cell.strip() for cell in row.strip("│").split("│")] == [
        "region_4.1",
        "6",
        "1",
        "0",
        "0",
    ]
    assert "move: 6 of 6 FP8 convolutions are in FP8" in printed


def test_a_fallback_prints_the_table_and_exits_with_2_and_the_reason(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _printed(_of_gpu(Fp8Support.ONE_COMPUTATION, 2), monkeypatch) == 2
    printed = capfd.readouterr()
    assert "a_rather_long_name_of_a_computation_t..." in printed.out
    assert "4 of 6 FP8 convolutions are in FP8" in printed.out
    assert "2 of 6 FP8 convolutions fell back" in printed.err
    assert "2 of f32 x f32" in printed.err
    assert "#49007" in printed.err


def test_json_is_one_object_with_the_same_facts(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _of_gpu(Fp8Support.ONE_COMPUTATION, 2)
    assert _printed(found, monkeypatch, "--json") == 2
    printed = json.loads(capfd.readouterr().out)
    assert printed == json.loads(json.dumps(as_json(found)))
    assert printed["passed"] is False
    assert printed["fp8_support"] == "one_computation"
    move = printed["programs"]["move"]
    assert (move["num_fp8"], move["num_intended"]) == (4, 6)
    assert move["computations"][0]["forward"] == {"fp8": 4, "bf16": 1, "other": 0}
    assert len(move["problems"]) == 1


def test_the_early_return_is_told_with_whether_it_matters() -> None:
    harmless = _of_gpu(Fp8Support.ONE_COMPUTATION, 0).compiler
    assert "#49007" in harmless
    assert "does not matter here" in harmless
    assert "does not matter" not in _of_gpu(Fp8Support.ONE_COMPUTATION, 2).compiler
    assert "in all computations" in _of_gpu(Fp8Support.ALL, 0).compiler
    assert "no FP8" in _of_gpu(Fp8Support.NONE, 6).compiler
    assert "fell back" in _of_gpu(Fp8Support.NONE, 6).verdict
