"""What limits a layout's output, and which single change lifts it. Jax-free.

A change counts only once the changed layout has been simulated to its own exact rate. Without a
change that helps, the sentence says what stands in the way as far as it can be seen.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice

import numpy as np

from envs.layout import SINK_KINDS, Layout
from envs.verifier.changes import Change, propose_changes
from envs.verifier.compile import compile_layout
from envs.verifier.cures import propose_cures
from envs.verifier.diagnosis import Diagnosis
from envs.verifier.encode import Rows
from envs.verifier.limits import explain
from envs.verifier.records import NONE, Plan
from envs.verifier.recurrence import Run, SinkRun, run, run_sink
from envs.verifier.report import SinkRate, exact_rate, verified
from envs.verifier.targets import targets

MAX_CHANGES = 120
"""Most changes that are tried."""

MAX_CURES = 600
"""Most changes that are tried beyond those at an output that delivers nothing."""

WORK_BUDGET = 400_000_000
"""Most ticks times moving entities that trying changes may simulate: a few seconds."""

COMPILE_WORK = 200
"""What compiling a layout costs per entity, in the same unit."""


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What limits the output.

    Attributes:
        sentence: for people.
        x, y, item: the output that it is about; None for a layout without one.
        rate: its items per second.
        change: in words, None if no single change that was tried helps.
        change_x, change_y: the tile that it changes.
        lifted_rate: exact items per second of the changed layout.
        changes_tried: changed layouts that were simulated.
    """

    sentence: str
    x: int | None = None
    y: int | None = None
    item: str | None = None
    rate: Fraction | None = None
    change: str | None = None
    change_x: int | None = None
    change_y: int | None = None
    lifted_rate: Fraction | None = None
    changes_tried: int = 0


def find_bottleneck(
    layout: Layout,
    diagnosis: Diagnosis,
    tick_cap: int,
    unknown: Container[tuple[int, int]] = frozenset(),
) -> Bottleneck:
    """The bottleneck of the scored output with the lowest rate, of equals the first one.

    If that one gets nothing and no change helps it, while others deliver the same item, it is that
    of the others. Outputs at `unknown` tiles are left out.
    """
    scored = [rate for rate in diagnosis.verified.rates if _is_scored(layout, rate)]
    if not scored:
        return Bottleneck("the layout has no output with an item to count")
    scored = [rate for rate in scored if (rate.x, rate.y) not in unknown]
    if not scored:
        return Bottleneck("no output has a known rate, so nothing can be said of what limits it")
    moving = [rate for rate in scored if rate.lower != rate.upper]
    if moving:
        where = ", ".join(f"{rate.item} at ({rate.x}, {rate.y})" for rate in moving[:3])
        return Bottleneck(
            f"no exact rate was found for {where} within {diagnosis.verified.ticks:,} ticks, so "
            "nothing certain can be said of what limits it"
        )
    found = [
        _bottleneck_of(layout, diagnosis, output, scored, tick_cap) for output in _weakest(scored)
    ]
    return next((one for one in found if one.change is not None), found[-1])


def _bottleneck_of(
    layout: Layout,
    diagnosis: Diagnosis,
    output: SinkRate,
    scored: Sequence[SinkRate],
    tick_cap: int,
) -> Bottleneck:
    """The bottleneck of one of the scored outputs."""
    same_item = [one for one in scored if one.item == output.item and one != output]
    siblings = same_item if output.rate == 0 else []
    best, rate, tried = _best_change(layout, diagnosis, output, siblings, tick_cap)
    limit = explain(layout, diagnosis, output)
    name = f"{output.item} at ({output.x}, {output.y})"
    if best is None:
        verb = "delivers nothing" if output.rate == 0 else "is limited"
        sentence = f"{name} {verb}: {limit}; {_NO_CHANGE.get(tried, _NO_CHANGES).format(tried)}"
        return Bottleneck(
            sentence, output.x, output.y, output.item, output.rate, changes_tried=tried
        )
    cause = f"{best.subject}{_how_busy(diagnosis, best)}"
    verb = "delivers nothing because of" if output.rate == 0 else "is limited by"
    losses = _losses(best.layout, [one for one in scored if one != output], tick_cap)
    sentence = (
        f"{name} {verb} the {cause}; {best.words} lifts it from {output.rate} to {rate} items/s"
        f"{losses}"
    )
    return Bottleneck(
        sentence,
        output.x,
        output.y,
        output.item,
        output.rate,
        best.words,
        best.x,
        best.y,
        rate,
        tried,
    )


_NO_CHANGE = {
    0: "no single change known lifts it",
    1: "the single change tried does not lift it",
}
_NO_CHANGES = "none of the {} single changes tried lifts it"
"""Ends of a sentence by number of changes tried, and for any other number."""


def _weakest(scored: Sequence[SinkRate]) -> list[SinkRate]:
    """The output with the lowest rate; behind one that gets nothing, the next with its item."""
    ordered = sorted(scored, key=lambda rate: (rate.rate, rate.y, rate.x))
    first = ordered[0]
    others = [rate for rate in ordered if rate.rate > 0 and rate.item == first.item]
    return [first, *others[:1]] if first.rate == 0 else [first]


def _is_scored(layout: Layout, rate: SinkRate) -> bool:
    """Whether a rate is that of the item which its sink counts, or of any if it names none."""
    return any(
        (entity.x, entity.y) == (rate.x, rate.y) and entity.item in (None, rate.item)
        for entity in layout.entities
        if entity.kind in SINK_KINDS
    )


def output_rate(layout: Layout, output: SinkRate, tick_cap: int) -> tuple[Fraction | None, int]:
    """Exact items per second of one sink's item, None if not exact; and the work it took."""
    plan, rows = compile_layout(layout)
    sink, item = _sink_number(rows, output), rows.items.index(output.item)
    result = SinkRun(*run_sink(plan, targets(), tick_cap, sink, item))
    work = int(result.ticks.sum()) * (len(plan.arms) + len(plan.machines) + len(plan.chains))
    work += COMPILE_WORK * len(layout.entities)
    return exact_rate(result), work


def _sink_number(rows: Rows, output: SinkRate) -> int:
    """The number that the compiled layout gives an output."""
    return [(one.x, one.y) for one in rows.sinks].index((output.x, output.y))


def tiles_with_a_say(layout: Layout, output: SinkRate) -> set[tuple[int, int]]:
    """Tiles of the inserters, machines and sources in the parts that reach a sink."""
    plan, rows = compile_layout(layout)
    places = np.flatnonzero(plan.sinks == _sink_number(rows, output))
    parts = np.searchsorted(plan.parts["sinks"], places, side="right")
    tiles = {tile for part in parts for tile in _tiles_of_part(plan, int(part))}
    return {(tile % layout.width, tile // layout.width) for tile in tiles}


def _tiles_of_part(plan: Plan, part: int) -> list[int]:
    """Tile numbers of the inserters, machines and sources of one part."""

    def own(kind: str) -> slice:
        return slice(int(plan.parts[kind][part - 1]) if part else 0, int(plan.parts[kind][part]))

    chains = plan.chains[own("chains")]
    sources = chains["source_lane"][chains["source_item"] != NONE] // 2
    arms, machines = plan.arms[own("arms")], plan.machines[own("machines")]
    return [int(tile) for tile in (*arms["tile"], *machines["tile"], *sources)]


def _best_change(
    layout: Layout,
    diagnosis: Diagnosis,
    output: SinkRate,
    siblings: Sequence[SinkRate],
    tick_cap: int,
) -> tuple[Change | None, Fraction | None, int]:
    """The change that lifts the output most, its rate, and how many were tried.

    A change that only moves the item here from `siblings`, its other outputs, does not count.
    """
    best, best_rate, tried, work = None, output.upper, 0, 0
    total = output.rate + sum(one.rate for one in siblings)
    upstream = tiles_with_a_say(layout, output)
    changes = islice(propose_changes(layout, diagnosis, upstream), MAX_CHANGES)
    cures = islice(propose_cures(layout, output), MAX_CURES if output.rate == 0 else 0)
    for change in chain(changes, cures):
        if work > WORK_BUDGET:
            break
        left = max(1, (WORK_BUDGET - work) // len(layout.entities))
        rate, cost = output_rate(change.layout, output, min(tick_cap, left))
        tried, work = tried + 1, work + cost
        if rate is None or rate <= best_rate:
            continue
        others = [output_rate(change.layout, one, tick_cap) for one in siblings]
        work += sum(cost for _, cost in others)
        if rate + sum(other or 0 for other, _ in others) > total:
            best, best_rate = change, rate
    return best, best_rate, tried


def _losses(changed: Layout, others: list[SinkRate], tick_cap: int) -> str:
    """What a change takes from the other outputs, in words."""
    if not others:
        return ""
    plan, rows = compile_layout(changed)
    cap = min(tick_cap, max(1, WORK_BUDGET // len(changed.entities)))
    rates = verified(rows, plan, Run(*run(plan, targets(), cap))).rates
    now = {(one.x, one.y, one.item): one for one in rates}
    lowered = []
    for other in others:
        place = f"{other.item} at ({other.x}, {other.y}) from {other.rate}"
        rate = now.get((other.x, other.y, other.item))
        if rate is None:
            lowered.append(f"{place} to 0")
        elif rate.upper < other.lower:
            lowered.append(f"{place} to {rate.rate}")
    return f", but brings {' and '.join(lowered)} items/s" if lowered else ""


def _how_busy(diagnosis: Diagnosis, change: Change) -> str:
    """The share of time that the subject of a change is busy, where it has one."""
    for one in (*diagnosis.inserters, *diagnosis.machines):
        if change.subject == f"{one.prototype} at ({one.x}, {one.y})":
            return f", busy {percent(one.use)} of the time"
    return ""


def percent(share: Fraction) -> str:
    """A share as a percentage that says 0 % only of nothing and 100 % only of the whole."""
    rounded = f"{float(100 * share):.0f}"
    if share not in (0, 1):
        rounded = {"0": "under 1", "100": "over 99"}.get(rounded, rounded)
    return f"{rounded} %"
