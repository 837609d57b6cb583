"""The command `report`: a run as one HTML page. Jax-free, so that it starts at once.

In: a run directory, also of a run that goes on. Out: a page that opens from disk.
"""

import argparse
from typing import Any

from envs.errors import UserError
from factorio_rl.argument_types import place

PAGE_FILE = "report.html"


def add_parser(commands: Any) -> None:
    """Adds `report` to the subcommands of a parser."""
    parser = commands.add_parser(
        "report",
        help="make an HTML page of a run: scores, curriculum, search, losses, time",
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("--run-dir", type=place, required=True, help="run directory of train.py")
    parser.add_argument(
        "--out", type=place, metavar="FILE", help=f"the page; default: {PAGE_FILE} in the run"
    )


def run(options: argparse.Namespace) -> int:
    """Runs the command; the exit code."""
    from envs.atomic_file import write_text_atomically
    from factorio_rl.run_record import read_run
    from factorio_rl.run_report import run_report

    found = read_run(options.run_dir)
    out = options.run_dir / PAGE_FILE if options.out is None else options.out
    page = run_report(found)
    try:
        write_text_atomically(out, page)
    except OSError as error:
        raise UserError(
            f"cannot write the page {out}: {error.strerror}; "
            "give a file in a folder that can be written with --out"
        ) from None
    print(f"wrote {out}; open it in a browser")
    return 0
