"""`python -m factorio_rl pack`: writes the agent of a run directory as one small file.

In: a run directory. Out: an agent file with the scores of the run's reports that belong to its
checkpoint, and a printed summary. The scores were measured with the checkpoint's float32
parameters, and the file says so: those in it are rounded.
"""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from factorio_rl.argument_types import place

if TYPE_CHECKING:
    from factorio_rl.agent_scores import Score


def add_parser(commands: Any) -> None:
    """Adds `pack` to the subcommands of a parser."""
    parser = commands.add_parser("pack", help="write the agent of a run as one small file")
    parser.set_defaults(run=run)
    parser.add_argument("--run-dir", type=place, required=True, help="run directory of train.py")
    parser.add_argument("--out", type=place, required=True, help="agent file, NAME.safetensors")
    parser.add_argument(
        "--checkpoint", choices=("best", "newest"), default="best", help="default: best by score"
    )


def run(options: argparse.Namespace) -> int:
    """Runs the command; the exit code. Raises UserError."""
    from dataclasses import asdict

    from factorio_rl import runtime
    from factorio_rl.agent_file import Agent, parameters_sha256, write_agent_file
    from factorio_rl.agent_scores import MEASURED_WITH, facts_of, scores_of
    from factorio_rl.run_directory import RunDirectory
    from factorio_rl.run_parameters import load_run_parameters

    directory = RunDirectory(options.run_dir)
    config = directory.require_config()
    directory.require_state_version()
    runtime.quiet_libraries()
    runtime.require_device()
    newest = options.checkpoint == "newest"
    loaded = load_run_parameters(directory, config, newest=newest, tell=_warn)
    scores = scores_of(directory.evaluations, loaded, _warn)
    listed = [asdict(score) for score in scores]
    facts = facts_of(loaded.step, loaded.chunk, loaded.env_steps, listed)
    label = f"checkpoint {loaded.step} of {options.run_dir}"
    write_agent_file(options.out, Agent(config, loaded.params, label, facts))
    print(f"wrote {options.out}: {label}, {loaded.env_steps:,} environment steps")
    print(f"{options.out.stat().st_size:,} bytes; SHA-256 of the parameters:")
    print(parameters_sha256(loaded.params))
    _print_scores(scores, MEASURED_WITH)
    return 0


def _print_scores(scores: list["Score"], measured_with: str) -> None:
    if not scores:
        print("no report of the run is of this checkpoint: evaluate it, and pack it again")
        return
    for score in scores:
        low, high = score.ci95
        print(
            f"{score.task_set}: score {score.score:.3f} ({low:.3f} to {high:.3f}), solved "
            f"{score.solved:.3f}, {score.n} tasks, {score.num_simulations} simulations, "
            f"{score.precision}"
        )
    print(f"measured with {measured_with}")


def _warn(text: str) -> None:
    print(text, file=sys.stderr)
