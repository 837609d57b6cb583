"""The command `reproduce`: what is not finite in the dump of a run that ended with exit code 3.

In: a folder under `non_finite/` of a run directory. Out: what it was computed from, computed again
on this device, and the first array with a number that is not finite. Jax-free until it runs.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from factorio_rl.config import Config
    from factorio_rl.non_finite_case import Finding

NOT_REPRODUCED = 1
"""Exit code where everything is finite on this device."""

LISTED = 10
"""Most arrays that are listed after the first."""


def add_parser(commands: Any) -> None:
    """Adds `reproduce` to the subcommands of a parser."""
    parser = commands.add_parser(
        "reproduce",
        help="compute again what was not finite in a run, from the dump that it left",
        description="Exit code 0 if something is not finite here too, 1 if nothing is.",
    )
    parser.set_defaults(run=run)
    parser.add_argument("dump", type=Path, help="folder under non_finite/ of a run directory")


def run(options: argparse.Namespace) -> int:
    """Runs the command; the exit code. Raises UserError if the folder is no dump."""
    from factorio_rl import runtime
    from factorio_rl.network import make_network
    from factorio_rl.non_finite_case import look_again
    from factorio_rl.non_finite_dump import read_dump

    runtime.quiet_libraries()
    runtime.require_device()
    dump = read_dump(options.dump)
    config = _with_any_tree(dump.config)
    runtime.enable_compilation_cache(config.run.compilation_cache)
    print(f"dump    {dump.what}")
    print(f"made    {_in_words(dump.made_with)}")
    print(f"here    {_in_words(runtime.made_with())}", flush=True)
    findings = look_again(config, make_network(config.network), dump.case)
    found = [finding for finding in findings if not finding.is_finite]
    if not found:
        print(f"result  not reproduced: all {len(findings)} arrays are finite here")
        return NOT_REPRODUCED
    print(f"result  reproduced; the first that is not finite is {_described(found[0])}")
    for finding in found[1 : LISTED + 1]:
        print(f"        then {_described(finding)}")
    if len(found) > LISTED + 1:
        print(f"        and {len(found) - LISTED - 1} more of {len(findings)} arrays")
    return 0


def _described(finding: "Finding") -> str:
    counts = [f"{finding.nan} NaN"] if finding.nan else []
    counts += [f"{finding.infinite} infinite"] if finding.infinite else []
    name = f"{finding.quantity} {finding.leaf}".strip()
    return f"{name}: {' and '.join(counts)} of {finding.size}"


def _in_words(made_with: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in made_with.items())


def _with_any_tree(config: "Config") -> "Config":
    """A run that was trained with the kernel tree can be looked at where there is no GPU."""
    return config.model_copy(update={"search": config.search.model_copy(update={"tree": "auto"})})
