"""The command `audit`: what the compiler makes of the FP8 convolutions of a configuration.

In: a config file and overrides, as for train.py. Out: a table by computation and a verdict, or
one JSON object; an error if something fell back. Jax-free until it runs.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envs.errors import UserError

if TYPE_CHECKING:
    from rich.table import Table

    from factorio_rl.audit import Counts, Report
    from factorio_rl.audit_run import Audit

NAME_WIDTH = 40
"""Most characters of a computation's name in the table."""

_ADDED = re.compile(r"^(?:wide\.)+|(?:\.(?:clone|sunk))+$")


def add_parser(commands: Any) -> None:
    """Adds `audit` to the subcommands of a parser; what is left over are its settings."""
    parser = commands.add_parser(
        "audit",
        help="compile self-play with an FP8 actor and say which convolutions are in FP8",
        description="Settings can be overridden as for train.py, as in --actor.precision=fp8",
    )
    parser.set_defaults(run=run, settings=[])
    parser.add_argument("--config", type=Path, required=True, help="YAML file of settings")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Runs the command; the exit code.

    Raises:
        UserError: bad settings, an actor that is not to use FP8, or a fallback (`AuditError`).
    """
    from factorio_rl.config_file import load_config

    config = load_config(options.config, options.settings)
    if config.actor.precision == "bf16":
        raise UserError(
            "actor.precision is bf16, so nothing of this configuration is in FP8; "
            "pass --actor.precision=fp8 to audit it with an FP8 actor"
        )
    from factorio_rl.audit import require_clean
    from factorio_rl.audit_run import audit
    from factorio_rl.runtime import quiet_libraries

    quiet_libraries()
    found = audit(config)
    if options.json:
        print(json.dumps(as_json(found)))
    else:
        _print(found)
    require_clean(found.reports, found.support)
    return 0


def as_json(found: "Audit") -> dict[str, Any]:
    """The audit as one JSON object."""
    return {
        "device": found.device,
        "versions": found.versions,
        "is_emulated": found.is_emulated,
        "fp8_support": found.support.name.lower(),
        "compiler": found.compiler,
        "passed": found.passed,
        "verdict": found.verdict,
        "programs": {name: _report_as_json(report) for name, report in found.reports.items()},
    }


def _print(found: "Audit") -> None:
    from factorio_rl.printing import printing

    versions = ", ".join(f"{name} {number}" for name, number in found.versions.items())
    with printing() as console:
        console.print(f"device    {found.device}; {versions}")
        for name, report in found.reports.items():
            console.print(_table(name, report))
        console.print(f"compiler  {found.compiler}", soft_wrap=True)
        console.print(f"verdict   {found.verdict}", soft_wrap=True)


def _table(program: str, report: "Report") -> "Table":
    from rich.table import Table

    table = Table(title=f"convolutions of {program} by operands", title_justify="left")
    table.add_column("computation")
    for heading in ("FP8", "bf16", "f32", "backward"):
        table.add_column(heading, justify="right")
    for row in report.rows:
        table.add_row(_short(row.computation), *map(str, row.forward), _in_short(row.backward))
    return table


def _short(name: str) -> str:
    """A name without what XLA's passes put before and after it."""
    name = _ADDED.sub("", name)
    return name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 3]}..."


def _in_short(counts: "Counts") -> str:
    return ", ".join(_parts(counts)) or "0"


def _parts(counts: "Counts") -> Iterator[str]:
    for name, number in zip(("FP8", "bf16", "f32"), counts, strict=True):
        if number:
            yield f"{number} {name}"


def _report_as_json(report: "Report") -> dict[str, Any]:
    rows = [
        {
            "computation": row.computation,
            "forward": row.forward._asdict(),
            "backward": row.backward._asdict(),
        }
        for row in report.rows
    ]
    return {
        "num_intended": report.num_intended,
        "num_fp8": report.num_fp8,
        "computations": rows,
        "problems": list(report.problems),
    }
