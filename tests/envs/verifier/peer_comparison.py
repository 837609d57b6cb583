"""Item counts of the verifier's engine beside those of an independent simulator.

In: seeds of `peer_layouts.random_layout`. Out: both counts for every sink and item that either
counts, and how many agree.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from peer import Peer
from peer_layouts import random_layout
from verifier_layouts import delivered_after

from envs.layout_json import layout_to_json


@dataclass(frozen=True, slots=True)
class Pair:
    """Items of a name at a sink of the layout of a seed, after the same ticks."""

    seed: int
    x: int
    y: int
    item: str
    ours: int
    peer: int

    @property
    def identical(self) -> bool:
        return self.ours == self.peer

    @property
    def near(self) -> bool:
        """Whether the counts differ by at most 2 % of the larger one."""
        return 50 * abs(self.ours - self.peer) <= max(self.ours, self.peer)


def compare(seeds: Iterable[int], ticks: int, whole_lines: bool = True) -> list[Pair]:
    """Every pair of counts that is not 0 twice; `whole_lines` as in `peer`."""
    pairs = []
    for seed in seeds:
        layout = random_layout(seed)
        ours, peer = delivered_after(layout, ticks), Peer(layout, whole_lines).run(ticks)
        for x, y, item in sorted(ours.keys() | peer.keys()):
            counts = ours.get((x, y, item), 0), peer.get((x, y, item), 0)
            pairs.append(Pair(seed, x, y, item, *counts))
    return pairs


def shares(pairs: Sequence[Pair]) -> tuple[float, float]:
    """The shares of identical pairs and of pairs within 2 %."""
    near, identical = sum(pair.near for pair in pairs), sum(pair.identical for pair in pairs)
    return identical / len(pairs), near / len(pairs)


def layout_text(seed: int) -> str:
    """The layout of a seed as JSON on one line."""
    return json.dumps(layout_to_json(random_layout(seed)), separators=(",", ":"))


def larger_differences(pairs: Sequence[Pair]) -> str:
    """The pairs that differ by more than 2 %, each with its layout."""
    return "\n".join(
        f"seed {pair.seed}: {pair.item} at ({pair.x}, {pair.y}): ours {pair.ours}, "
        f"peer {pair.peer}\n  {layout_text(pair.seed)}"
        for pair in pairs
        if not pair.near
    )
