"""`python -m factorio_rl export`: a layout as a blueprint string of the game.

In: a layout file. Out: the string on standard output or in a file; what a player must know, such
as missing power, on standard error.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from envs.errors import UserError


def add_parser(commands: Any) -> None:
    """Adds `export` to the subcommands of a parser."""
    parser = commands.add_parser("export", help="write a layout as a blueprint string")
    parser.set_defaults(run=run)
    parser.add_argument("layout", help="layout JSON file, or - for standard input")
    parser.add_argument("--game", choices=("2.0", "1.1"), default="2.0", help="default: 2.0")
    parser.add_argument("--label", help="the blueprint's name; default: the items it gives")
    parser.add_argument("--out", type=Path, help="write to this file; without it, print")


def run(options: argparse.Namespace) -> int:
    """Runs the command; the exit code. Raises UserError for what cannot be read or written."""
    from envs.blueprint.exporting import export_blueprint
    from envs.layout_input import load_inputs

    loaded = load_inputs(options.layout, stdin=sys.stdin)
    if len(loaded) != 1:
        raise UserError(f"{options.layout} holds {len(loaded)} layouts; give a file with one")
    if loaded[0].imported is not None:
        raise UserError(
            f"{options.layout} is a blueprint already; "
            "export takes a layout JSON (docs/rules.md, R3)"
        )
    exported = export_blueprint(loaded[0].layout, options.game, options.label)
    for note in exported.notes:
        print(f"note: {note}", file=sys.stderr)
    if options.out is None:
        print(exported.text)
        return 0
    try:
        options.out.write_text(exported.text + "\n", encoding="ascii")
    except OSError as error:
        raise UserError(
            f"cannot write {options.out}: {error.strerror}; give a path that can be written"
        ) from None
    print(f"wrote {options.out}")
    return 0
