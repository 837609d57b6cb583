"""The audit of a configuration: compiles what training runs in FP8 and judges it.

In: a configuration whose actor may be in FP8. Out: what the compiler made of its convolutions;
`require_fp8` refuses what is not as intended. On a device other than a GPU FP8 is emulated with
the same arithmetic and no gain of speed, so there is a table there, and nothing to refuse.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

import jax

from factorio_rl.audit import Fp8Support, Report, judge, require_clean, support_of, tabulate
from factorio_rl.audit_programs import (
    CompiledText,
    Program,
    compiled_text,
    move_program,
    probe_program,
    update_program,
)
from factorio_rl.config import Config
from factorio_rl.convolutions import list_convolutions
from factorio_rl.network import make_network
from factorio_rl.runtime import device_name

CUDNN_PACKAGES = ("nvidia-cudnn-cu13", "nvidia-cudnn-cu12")


EMULATED = "FP8 is emulated on this device: the same arithmetic, and no gain of speed"


class Target(NamedTuple):
    """What programs are compiled for."""

    device: str  # in words
    platform: str  # as jax names it: cpu, gpu
    compiled_text: CompiledText


@dataclass(frozen=True)
class Audit:
    """What the audit found.

    Attributes:
        device: that the programs were compiled for, in words.
        is_emulated: whether the device has no FP8 because it is no GPU.
        versions: of jax, jaxlib and, where it is installed as a package, cuDNN.
        support: which FP8 convolutions the compiler makes.
        reports: by program: `move`, and `update` with `learner.qat`.
    """

    device: str
    is_emulated: bool
    versions: dict[str, str]
    support: Fp8Support
    reports: dict[str, Report]

    @property
    def passed(self) -> bool:
        """Whether no program has problems."""
        return not any(report.problems for report in self.reports.values())

    @property
    def verdict(self) -> str:
        """The outcome in a sentence."""
        if self.is_emulated:
            return EMULATED
        parts = []
        for name, report in self.reports.items():
            count = f"{report.num_fp8} of {report.num_intended} FP8 convolutions are in FP8"
            parts.append(f"{name}: {', '.join([count, *report.problems])}")
        return "; ".join(parts)

    @property
    def compiler(self) -> str:
        """Which FP8 convolutions the compiler makes, and whether a lack of some matters here."""
        if self.support is Fp8Support.NONE:
            return "makes no FP8 convolutions for this device"
        if self.support is Fp8Support.ALL:
            return "makes FP8 convolutions in all computations of a program"
        bug = "makes FP8 convolutions in one computation of a program only (openxla/xla PR #49007)"
        if self.passed:
            return f"{bug}; it does not matter here, where they are in one"
        return f"{bug}; see the verdict"


def is_emulated(platform: str) -> bool:
    """Whether a platform, as jax names it, computes FP8 convolutions in another type."""
    return platform != "gpu"


def this_device() -> Target:
    """The device of this process."""
    return Target(device_name(), jax.default_backend(), compiled_text)


def audit(config: Config, target: Target | None = None) -> Audit:
    """Compiles the programs of a configuration for a target, by default this device, and judges.

    Raises:
        TaskSetError: the held-out set of the configuration cannot be read.
    """
    target = target or this_device()
    emulated = is_emulated(target.platform)
    dtype = make_network(config.network).dtype.name
    programs: dict[str, Callable[[Config], Program]] = {"move": move_program}
    if config.learner.qat:
        programs["update"] = update_program
    num_intended = 2 * config.network.blocks
    reports = {}
    for name, program in programs.items():
        convolutions = list_convolutions(target.compiled_text(program(config)))
        reports[name] = (
            Report(num_intended, tabulate(convolutions), ())
            if emulated
            else judge(convolutions, num_intended, dtype)
        )
    support = support_of(list_convolutions(target.compiled_text(probe_program())))
    return Audit(target.device, emulated, _versions(), support, reports)


def require_fp8(config: Config) -> Audit:
    """The audit on this device. Raises `AuditError` if a program is not in FP8 as intended."""
    found = audit(config)
    require_clean(found.reports, found.support)
    return found


def _versions() -> dict[str, str]:
    found = {"jax": version("jax"), "jaxlib": version("jaxlib")}
    for package in CUDNN_PACKAGES:
        try:
            found["cuDNN"] = version(package)
        except PackageNotFoundError:
            continue
        break
    return found
