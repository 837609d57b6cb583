"""The command lines: `train.py`, and `python -m factorio_rl` with its commands.

In: arguments. Out: an exit code: 0 done, 1 a design misses its target, 2 bad config or input, 3
non-finite training, 4 no good checkpoint, 129, 130 or 143 stopped by a signal and saved. Every
command imports what it needs when it runs, so that `verify` starts at once.
"""

import argparse
import errno
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from envs.errors import UserError
from factorio_rl import (
    __version__,
    audit_command,
    design_command,
    export_command,
    pack_command,
    render_command,
    report_command,
    reproduce_command,
    tasks_command,
    verify_command,
)
from factorio_rl.argument_types import MAX_SIMULATIONS, whole_number
from factorio_rl.safe_output import safe_output


def train_main(arguments: Sequence[str]) -> int:
    """Runs train.py's arguments; the exit code, whatever becomes of the output."""
    _prepare_streams()
    with safe_output():
        return _guarded(lambda: _train(arguments))


def main(arguments: Sequence[str]) -> int:
    """Runs the arguments of `python -m factorio_rl`; the exit code."""
    _prepare_streams()
    return _guarded(lambda: _run_command(arguments))


def _run_command(arguments: Sequence[str]) -> int:
    parser = _parser()
    options, others = parser.parse_known_args(arguments)
    if hasattr(options, "settings"):
        options.settings = others
    elif others:
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    return options.run(options)


def _guarded(run: Callable[[], int]) -> int:
    """Turns the errors that a user can cause into one message and an exit code."""
    try:
        code = run()
        sys.stdout.flush()
        return code
    except UserError as error:
        _complain(str(error))
        return error.exit_code
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.ENOSPC):
            if error.filename is None:
                raise
            _complain(f"{error.filename}: {error.strerror}")
            return UserError.exit_code
        # What Python still flushes at exit must not fail on it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:
            return 0
        _complain(f"cannot write the output: {error.strerror}; make room")
        return UserError.exit_code
    except KeyboardInterrupt:
        return 130


def _complain(message: str) -> None:
    """Says what is wrong, if there is anywhere to say it; the exit code says so too."""
    with suppress(OSError):
        print(f"error: {message}", file=sys.stderr, flush=True)


def _prepare_streams() -> None:
    """Puts the null device in place of streams that the caller has closed; shows all letters."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _train(arguments: Sequence[str]) -> int:
    from factorio_rl.preemption import StoppedError, StopRequest
    from factorio_rl.runtime import compute_deterministically
    from factorio_rl.train_args import parse_train_args

    options = parse_train_args(arguments)
    if options.config.run.deterministic:
        compute_deterministically(os.environ)
    print(f"training in {options.run_dir}; loading and compiling", flush=True)
    with StopRequest() as stop:
        from factorio_rl.trainer import train

        try:
            return train(options.config, options.run_dir, options.init_from, stop)
        except StoppedError:
            print("stopped by a signal before training began; nothing was written")
            return stop.exit_code


def _evaluate(options: argparse.Namespace) -> int:
    from factorio_rl.evaluate_command import evaluate

    return evaluate(
        options.run_dir,
        options.agent,
        options.out,
        task_set=options.task_set,
        num_simulations=options.num_simulations,
        newest=options.checkpoint == "newest",
        in_fp8=options.precision == "fp8",
        as_json=options.json,
    )


class _Parser(argparse.ArgumentParser):
    """Reports a wrong argument as every other error is reported: in one line."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see {self.prog} --help")


class _Version(argparse.Action):
    """Looks the versions up when they are asked for, so that other commands start sooner."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(_versions())
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m factorio_rl",
        description="Design modules; score agents; verify, export and draw layouts; make, show and "
        "check tasks; audit FP8; reproduce numbers that were not finite.\n"
        "Training: train.py --help",
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print versions and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    evaluate = commands.add_parser("evaluate", help="score a trained agent on held-out tasks")
    evaluate.set_defaults(run=_evaluate)
    evaluate.add_argument("--run-dir", type=Path, help="run directory of train.py")
    evaluate.add_argument("--agent", type=Path, help="agent file; default: the shipped agent")
    evaluate.add_argument("--out", type=Path, help="folder for the report on an agent file")
    evaluate.add_argument("--task-set", help="held-out set; default: the one of the run")
    evaluate.add_argument(
        "--num-simulations",
        type=whole_number(1, MAX_SIMULATIONS),
        help="per move; default: as in training",
    )
    evaluate.add_argument(
        "--checkpoint", choices=("best", "newest"), default="best", help="default: best by score"
    )
    evaluate.add_argument(
        "--precision", choices=("bf16", "fp8"), default="bf16", help="of the trunk; default: bf16"
    )
    evaluate.add_argument("--json", action="store_true", help="print the report as JSON")

    for command in (
        design_command,
        verify_command,
        export_command,
        render_command,
        tasks_command,
        audit_command,
        reproduce_command,
        report_command,
        pack_command,
    ):
        command.add_parser(commands)
    return parser


def _versions() -> str:
    from envs.generate import GENERATOR_VERSION
    from envs.heldout import HELDOUT_SETS, RULES_VERSION
    from envs.pool_file import FORMAT_VERSION

    sets = [f"task set {name} {entry.sha256[:12]}" for name, entry in HELDOUT_SETS.items()]
    versions = [f"factorio-rl {__version__}", f"rules {RULES_VERSION}"]
    return "\n".join(
        [*versions, f"generator {GENERATOR_VERSION}", f"pool format {FORMAT_VERSION}", *sets]
    )
