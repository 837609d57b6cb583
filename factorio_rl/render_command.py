"""The command `render`: a layout or blueprint as a picture or as text, with its rates. Jax-free."""

import argparse
from pathlib import Path
from typing import Any

from envs.errors import UserError
from factorio_rl.in_background import in_background
from factorio_rl.pictures import check_picture_path, save_picture
from factorio_rl.verify_command import add_import_options, load


def add_parser(commands: Any) -> None:
    """Adds `render` to the subcommands of a parser."""
    parser = commands.add_parser(
        "render",
        help="draw a layout or blueprint with its exact rates",
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("layout", help="layout JSON file, blueprint string or file, or -")
    add_import_options(parser)
    parser.add_argument("--png", type=Path, help="write a picture; without it, text is printed")


def run(options: argparse.Namespace) -> int:
    """Runs the command; the exit code."""
    from envs.render import render_png, render_text
    from envs.verifier import verify
    from factorio_rl.verify_answer import rates_in_short

    loaded = load(options.layout, options)
    if len(loaded) != 1:
        raise UserError(f"{options.layout} holds {len(loaded)} layouts; give a file with one")
    if options.png is not None:
        check_picture_path(options.png)
    layout = loaded[0].layout

    def draw() -> Any:
        caption = rates_in_short(verify(layout), loaded[0].unknown)
        if options.png is None:
            return render_text(layout, caption=caption)
        return render_png(layout, caption=caption)

    drawn = in_background(draw, "drawing")
    if options.png is None:
        print(drawn)
    else:
        save_picture(drawn, options.png)
        print(f"wrote {options.png}")
    return 0
