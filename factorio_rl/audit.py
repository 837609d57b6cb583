"""The judgement of the audit: whether the convolutions of a program are what they should be.

In: the convolutions of a compiled program, and how many of them are to be in FP8. Out: a table by
computation and the problems, if any; or the error that refuses to run. XLA convolves in float32
what it cannot do in FP8, without a word: slower, and with other numbers. No jax.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from envs.errors import UserError
from factorio_rl.convolutions import Convolution


class AuditError(UserError):
    """A program whose convolutions are not what they should be."""


class Fp8Support(Enum):
    """Which FP8 convolutions a compiler makes for its device."""

    NONE = "none"
    ONE_COMPUTATION = "in one computation of a program"
    ALL = "in all computations"


class Counts(NamedTuple):
    """Convolutions by the type of their operands; `other` is float32, and what mixes types."""

    fp8: int
    bf16: int
    other: int


class Row(NamedTuple):
    """The convolutions of a computation."""

    computation: str
    forward: Counts
    backward: Counts


@dataclass(frozen=True)
class Report:
    """What is wrong with a program, and the counts that show it.

    Attributes:
        num_intended: forward convolutions that were to be in FP8.
        rows: one for each computation with convolutions, in the order of the text.
        problems: what is not as it should be, in words.
    """

    num_intended: int
    rows: tuple[Row, ...]
    problems: tuple[str, ...]

    @property
    def num_fp8(self) -> int:
        """Forward convolutions in FP8."""
        return sum(row.forward.fp8 for row in self.rows)


def judge(convolutions: Sequence[Convolution], num_intended: int, compute_dtype: str) -> Report:
    """The report on a program of a GPU.

    Args:
        num_intended: forward convolutions that were to be in FP8.
        compute_dtype: of the network, `bfloat16` or `float32`.
    """
    problems = [
        *_forward_problems(convolutions, num_intended, compute_dtype),
        *_backward_problems(convolutions),
    ]
    return Report(num_intended, tabulate(convolutions), tuple(problems))


def tabulate(convolutions: Iterable[Convolution]) -> tuple[Row, ...]:
    """The counts of each computation, in the order of the text."""
    by_computation: dict[str, list[Convolution]] = {}
    for one in convolutions:
        by_computation.setdefault(one.computation, []).append(one)
    return tuple(
        Row(name, _count(one for one in of if is_forward(one)), _count(filter(_is_backward, of)))
        for name, of in by_computation.items()
    )


def is_forward(one: Convolution) -> bool:
    """Whether it is of no gradient."""
    return one.kind == "forward"


def is_fp8(one: Convolution) -> bool:
    """Whether both operands are in FP8."""
    return one.input_dtype.startswith("f8") and one.kernel_dtype.startswith("f8")


def support_of(probe: Sequence[Convolution]) -> Fp8Support:
    """What the program of `audit_programs.probe_program` says of a compiler."""
    num_fp8 = sum(map(is_fp8, probe))
    if num_fp8 == 0:
        return Fp8Support.NONE
    return Fp8Support.ALL if num_fp8 == len(probe) else Fp8Support.ONE_COMPUTATION


def require_clean(reports: Mapping[str, Report], support: Fp8Support) -> None:
    """Raises `AuditError` if a program, by its name, has problems: what, why, and what to do."""
    broken = {name: report for name, report in reports.items() if report.problems}
    if not broken:
        return
    found = "; ".join(f"{name}: {', '.join(of.problems)}" for name, of in broken.items())
    advice = _advice(support, any(report.num_fp8 for report in broken.values()))
    raise AuditError(f"the compiled program is not in FP8 as intended. {found}. {advice}")


def _advice(support: Fp8Support, some_are_fp8: bool) -> str:
    """The likely reason and what to do, for a compiler with this support."""
    if support is Fp8Support.NONE:
        return (
            "This device and its compiler have no FP8 convolutions, which need a GPU of compute "
            "capability 8.9; set actor.precision to bf16"
        )
    if support is Fp8Support.ONE_COMPUTATION and some_are_fp8:
        return (
            "This compiler makes FP8 convolutions in one computation of a program only "
            "(openxla/xla PR #49007, jax before 0.12.0.1): leave search.root_precision at bf16, or "
            "evaluate FP8 roots as iteration 0 of the loop, or install a newer jax; else set "
            "actor.precision to bf16"
        )
    return (
        "This compiler does make FP8 convolutions, of other programs; set actor.precision to bf16"
    )


def _forward_problems(
    convolutions: Sequence[Convolution], num_intended: int, compute_dtype: str
) -> Iterable[str]:
    others = [one for one in convolutions if is_forward(one) and not is_fp8(one)]
    num_fp8 = sum(is_forward(one) and is_fp8(one) for one in convolutions)
    wrong = [one for one in others if not _is_bf16(one)] if compute_dtype == "bfloat16" else []
    missing = max(num_intended - num_fp8, 0)
    if missing:
        operands = Counter(f"{one.input_dtype} x {one.kernel_dtype}" for one in others)
        listed = ", ".join(f"{number} of {name}" for name, number in sorted(operands.items()))
        yield (
            f"{missing} of {num_intended} FP8 convolutions fell back "
            f"(forward convolutions that are not in FP8: {listed or 'none'})"
        )
    if len(wrong) > missing:
        yield f"{len(wrong)} forward convolutions of a bfloat16 network are not in bf16 or FP8"


def _backward_problems(convolutions: Sequence[Convolution]) -> Iterable[str]:
    quantized = [
        one
        for one in convolutions
        if _is_backward(one)
        and any(dtype.startswith("f8") for dtype in (one.input_dtype, one.kernel_dtype))
    ]
    if quantized:
        yield f"{len(quantized)} convolutions of the gradient have operands in FP8"


def _count(convolutions: Iterable[Convolution]) -> Counts:
    listed = list(convolutions)
    fp8, bf16 = sum(map(is_fp8, listed)), sum(map(_is_bf16, listed))
    return Counts(fp8, bf16, len(listed) - fp8 - bf16)


def _is_backward(one: Convolution) -> bool:
    return not is_forward(one)


def _is_bf16(one: Convolution) -> bool:
    return one.input_dtype == one.kernel_dtype == "bf16"
