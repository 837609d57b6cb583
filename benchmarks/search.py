"""Time of a search: this package's trees against stock mctx, and what of a whole move is search.

    python -m benchmarks.search            # the default grid, for a GPU: a few minutes
    python -m benchmarks.search --quick    # tiny and printed only, for a CPU: less than a minute
    python -m benchmarks.search --full     # all sizes

Flow: grid -> cells (`search_linear.py`: tree alone, `search_moves.py`: whole moves) -> rows, whose
columns `search_rows.py` explains -> tables and `docs/results/search.json`.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import jax

from benchmarks.results import command_line, write_results
from benchmarks.search_cell import Cell, measure
from benchmarks.search_linear import linear_cell
from benchmarks.search_moves import agent_cell, move_cell
from benchmarks.search_rows import Row, growth_of, table_of
from benchmarks.search_trees import OF_MCTX, TREES
from benchmarks.taking_turns import Pace
from factorio_rl.agent_file import SHIPPED_AGENT, Agent, read_agent_file

LARGEST_BATCH_OF_MCTX = 256
"""Above it mctx's trees are left out: they take gigabytes of memory, and seconds for a move."""

NETWORKS = ("64x6", "128x10")


class Size(NamedTuple):
    batch: int
    simulations: int


class Grid(NamedTuple):
    """Sizes of the tree alone and of whole moves, and the networks of the moves."""

    alone: Sequence[Size]
    networks: Sequence[str]
    moves: Sequence[Size]


DEFAULT = Grid(
    alone=[Size(128, 16), Size(128, 64), Size(128, 128)],
    networks=NETWORKS,
    moves=[Size(1024, 32), Size(256, 16)],
)
FULL = Grid(
    alone=[
        Size(batch, simulations)
        for batch in (128, 256, 1024)
        for simulations in (16, 32, 64, 128)
        if (batch, simulations) != (1024, 128)
    ],
    networks=NETWORKS,
    moves=[Size(batch, simulations) for batch in (256, 1024) for simulations in (16, 32, 64)],
)
QUICK = Grid(alone=[Size(4, 4), Size(4, 8)], networks=("8x1",), moves=[Size(2, 4)])

BUDGET_S = 1.5
QUICK_PACE = Pace(repeats=3, budget_s=0.2)


def main(arguments: Sequence[str]) -> None:
    """Measures what the command line asks for."""
    args = _parse(arguments)
    # A program out of a cache would be compiled in no time.
    jax.config.update("jax_enable_compilation_cache", False)
    grid = QUICK if args.quick else FULL if args.full else DEFAULT
    if args.sizes:
        grid = grid._replace(alone=args.sizes, moves=args.sizes)
    grid = grid._replace(networks=args.networks or grid.networks)
    pace = QUICK_PACE if args.quick else Pace(args.repeats, BUDGET_S)

    command = command_line("search", arguments)
    rows: list[Row] = []
    path = None
    agent = read_agent_file(args.agent) if args.agent else None
    for cell in cells(grid, args.trees, args.only, agent):
        measured = measure(cell, pace, [False, True] if args.xla_command_buffers else [False])
        rows += measured
        print(table_of(measured), flush=True)
        if args.out or _is_whole(args):
            path = write_results("search", rows, command, args.out)
    print(growth_of(rows), *[path] if path else [], sep="\n")


def _is_whole(args: argparse.Namespace) -> bool:
    """Whether all of a grid is measured, so that the rows may replace the project's."""
    is_part = args.quick or args.sizes or args.networks or args.only or args.agent
    return not is_part and list(args.trees) == list(TREES)


def cells(
    grid: Grid, trees: Sequence[str], only: str | None, agent: Agent | None
) -> Iterator[Cell]:
    """The cells of a grid, each made when it is its turn. Whole moves leave out the fix.

    With an agent only its own whole moves.
    """
    of_moves = [tree for tree in trees if tree != "fix"]
    if agent is not None:
        for size in grid.moves:
            yield agent_cell(agent, *size, _affordable(of_moves, size))
        return
    for size in grid.alone if only != "moves" else ():
        yield linear_cell(*size, _affordable(trees, size))
    for network in grid.networks if only != "tree" else ():
        for size in grid.moves:
            yield move_cell(network, *size, _affordable(of_moves, size))


def _affordable(trees: Sequence[str], size: Size) -> list[str]:
    return [tree for tree in trees if tree not in OF_MCTX or size.batch <= LARGEST_BATCH_OF_MCTX]


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time the search against stock mctx.")
    grids = parser.add_mutually_exclusive_group()
    grids.add_argument("--quick", action="store_true", help="a tiny grid, printed only")
    grids.add_argument("--full", action="store_true", help="all sizes")
    parser.add_argument("--only", choices=["tree", "moves"], help="tree alone, or whole moves")
    parser.add_argument("--trees", nargs="+", choices=TREES, default=TREES)
    parser.add_argument("--sizes", nargs="+", type=size, metavar="BxN", help="such as 128x64")
    parser.add_argument("--networks", nargs="+", type=network, metavar="CxB", help="such as 64x6")
    parser.add_argument(
        "--agent",
        type=Path,
        nargs="?",
        const=SHIPPED_AGENT,
        help="whole moves of a trained agent alone, from a file; default: the one installed",
    )
    parser.add_argument("--repeats", type=count, default=15, help="turns of each program at most")
    parser.add_argument(
        "--xla-command-buffers",
        action="store_true",
        help="measure every program once more, with its loops in CUDA graphs",
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="result file (default: docs/results/search.json for a whole grid, none for a part)",
    )
    args = parser.parse_args(arguments)
    if jax.default_backend() == "cpu" and not (args.quick or args.sizes):
        parser.error("the grids for a GPU take hours on this CPU; give --quick, or small --sizes")
    return args


def size(text: str) -> Size:
    batch, simulations = map(count, text.split("x"))
    return Size(batch, simulations)


def network(text: str) -> str:
    channels, blocks = map(count, text.split("x"))
    return f"{channels}x{blocks}"


def count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is below 1; give whole numbers from 1")
    return number


if __name__ == "__main__":
    main(sys.argv[1:])
