"""Item counts of the verifier's engine beside those of the independent simulator `factory-sim`.

    python -m benchmarks.differential

Random layouts of belts, burner inserters, chests, sources and sinks run the same number of ticks in
both; compared are the items counted at every sink, for each item that either counts there. Needs
the test extra. Two rounds: with the peer's belt lines kept whole, as the rules know them (R10), and
parted near arms and sideloads as in the game, which changes the order of simultaneous events (R14).
In each, layouts without and with closed loops stand apart, since a loop of the peer has a seam and
a loop of the rules has none (R16). Prints every difference above 2 % with its layout, and writes
`docs/results/differential.json`.
"""

import argparse
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.results import command_line, processor_name, write_results
from envs.verifier.compile import compile_layout

# The peer is needed by tests only, so what drives it lies among them.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "envs" / "verifier"))

from peer_comparison import Pair, compare, larger_differences, layout_text, shares
from peer_layouts import random_layout

Row = dict[str, Any]


def has_loop(seed: int) -> bool:
    """Whether belts of a seed's layout run in a circle."""
    plan, _ = compile_layout(random_layout(seed))
    return bool(plan.chains["is_loop"].any())


def row(what: str, ticks: int, whole_lines: bool, **figures: Any) -> Row:
    """A row with every column: the shares of a set, or one difference; the rest holds None."""
    columns = "belts layouts pairs identical within_2_percent seed x y item ours theirs layout"
    return {
        "peer": f"factory-sim {version('factory-sim')}",
        "what": what,
        "ticks": ticks,
        "lines": "whole" if whole_lines else "parted",
        **dict.fromkeys(columns.split()),
    } | figures


def shares_of(pairs: list[Pair], seeds: list[int]) -> dict[str, Any]:
    """The figures of one set of layouts."""
    chosen = set(seeds)
    pairs = [pair for pair in pairs if pair.seed in chosen]
    identical, near = shares(pairs) if pairs else (None, None)
    return {
        "layouts": len(seeds),
        "pairs": len(pairs),
        "identical": identical,
        "within_2_percent": near,
    }


def difference(pair: Pair) -> dict[str, Any]:
    """The figures of one pair of counts, with the layout as JSON."""
    place = {"seed": pair.seed, "x": pair.x, "y": pair.y, "item": pair.item}
    return place | {"ours": pair.ours, "theirs": pair.peer, "layout": layout_text(pair.seed)}


def measure(layouts: int, ticks: int, whole_lines: bool) -> tuple[list[Row], list[Pair]]:
    """Rows for all layouts, those without and with loops, and differences; all pairs of counts."""
    seeds = list(range(layouts))
    looping = {seed for seed in seeds if has_loop(seed)}
    sets = {
        "any": seeds,
        "without loops": [seed for seed in seeds if seed not in looping],
        "with loops": [seed for seed in seeds if seed in looping],
    }
    pairs = compare(seeds, ticks, whole_lines)
    rows = [
        row("shares", ticks, whole_lines, belts=belts, **shares_of(pairs, chosen))
        for belts, chosen in sets.items()
    ]
    far = [pair for pair in pairs if not pair.near]
    rows += [row("difference", ticks, whole_lines, **difference(pair)) for pair in far]
    return rows, pairs


def print_table(rows: list[Row]) -> None:
    print(f"{'lines':8}{'belts':15}{'layouts':>8}{'pairs':>8}{'identical':>12}{'within 2 %':>12}")
    for entry in rows:
        if entry["pairs"]:
            print(
                f"{entry['lines']:8}{entry['belts']:15}{entry['layouts']:8}{entry['pairs']:8}"
                f"{entry['identical']:12.3%}{entry['within_2_percent']:12.3%}"
            )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Counts of the verifier beside a peer's.")
    parser.add_argument("--layouts", type=int, default=5_000)
    parser.add_argument("--ticks", type=int, default=12_000)
    options = parser.parse_args(arguments)
    rows = []
    for whole_lines in (True, False):
        found, pairs = measure(options.layouts, options.ticks, whole_lines)
        rows += found
        print(f"differences above 2 %, lines {found[0]['lines']}:\n{larger_differences(pairs)}")
    print(f"seeds from 0, {options.ticks} ticks each, on {processor_name()}")
    print_table(rows)
    command = command_line("differential", arguments)
    write_results("differential", rows, command)


if __name__ == "__main__":
    main(sys.argv[1:])
