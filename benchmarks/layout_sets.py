"""The sets of layouts that the verifier is timed on, with the rates that are known for them.

Flow: committed test data, the held-out set and a seeded generator -> `LayoutSet`. The public
files hold rates from an independent implementation of the rules; the held-out set holds each
reference's rate as the task's target.
"""

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from benchmarks.random_layouts import random_layout
from envs.heldout import load_heldout
from envs.layout import SINK_KINDS, Layout
from envs.layout_json import layout_from_json
from envs.task_spec import layout_of

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"

RANDOM_COUNT = 200

SinkItem = tuple[int, int, str]
"""x, y of a sink and the item that arrives there."""

Rates = dict[SinkItem, Fraction]
"""Items per second."""


@dataclass(frozen=True, slots=True)
class LayoutSet:
    """Layouts under a name.

    Attributes:
        name: as the table and the result file show it.
        layouts: the layouts.
        expected: known rates of each layout, or None where none are known.
    """

    name: str
    layouts: tuple[Layout, ...]
    expected: tuple[Rates, ...] | None


def from_file(name: str, file: str) -> LayoutSet:
    """A public file of layouts with their rates."""
    entries = json.loads((DATA / file).read_text())
    expected = tuple(
        {(sink["x"], sink["y"], sink["item"]): Fraction(sink["rate"]) for sink in entry["expect"]}
        for entry in entries
    )
    return LayoutSet(name, tuple(layout_from_json(entry) for entry in entries), expected)


def solved() -> LayoutSet:
    """The references that the task generator made for the held-out set."""
    tasks = load_heldout("heldout-v1").tasks
    layouts = tuple(layout_of(task.spec, task.placements) for task in tasks)
    expected = tuple(
        {(spec.sink.x, spec.sink.y, spec.target_item): spec.target_rate}
        for spec in (task.spec for task in tasks)
    )
    return LayoutSet("solved", layouts, expected)


def random_set(count: int = RANDOM_COUNT) -> LayoutSet:
    """Random layouts of the seeds from 0 on."""
    return LayoutSet("random", tuple(random_layout(seed) for seed in range(count)), None)


def all_sets() -> list[LayoutSet]:
    """Every set, the one that speed is stated on first."""
    return [
        from_file("public", "layouts_public.json"),
        from_file("reference cases", "cases_public.json"),
        solved(),
        random_set(),
    ]


def is_scorable(layout: Layout) -> bool:
    """Whether a task could score the layout: it has one sink, with an item."""
    sinks = [entity for entity in layout.entities if entity.kind in SINK_KINDS]
    return len(sinks) == 1 and sinks[0].item is not None
