"""The command `verify`: exact rates of layouts and blueprints, and what limits them. Jax-free.

In: files, blueprint strings or standard input. Out: tables or JSON on standard output, a heat map
on request. It asks nothing: what is ambiguous is an error that names the option to pass.
"""

import argparse
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envs.errors import UserError
from factorio_rl.first_compile import compile_if_needed
from factorio_rl.in_background import in_background
from factorio_rl.pictures import check_picture_path, save_picture

if TYPE_CHECKING:
    from envs.layout_input import Loaded
    from factorio_rl.verify_answer import Answer

_NUMBER = re.compile(r"[0-9]{1,10}")

_SHOWN = 40
"""Most characters of an argument that a message repeats."""


def add_parser(commands: Any) -> None:
    """Adds `verify` to the subcommands of a parser."""
    parser = commands.add_parser(
        "verify",
        help="print exact rates of layouts or blueprints, and what limits them",
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "layouts",
        nargs="+",
        metavar="LAYOUT",
        help="layout JSON file (one layout or a list), blueprint string,\n"
        "file with a blueprint string or its JSON, or - for standard input",
    )
    add_import_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON; a list for a list")
    parser.add_argument("--png", type=Path, help="draw the layout as a heat map of use")
    parser.add_argument(
        "--tick-cap",
        type=tick_cap,
        metavar="TICKS",
        help="ticks after which a layout counts as not exact; default 1,000,000",
    )


def add_import_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say how a blueprint is to be read."""
    from envs.blueprint.ports import parse_input, parse_output

    parser.add_argument(
        "--input",
        action="append",
        default=[],
        type=_user_type(parse_input),
        metavar="X,Y=ITEM[,LANE]",
        help="a blueprint's input: belt head or chest, item, lane left or right (default both);\n"
        "item none: stays empty. x, y count tiles from the top left, from 0",
    )
    parser.add_argument(
        "--output",
        action="append",
        default=[],
        type=_user_type(parse_output),
        metavar="X,Y[=ITEM]",
        help="a blueprint's output: belt end or chest, and the item that counts;\n"
        "item none: no output there",
    )
    parser.add_argument(
        "--index",
        type=book_index,
        default=(),
        metavar="N[.N...]",
        help="which blueprint of a book, from 1; 2.3 is the third one in the second book",
    )


def _user_type(parse: Any) -> Any:
    """An argparse type from a parser that raises UserError, whose message argparse then shows."""

    def convert(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def book_index(text: str) -> tuple[int, ...]:
    """Positions in nested books, from 1. Raises ArgumentTypeError."""
    parts = text.split(".")
    if not all(_NUMBER.fullmatch(part) and int(part) > 0 for part in parts):
        raise argparse.ArgumentTypeError(
            f"{text[:_SHOWN]!r} is no position; give 2, or 2.3 in nested books"
        )
    return tuple(int(part) for part in parts)


def tick_cap(text: str) -> int:
    """A tick cap. Raises ArgumentTypeError."""
    digits = text.replace(",", "").replace("_", "")
    if not (_NUMBER.fullmatch(digits) and 1 <= int(digits) < 1 << 31):
        raise argparse.ArgumentTypeError(
            f"{text[:_SHOWN]!r} is no tick cap; give 1 to {(1 << 31) - 1}"
        )
    return int(digits)


def load(argument: str, options: argparse.Namespace) -> list["Loaded"]:
    """The layouts that an argument names, read as the import options say."""
    from envs.layout_input import load_inputs

    return load_inputs(
        argument,
        stdin=sys.stdin,
        index=options.index,
        inputs=options.input,
        outputs=options.output,
    )


def run(options: argparse.Namespace) -> int:
    """Runs the command; the exit code."""
    loaded = [one for argument in options.layouts for one in load(argument, options)]
    if options.png is not None and len(loaded) != 1:
        raise UserError(f"--png draws one layout, and there are {len(loaded)}; name one")
    if options.png is not None:
        check_picture_path(options.png)
    answers = answer_all(loaded, options.tick_cap)
    if options.png is not None:
        _draw(answers[0], options.png)
    if options.json:
        from factorio_rl.verify_answer import answer_to_json

        objects = [answer_to_json(found) for found in answers]
        single = len(loaded) == 1 and not loaded[0].in_list
        print(json.dumps(objects[0] if single else objects, allow_nan=False))
    else:
        from factorio_rl.verify_text import print_answer, print_rates

        if len(answers) == 1:
            print_answer(answers[0])
        else:
            print_rates(answers)
    return 0


def answer_all(loaded: list["Loaded"], cap: int | None) -> list["Answer"]:
    """What there is to say about each layout, in order, worked out on all cores."""

    def work() -> list["Answer"]:
        from envs.verifier import TICK_CAP
        from factorio_rl.verify_answer import answer

        compile_if_needed()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(lambda one: answer(one, cap or TICK_CAP), loaded))

    return in_background(work, "verifying")


def _draw(found: "Answer", path: Path) -> None:
    """Saves the heat map of use."""
    from envs.render_heat import render_heat_png
    from factorio_rl.verify_answer import rates_in_short, uses

    use, loads = uses(found)
    caption = rates_in_short(found.diagnosis.verified, found.unknown)
    picture = render_heat_png(
        found.loaded.layout, use, loads, title=found.loaded.name, caption=caption
    )
    save_picture(picture, path)
    print(f"wrote {path}", file=sys.stderr)
