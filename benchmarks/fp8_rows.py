"""Rows of `docs/results/fp8.json`, and the tables that the FP8 benchmark prints of them.

A row has every column, with None where there is no figure. The columns:

- `what`: network (a whole evaluation), tower (its residual blocks alone), move (search, environment
  and network of a whole self-play move), learner (one update), convolution (a single one).
- `network`: channels x blocks. `precision`: fp8, or bf16, the network as it is. `root_precision`:
  of a search's root. `qat`: whether the learner evaluates the network in FP8.
- `batch`, `simulations`: B and N.
- `ms`: median time of an evaluation, a move or an update of the whole batch. `spread`: range of the
  middle half of the turns, over the median. `ratio_to_bf16`: `ms` over that of the same cell in
  bf16, so that FP8 pays below 1.
- `relative_error`: RMS difference from a reference over the RMS of the reference. For network
  (policy logits) and tower (features) that is float32 with the same parameters; for a convolution
  it is float64 with the same operands, so that what is left is the device's own sums.
- `compile_s`: tracing, lowering and compiling. A process tunes each convolution once, so the first
  cell of a size pays for those after it.
- `fp8_convolutions`: cuDNN graphs of the compiled program; 0 on a CPU. An evaluation in FP8 has two
  for each block; if there are fewer, what was timed is not FP8.
"""

from collections.abc import Sequence
from typing import Any

from benchmarks.search_rows import Row, aligned, rounded

DIGITS = {
    "what": None,
    "network": None,
    "precision": None,
    "root_precision": None,
    "qat": None,
    "batch": None,
    "simulations": None,
    "ms": 4,
    "spread": 3,
    "ratio_to_bf16": 3,
    "relative_error": 9,
    "compile_s": 2,
    "fp8_convolutions": None,
}
"""Columns and the digits that their figures are rounded to."""

_PRINTED = {
    "what": "what",
    "network": "network",
    "precision": "trunk",
    "root_precision": "root",
    "qat": "qat",
    "batch": "B",
    "simulations": "N",
    "ms": "ms",
    "spread": "spread",
    "ratio_to_bf16": "x bf16",
    "relative_error": "error",
    "compile_s": "comp s",
    "fp8_convolutions": "fp8 convs",
}


def make_row(**figures: Any) -> Row:
    """A row of these figures, rounded."""
    assert not figures.keys() - DIGITS.keys()
    return {name: rounded(figures.get(name), digits) for name, digits in DIGITS.items()}


def table_of(rows: Sequence[Row]) -> str:
    """A table with a header."""
    lines = [list(_PRINTED.values())]
    lines += [[_shown(name, row[name]) for name in _PRINTED] for row in rows]
    return "\n".join(aligned(lines))


def _shown(name: str, figure: Any) -> str:
    if figure is None:
        return "-"
    if name == "relative_error":
        return f"{figure:.2g}"
    return f"{figure:.3f}" if isinstance(figure, float) else str(figure)
