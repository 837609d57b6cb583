"""The judgement on a program, from lists of convolutions."""

import pytest

from factorio_rl.audit import (
    AuditError,
    Counts,
    Fp8Support,
    Report,
    Row,
    judge,
    require_clean,
    support_of,
)
from factorio_rl.convolutions import Convolution, Kind

LOOP, ROOT = "region_0.4", "main.6"


def _convolutions(
    number: int, dtype: str, computation: str = LOOP, kind: Kind = "forward"
) -> list[Convolution]:
    return [
        Convolution(f"c.{index}", computation, kind, "__cudnn$conv", dtype, dtype, "f32")
        for index in range(number)
    ]


FP8 = _convolutions(4, "f8e4m3fn")
STEM = _convolutions(1, "bf16")


def test_a_loop_in_fp8_beside_a_root_in_bf16_is_clean() -> None:
    report = judge([*STEM, *FP8, *_convolutions(5, "bf16", ROOT)], 4, "bfloat16")
    assert report.problems == ()
    assert report.num_fp8 == 4
    nothing = Counts(0, 0, 0)
    assert report.rows == (
        Row(LOOP, Counts(4, 1, 0), nothing),
        Row(ROOT, Counts(0, 5, 0), nothing),
    )


def test_fewer_fp8_convolutions_than_intended_are_a_problem_with_number_and_operands() -> None:
    fell_back = _convolutions(4, "f32", ROOT)
    [problem] = judge([*STEM, *FP8, *fell_back], 8, "bfloat16").problems
    assert problem == (
        "4 of 8 FP8 convolutions fell back "
        "(forward convolutions that are not in FP8: 1 of bf16 x bf16, 4 of f32 x f32)"
    )


def test_a_convolution_with_one_fp8_operand_counts_as_a_fallback() -> None:
    mixed = FP8[0]._replace(input_dtype="f32")
    [problem] = judge([*STEM, *FP8[1:], mixed], 4, "bfloat16").problems
    assert problem.startswith("1 of 4 FP8 convolutions fell back")
    assert "1 of f32 x f8e4m3fn" in problem


def test_convolutions_that_are_not_there_at_all_are_a_problem() -> None:
    [problem] = judge([], 4, "bfloat16").problems
    assert problem.startswith("4 of 4 FP8 convolutions fell back")
    assert "not in FP8: none" in problem


def test_float32_is_a_problem_in_a_bfloat16_network_only() -> None:
    convolutions = [*FP8, *_convolutions(5, "f32", ROOT)]
    assert judge(convolutions, 4, "float32").problems == ()
    [problem] = judge(convolutions, 4, "bfloat16").problems
    assert problem.startswith("5 forward convolutions of a bfloat16 network")


@pytest.mark.parametrize("field", ["input_dtype", "kernel_dtype"])
def test_any_fp8_operand_of_a_gradient_is_a_problem(field: str) -> None:
    gradients = _convolutions(2, "bf16", ROOT, "backward-filter")
    gradients[1] = gradients[1]._replace(**{field: "f8e4m3fn"})
    [problem] = judge([*FP8, *gradients], 4, "bfloat16").problems
    assert problem == "1 convolutions of the gradient have operands in FP8"


def test_a_gradient_in_bf16_is_clean_and_no_forward_convolution() -> None:
    gradients = _convolutions(3, "bf16", LOOP, "backward-input")
    report = judge([*FP8, *gradients], 4, "bfloat16")
    assert report.problems == ()
    assert report.rows == (Row(LOOP, Counts(4, 0, 0), Counts(0, 3, 0)),)


@pytest.mark.parametrize(
    ("dtypes", "support"),
    [
        (["f32", "f32"], Fp8Support.NONE),
        (["f8e4m3fn", "f32"], Fp8Support.ONE_COMPUTATION),
        (["f8e4m3fn", "f8e4m3fn"], Fp8Support.ALL),
    ],
)
def test_the_probe_tells_what_a_compiler_supports(dtypes: list[str], support: Fp8Support) -> None:
    assert support_of([one for dtype in dtypes for one in _convolutions(1, dtype)]) is support


def _broken(*convolutions: Convolution) -> dict[str, Report]:
    return {"move": judge(convolutions, 8, "bfloat16")}


@pytest.mark.parametrize(
    ("in_fp8", "support", "reason"),
    [
        (FP8, Fp8Support.ONE_COMPUTATION, "#49007"),
        (FP8, Fp8Support.ONE_COMPUTATION, "search.root_precision"),
        # Nothing at all in FP8 is not for that reason.
        ([], Fp8Support.ONE_COMPUTATION, "of other programs"),
        (FP8, Fp8Support.ALL, "of other programs"),
        ([], Fp8Support.NONE, "8.9"),
    ],
)
def test_the_error_says_what_fell_back_why_and_what_to_do(
    in_fp8: list[Convolution], support: Fp8Support, reason: str
) -> None:
    reports = _broken(*in_fp8, *_convolutions(8 - len(in_fp8), "f32", ROOT))
    with pytest.raises(AuditError) as raised:
        require_clean(reports, support)
    message = str(raised.value)
    assert raised.value.exit_code == 2
    assert f"move: {8 - len(in_fp8)} of 8 FP8 convolutions fell back" in message
    assert reason in message
    assert "set actor.precision to bf16" in message
    assert "\n" not in message


def test_clean_programs_raise_nothing_whatever_the_compiler() -> None:
    require_clean({"move": judge(FP8, 4, "bfloat16")}, Fp8Support.ONE_COMPUTATION)
