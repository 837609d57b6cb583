"""Replays a finished float32 search in float64, and judges every decision that it took.

In: the record of one row of a search: its tree and its results. Out: the walks of its simulations,
the near ties that it settled otherwise than float64 would, and its faults. The record says which
edge each simulation added, and so which way it went. A simulation that a depth limit stopped at a
known node leaves no such trace; there the replay follows float64, and where that is a near tie it
tries the other ways too, until the visits agree with the record's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.literal_search import (
    Floats,
    Node,
    back_up,
    considered_visits,
    mask_illegal,
    softmax,
    statistics,
)
from benchmarks.near_tie import (
    FINAL,
    ROUNDINGS,
    UNIT,
    Choice,
    Scores,
    judge,
    near_best,
    policy_bounds,
    score_interior,
    score_root,
)
from factorio_rl.search import SearchSettings

MAX_REPLAYS = 64


class Task(NamedTuple):
    """What one search was given: `legal` `[A]` at its root, and its Gumbel noise `[A]`."""

    settings: SearchSettings
    legal: NDArray[np.bool_]
    gumbel: Floats


class Record(NamedTuple):
    """What one search left: a row of `SearchOutput` and of its `SearchTree`, with their names."""

    action: int
    action_weights: NDArray[np.float32]
    root_value: float
    visits: NDArray[np.int32]
    values: NDArray[np.float32]
    raw_values: NDArray[np.float32]
    rewards: NDArray[np.float32]
    discounts: NDArray[np.float32]
    parents: NDArray[np.int32]
    actions: NDArray[np.int32]
    prior_logits: NDArray[np.float32]


class Replay(NamedTuple):
    """What float64 says about a search.

    `walks`: the actions of each simulation, as far as the replay came; `action`: the one to play.
    `dissents`: the decisions against float64, near ties and wrong ones.
    `faults`: what rounding does not explain, in words.
    `weight_error`: the largest error of an action weight; None if the replay came not so far.
    """

    walks: list[tuple[int, ...]]
    action: int
    dissents: list[Choice]
    faults: list[str]
    weight_error: float | None


class ReplayError(Exception):
    """The record contradicts the rules of the search."""


@dataclass
class _Progress:
    """`guesses` are the ways to take where the record is silent, `options` how many there were."""

    guesses: tuple[int, ...]
    nodes: dict[int, Node]
    walks: list[tuple[int, ...]] = field(default_factory=list)
    dissents: list[Choice] = field(default_factory=list)
    options: list[int] = field(default_factory=list)

    def note(self, choice: Choice) -> None:
        if choice.gap > 0 or choice.is_wrong:
            self.dissents.append(choice)
        if choice.is_wrong:
            raise ReplayError(str(choice))


def replay(task: Task, record: Record) -> Replay:
    """Judges a search. Of several ways that the record allows, the first without faults counts."""
    first, guesses = None, ()
    for _ in range(MAX_REPLAYS):
        result, options = _replay_once(task, record, guesses)
        first = first or result
        following = _next_guesses(guesses, options)
        if not result.faults:
            return result
        if following is None:
            break
        guesses = following
    assert first is not None
    return first


def _next_guesses(guesses: tuple[int, ...], options: list[int]) -> tuple[int, ...] | None:
    """Counts up, the last decision fastest; None after the last combination."""
    padded = [*guesses, *[0] * (len(options) - len(guesses))]
    for place in reversed(range(len(options))):
        if padded[place] + 1 < options[place]:
            return (*padded[:place], padded[place] + 1)
    return None


def _replay_once(task: Task, record: Record, guesses: tuple[int, ...]) -> tuple[Replay, list[int]]:
    progress = _Progress(guesses, nodes={0: _node(record, 0)})
    num_considered = min(task.settings.max_num_considered_actions, int(task.legal.sum()))
    schedule = considered_visits(num_considered, task.settings.num_simulations)
    faults, weight_error = [], None
    try:
        for simulation, considered in enumerate(schedule, start=1):
            _simulate(task, record, progress, simulation, considered)
        weights = _conclude(task, record, progress)
        weight_error = float(np.abs(weights - record.action_weights).max())
        faults = list(_differences(task, record, progress, weights))
    except ReplayError as fault:
        faults = [str(fault)]
    result = Replay(progress.walks, record.action, progress.dissents, faults, weight_error)
    return result, progress.options


def _simulate(
    task: Task, record: Record, progress: _Progress, simulation: int, considered: int
) -> None:
    """One walk down, one evaluation and one backup."""
    recorded = _recorded_walk(record, simulation)
    path, walk = [progress.nodes[0]], []
    progress.walks.append(())
    while True:
        scores = _scores(task, path[-1], considered if len(path) == 1 else None)
        if recorded is None:
            action = _guess(scores, path[-1], progress, simulation)
        elif len(walk) < len(recorded):
            action = recorded[len(walk)]
        else:
            raise ReplayError(f"node {simulation} has an edge that has a node already")
        choice = judge(scores, action, simulation, depth=len(walk))
        walk.append(action)
        progress.walks[-1] = tuple(walk)
        progress.note(choice)
        child = path[-1].children.get(action)
        if child is None or len(walk) == task.settings.depth_limit:
            break
        path.append(child)
    path.append(_evaluated(record, progress, simulation, path[-1], walk[-1]))
    back_up(path)


def _evaluated(
    record: Record, progress: _Progress, simulation: int, parent: Node, action: int
) -> Node:
    """The node at the end of a walk: a new one, or one at the depth limit that starts anew."""
    if action not in parent.children:
        node = progress.nodes[simulation] = _node(record, simulation)
        parent.children[action] = node
    else:
        node = parent.children[action]
        node.visits, node.value = node.visits + 1, node.raw_value
    return node


def _scores(task: Task, node: Node, considered: int | None) -> Scores:
    known = statistics(node, task.settings)
    if considered is None:
        return score_interior(known)
    return score_root(known, task.gumbel, task.legal, considered)


def _recorded_walk(record: Record, simulation: int) -> tuple[int, ...] | None:
    """The actions from the root to the node of this number, if there is one."""
    if record.visits[simulation] == 0:
        return None
    walk, node = [], simulation
    while node != 0:
        parent, action = int(record.parents[node]), int(record.actions[node])
        is_known = 0 <= parent < node and record.visits[parent] > 0
        if not is_known or not 0 <= action < len(record.action_weights):
            raise ReplayError(f"node {node} hangs from node {parent} by action {action}")
        walk.append(action)
        node = parent
    return tuple(reversed(walk))


def _guess(scores: Scores, node: Node, progress: _Progress, simulation: int) -> int:
    """The action of a simulation that added no node: it leads to a node that exists."""
    candidates = [action for action in near_best(scores) if action in node.children]
    if not candidates:
        raise ReplayError(f"simulation {simulation} added no node, but float64 would add one")
    if len(candidates) == 1:
        return candidates[0]
    place = len(progress.options)
    progress.options.append(len(candidates))
    return candidates[progress.guesses[place] if place < len(progress.guesses) else 0]


def _node(record: Record, index: int) -> Node:
    value = float(record.raw_values[index])
    return Node(
        index=index,
        reward=float(record.rewards[index]),
        discount=float(record.discounts[index]),
        raw_value=value,
        prior_logits=record.prior_logits[index].astype(np.float64),
        value=value,
    )


def _conclude(task: Task, record: Record, progress: _Progress) -> Floats:
    """Judges the action to play, and gives the improved policy as the search should return it."""
    root = progress.nodes[0]
    known = statistics(root, task.settings)
    scores = score_root(known, task.gumbel, task.legal, int(known.visits.max()))
    progress.note(judge(scores, record.action, FINAL, depth=0))
    return softmax(mask_illegal(known.logits, task.legal))


def _differences(task: Task, record: Record, progress: _Progress, weights: Floats) -> Iterator[str]:
    """What the record says otherwise than the replay, after the same decisions."""
    visits, values = np.zeros((2, len(record.visits)))
    for index, node in progress.nodes.items():
        visits[index], values[index] = node.visits, node.value
    for index in np.flatnonzero(visits != record.visits):
        yield f"node {index} has {record.visits[index]} visits, not {visits[index]:.0f}"

    exists = visits > 0
    seen = np.stack([record.raw_values, record.values, record.rewards])[:, exists]
    largest = np.abs(seen).max()
    bound = ROUNDINGS * UNIT * largest * np.sqrt(visits)
    for index in np.flatnonzero(exists & ~(np.abs(values - record.values) <= bound)):
        yield f"node {index} has value {record.values[index]}, not {values[index]}"

    root = progress.nodes[0]
    if not abs(root.value - record.root_value) <= bound[0]:
        yield f"the root has value {record.root_value}, not {root.value}"
    bound = policy_bounds(statistics(root, task.settings))
    for action in np.flatnonzero(~(np.abs(weights - record.action_weights) <= bound)):
        yield f"action {action} has weight {record.action_weights[action]}, not {weights[action]}"
