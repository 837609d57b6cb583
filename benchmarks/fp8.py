"""FP8 against bf16 on this device: network, residual blocks, whole moves, learner, errors.

    python -m benchmarks.fp8                      # the whole grid, for a GPU: about 20 minutes
    python -m benchmarks.fp8 --budget-s 540       # what of it begins within nine minutes
    python -m benchmarks.fp8 --resume FILE        # the cells that an earlier part lacks
    python -m benchmarks.fp8 --quick              # tiny and printed only, for a CPU: a minute

Most of the time goes into compiling, since XLA tries the algorithms of every FP8 convolution.

Flow: names of cells, the most telling first -> cells (`fp8_tower.py`, `fp8_convolution.py`,
`fp8_moves.py`, `fp8_learner.py`) -> rows, whose columns `fp8_rows.py` explains -> tables and
`docs/results/fp8.json`, written anew after each cell.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import jax
from jax.errors import JaxRuntimeError

from benchmarks.fp8_cell import Cell, CellName, measure
from benchmarks.fp8_convolution import convolution_cell
from benchmarks.fp8_learner import learner_cell
from benchmarks.fp8_moves import move_cell
from benchmarks.fp8_rows import table_of
from benchmarks.fp8_tower import network_cell, tower_cell
from benchmarks.results import command_line, device_name, package_versions, write_results
from benchmarks.search import Size, count, network, size
from benchmarks.search_rows import Row
from benchmarks.taking_turns import Pace

WHAT = ("convolution", "network", "tower", "move", "learner")

SMALL, LARGE = "64x6", "128x10"

DEFAULT = (
    CellName("convolution", SMALL, 8),
    CellName("convolution", LARGE, 8),
    CellName("network", SMALL, 1024),
    CellName("tower", SMALL, 1024),
    CellName("network", LARGE, 1024),
    CellName("tower", LARGE, 1024),
    CellName("move", SMALL, 1024, 32),
    CellName("move", SMALL, 512, 16),
    CellName("learner", SMALL, 512),
    *(CellName("tower", name, batch) for batch in (256, 4096) for name in (SMALL, LARGE)),
    *(CellName("network", name, batch) for batch in (256, 4096) for name in (SMALL, LARGE)),
    CellName("move", SMALL, 512, 32),
    CellName("move", SMALL, 1024, 16),
)
"""The most telling first, since time on a GPU may run out."""

BUDGET_S = 1.5
QUICK_PACE = Pace(repeats=3, budget_s=0.2)
QUICK = ("16x1", Size(4, 4))
QUICK_WHAT = ("convolution", "network", "tower", "move")
"""Without the learner, whose gradient a CPU's compiler takes half a minute for."""


def main(arguments: Sequence[str]) -> None:
    """Measures what the command line asks for."""
    began_s = time.monotonic()
    args = _parse(arguments)
    # A program out of a cache would be compiled in no time.
    jax.config.update("jax_enable_compilation_cache", False)
    rows = earlier_rows(args.resume) if args.resume else []
    names = [name for name in _names(args) if not any(map(name.is_of, rows))]
    left_out = {name: "not begun" for name in names}
    command, path = command_line("fp8", arguments), None
    for name in names:
        if time.monotonic() - began_s > args.budget_s:
            left_out[name] = f"the budget of {args.budget_s:g} s was used"
            continue
        try:
            measured = measure(name, make_cell(name), _pace(args))
        except JaxRuntimeError as error:
            left_out[name] = str(error).splitlines()[0]
            continue
        del left_out[name]
        rows += measured
        print(table_of(measured), flush=True)
        if args.out or _is_whole(args):
            path = write_results("fp8", rows, command, args.out, _lines(left_out))
    if path:
        write_results("fp8", rows, command, args.out, _lines(left_out))
    print(*(f"left out: {line}" for line in _lines(left_out)), *[path] if path else [], sep="\n")


def make_cell(name: CellName) -> Cell:
    """The functions and inputs of a cell."""
    if name.what == "move":
        assert name.simulations is not None
        return move_cell(name.network, name.batch, name.simulations)
    makers = {
        "convolution": convolution_cell,
        "network": network_cell,
        "tower": tower_cell,
        "learner": learner_cell,
    }
    return makers[name.what](name.network, name.batch)


def earlier_rows(path: Path) -> list[Row]:
    """The rows of a result file, which must be of this device and of these versions."""
    earlier = json.loads(path.read_text())
    here = {"device": device_name(), "versions": package_versions()}
    for name, value in here.items():
        if earlier[name] != value:
            sys.exit(f"{path} is of {name} {earlier[name]}, this is {value}; measure all anew")
    return earlier["rows"]


def _names(args: argparse.Namespace) -> list[CellName]:
    """The cells that are asked for: those of the grid, or all kinds at other sizes."""
    wanted = args.only or (QUICK_WHAT if args.quick else WHAT)
    if not (args.quick or args.sizes):
        networks = args.networks or (SMALL, LARGE)
        return [name for name in DEFAULT if name.what in wanted and name.network in networks]
    return [
        CellName(what, of_network, batch, simulations if what == "move" else None)
        for of_network in args.networks or [QUICK[0]]
        for batch, simulations in args.sizes or [QUICK[1]]
        for what in wanted
    ]


def _pace(args: argparse.Namespace) -> Pace:
    return QUICK_PACE if args.quick else Pace(args.repeats, BUDGET_S)


def _lines(left_out: dict[CellName, str]) -> list[str]:
    return [f"{name}: {why}" for name, why in left_out.items()]


def _is_whole(args: argparse.Namespace) -> bool:
    """Whether the whole grid is asked for, so that the rows may replace the project's."""
    return not (args.quick or args.sizes or args.networks or args.only)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time FP8 against bf16.")
    parser.add_argument("--quick", action="store_true", help="a tiny grid, printed only")
    parser.add_argument("--only", nargs="+", choices=WHAT, metavar="WHAT", help=", ".join(WHAT))
    parser.add_argument("--sizes", nargs="+", type=size, metavar="BxN", help="such as 1024x32")
    parser.add_argument("--networks", nargs="+", type=network, metavar="CxB", help="such as 64x6")
    parser.add_argument("--repeats", type=count, default=15, help="turns of each program at most")
    parser.add_argument(
        "--budget-s",
        type=float,
        default=float("inf"),
        help="cells that would begin after so many seconds are left out and named",
    )
    parser.add_argument(
        "--resume", type=Path, help="a result file whose rows are kept and not measured again"
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="result file (default: docs/results/fp8.json for a whole grid, none for a part)",
    )
    args = parser.parse_args(arguments)
    if jax.default_backend() == "cpu" and not (args.quick or args.sizes):
        parser.error("the grid for a GPU takes hours on this CPU; give --quick, or small --sizes")
    return args


if __name__ == "__main__":
    main(sys.argv[1:])
