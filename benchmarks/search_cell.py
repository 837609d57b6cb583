"""One cell of the search benchmark: a batch size and a budget, all trees in one process.

In: the searches, and the inputs of each policy. Every program is compiled first, then they take
turns. Out: rows of the result file, one for each tree and policy.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.errors import JaxRuntimeError

from benchmarks.search_program import Program, build
from benchmarks.search_rows import Row, make_row
from benchmarks.search_trees import Found
from benchmarks.taking_turns import Pace, take_turns

NETWORK = "network"
NETWORK_AND_ENVIRONMENT = "network and environment"

Inputs = Any
"""A pytree of arrays: all that a program of a cell depends on beside its key."""


@dataclass(frozen=True)
class Cell:
    """What is measured.

    Attributes:
        network: its name in the rows.
        batch, simulations: B and N.
        searches: by tree, functions (key, inputs) -> Found.
        inputs: by policy.
        embedding_bytes: of one node's embedding, for the whole batch.
        loops: by name, functions (key, inputs) -> anything: the evaluations of a whole move
            without a search.
    """

    network: str
    batch: int
    simulations: int
    searches: Mapping[str, Callable[[jax.Array, Inputs], Found]]
    inputs: Mapping[str, Inputs]
    embedding_bytes: int
    loops: Mapping[str, Callable[[jax.Array, Inputs], Any]] = field(default_factory=dict)


class _Work(NamedTuple):
    """Names a program with the inputs of a policy."""

    name: str  # of a tree or a loop
    policy: str
    command_buffers: bool


class _Ready(NamedTuple):
    """A work that has run once; `result` is what it found with the first key."""

    program: Program
    run: Callable[[jax.Array], Any]
    result: Any


def measure(cell: Cell, pace: Pace, command_buffers: Sequence[bool]) -> list[Row]:
    """Rows of the cell; programs are compiled without and with command buffers as asked.

    A program that fails, for want of memory say, is left out with a word on why.
    """
    ready = dict(_make_ready(cell, command_buffers))
    times = take_turns({work: one.run for work, one in ready.items()}, pace)
    searches = [work for work in ready if work.name in cell.searches]
    rows = []
    for work in searches:
        reference = next(other for other in searches if other.policy == work.policy)
        same = ready[work].result.action == ready[reference].result.action
        rows.append(_row(cell, work, ready[work], times, float(np.mean(same))))
    return rows


def deepest(parents: np.ndarray) -> int:
    """Edges from a root to the deepest node; `parents` is `[B, N + 1]`, with -1 for none."""
    depth = np.zeros_like(parents)
    for node in range(1, parents.shape[1]):
        above = np.take_along_axis(depth, parents[:, node, None], axis=1)[:, 0]
        depth[:, node] = np.where(parents[:, node] < 0, 0, above + 1)
    return int(depth.max())


def _make_ready(cell: Cell, command_buffers: Sequence[bool]) -> Iterator[tuple[_Work, _Ready]]:
    policies = list(cell.inputs)
    for buffered in command_buffers:
        for name, function in {**cell.loops, **cell.searches}.items():
            try:
                yield from _run_first(cell, name, function, buffered, policies)
            except JaxRuntimeError as error:
                where = f"{name}, network {cell.network}, B={cell.batch}, N={cell.simulations}"
                print(f"{where}: left out, {str(error).splitlines()[0]}", flush=True)


def _run_first(
    cell: Cell, name: str, function: Callable[..., Any], buffered: bool, policies: Sequence[str]
) -> Iterator[tuple[_Work, _Ready]]:
    key = jax.random.key(0)
    program = build(function, (key, cell.inputs[policies[0]]), buffered)
    if name == "kernel" and program.pallas_calls == 0:
        print("kernel: left out, since this device runs the lean tree in its place", flush=True)
        return
    # A loop does the same work under every policy.
    for policy in policies if name in cell.searches else policies[:1]:
        run = partial(_call, program, cell.inputs[policy])
        yield _Work(name, policy, buffered), _Ready(program, run, jax.device_get(run(key)))


def _call(program: Program, inputs: Inputs, key: jax.Array) -> Any:
    return program.run(key, inputs)


def split_of(move_ms: float, both_ms: float, network_ms: float) -> dict[str, float]:
    """A whole move in its parts, from it, the network with the environment, and the network."""
    tree_ms = move_ms - both_ms
    return {
        "tree_ms": tree_ms,
        "environment_ms": both_ms - network_ms,
        "network_ms": network_ms,
        "tree_share": tree_ms / (tree_ms + network_ms),
    }


def _row(
    cell: Cell, work: _Work, ready: _Ready, times: Mapping[_Work, float], same_actions: float
) -> Row:
    def time_of(name: str, policy: str, buffered: bool) -> float | None:
        return times.get(_Work(name, policy, buffered))

    first_policy = next(iter(cell.inputs))
    program, ms = ready.program, times[work]
    stock_ms = time_of("stock", work.policy, False)
    network_ms = time_of(NETWORK, first_policy, work.command_buffers)
    both_ms = time_of(NETWORK_AND_ENVIRONMENT, first_policy, work.command_buffers)
    split = {} if network_ms is None or both_ms is None else split_of(ms, both_ms, network_ms)
    return make_row(
        tree=work.name,
        network=cell.network,
        policy=work.policy,
        batch=cell.batch,
        simulations=cell.simulations,
        ms_per_move=ms,
        compile_s=program.compile_s,
        tree_bytes=program.carried_bytes - cell.embedding_bytes * (cell.simulations + 1),
        temp_bytes=program.temp_bytes,
        us_per_simulation=1e3 * ms / cell.simulations,
        moves_per_s=1e3 * cell.batch / ms,
        deepest=deepest(ready.result.parents),
        speedup_over_stock=None if stock_ms is None else stock_ms / ms,
        same_actions=same_actions,
        loops_with_unknown_trip_count=program.unknown_trip_counts,
        interpreted=work.name == "kernel" and jax.default_backend() == "cpu",
        command_buffers=work.command_buffers,
        **split,
    )
