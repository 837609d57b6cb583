"""Rows of `docs/results/search.json`, and the tables that the search benchmark prints of them.

A row has every column, with None where there is no figure. The columns:

- `tree`: stock, fix, lean or kernel. `network`: channels x blocks, or none for the linear model.
  `policy`: how peaked the priors are. `batch`, `simulations`: B and N.
- `ms_per_move`: median time of one search of the whole batch. `us_per_simulation`: that over N.
  `moves_per_s`: B over that. `speedup_over_stock`: of the same cell.
- `compile_s`: tracing, lowering and compiling.
- `tree_bytes`: what the loop over simulations carries from one to the next, the embeddings apart:
  of stock and fix the six `[B, N + 1, A]` arrays of `mctx.Tree`, its arrays of nodes, and the mask
  and noise of the roots; of lean and kernel their own state, padding included.
- `temp_bytes`: all that XLA allocates for a run beside arguments and results, embeddings included.
- `deepest`: edges from a root to the deepest node of the batch.
- `same_actions`: share of the batch whose action is that of the first tree of the cell.
- `tree_ms`, `environment_ms`, `network_ms`: the split of a whole move. The network alone and the
  network with the environment run the same N + 1 evaluations in a loop without a tree; the rest
  is the tree, the storing of embeddings included. `tree_share`: tree / (tree + network).
- `loops_with_unknown_trip_count`: loops whose predicate the host reads on a GPU.
- `interpreted`: the kernel ran in the interpreter of Pallas, so that its time means nothing.
- `command_buffers`: compiled with loops in command buffers.
"""

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]

DIGITS = {
    "tree": None,
    "network": None,
    "policy": None,
    "batch": None,
    "simulations": None,
    "ms_per_move": 3,
    "compile_s": 2,
    "tree_bytes": None,
    "temp_bytes": None,
    "us_per_simulation": 1,
    "moves_per_s": 0,
    "deepest": None,
    "speedup_over_stock": 2,
    "same_actions": 3,
    "tree_ms": 3,
    "environment_ms": 3,
    "network_ms": 3,
    "tree_share": 4,
    "loops_with_unknown_trip_count": None,
    "interpreted": None,
    "command_buffers": None,
}
"""Columns and the digits that their figures are rounded to."""

_PRINTED = {
    "tree": "tree",
    "network": "network",
    "policy": "policy",
    "batch": "B",
    "simulations": "N",
    "ms_per_move": "ms/move",
    "speedup_over_stock": "x stock",
    "us_per_simulation": "us/sim",
    "deepest": "depth",
    "same_actions": "same",
    "compile_s": "comp s",
    "tree_bytes": "tree MB",
    "temp_bytes": "temp MB",
    "loops_with_unknown_trip_count": "loops",
}
_PRINTED_OF_MOVES = {
    "tree_ms": "tree ms",
    "environment_ms": "env ms",
    "network_ms": "net ms",
    "tree_share": "share",
    "moves_per_s": "moves/s",
}


def make_row(**figures: Any) -> Row:
    """A row of these figures, rounded."""
    assert not figures.keys() - DIGITS.keys()
    return {name: rounded(figures.get(name), digits) for name, digits in DIGITS.items()}


def table_of(rows: Sequence[Row]) -> str:
    """A table with a header; whole moves have the columns of their split."""
    of_moves = any(row["tree_ms"] is not None for row in rows)
    columns = {**_PRINTED, **(_PRINTED_OF_MOVES if of_moves else {})}
    lines = [list(columns.values())]
    lines += [[_shown(name, row[name]) for name in columns] for row in rows]
    marks = ["", *map(_marks, rows)]
    return "\n".join(map(str.__add__, aligned(lines), marks))


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table, whose columns end one below the other."""
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return ["  ".join(map(str.rjust, line, widths)) for line in lines]


def growth_of(rows: Sequence[Row]) -> str:
    """How the cost of a simulation grows with their number, line by line."""
    lines = []
    for row in rows:
        others = [other for other in rows if _same_but_simulations(row, other)]
        least = min(others, key=lambda other: other["simulations"])
        if row is not least:
            ratio = row["us_per_simulation"] / least["us_per_simulation"]
            lines.append(
                f"{row['tree']}, network {row['network']}, {row['policy']}, B={row['batch']}"
                f"{_marks(row)}: a simulation at N={row['simulations']} costs {ratio:.2f} times "
                f"that at N={least['simulations']}"
            )
    return "\n".join(lines)


def _same_but_simulations(row: Row, other: Row) -> bool:
    names = ("tree", "network", "policy", "batch", "command_buffers")
    return all(row[name] == other[name] for name in names)


def rounded(figure: Any, digits: int | None) -> Any:
    """A figure with so many digits after the point; None stays None, and any figure without."""
    if figure is None or digits is None:
        return figure
    return round(figure, digits) if digits else round(figure)


def _shown(name: str, figure: Any) -> str:
    if figure is None:
        return "-"
    if name.endswith("_bytes"):
        return f"{figure / 1e6:.2f}"
    if name == "tree_share":
        return f"{figure:.1%}"
    return f"{figure:.2f}" if isinstance(figure, float) else str(figure)


def _marks(row: Row) -> str:
    marks = [name for name in ("interpreted", "command_buffers") if row[name]]
    return f"  ({', '.join(marks).replace('_', ' ')})" if marks else ""
