"""The compiled engine against the rules written out word by word, on random layouts."""

import pytest
from literal_rules import Literal
from verifier_layouts import Stepped, mutated_case, random_layout, random_rings

from envs.layout import Layout
from envs.verifier.compile import compile_layout
from envs.verifier.recurrence import Run, run
from envs.verifier.targets import targets

PHASES = ("RETURN", "WAITP", "CARRY", "WAITD")


def engine_key(layout: Layout, ticks: int) -> tuple:
    """The engine's state after some ticks, in the form of `Literal.key`."""
    stepped = Stepped(layout, ticks)
    plan, state = stepped.plan, stepped.state
    chains, arms = [], []
    for chain in state.chains:
        part = slice(chain["first"], chain["first"] + chain["count"])
        chains.append(tuple(zip(state.position[part], state.item[part], strict=True)))
    for info, arm in zip(plan.arms, state.arms, strict=True):
        chase = {0: None, 3: "gone"}.get(int(arm["chase"]))
        if arm["chase"] in (1, 2):
            spot = plan.lanes[info["from_lane"] + arm["chase"] - 1]
            chase = (int(arm["chase"]) - 1, state.position[arm["index"]] - spot["offset"])
        phase = PHASES[arm["phase"]]
        arms.append((arm["angle"], arm["length"], phase, arm["held"], chase))
    machines = [
        (machine["remaining"], machine["made"], tuple(stock[: info["needs"]]))
        for info, machine, stock in zip(plan.machines, state.machines, state.stock, strict=True)
    ]
    feeds = tuple(state.chains["feed"]), tuple(state.chains["drained"])
    return tuple(chains), *feeds, tuple(arms), tuple(machines)


def recurrence_by_hashing(literal: Literal, limit: int) -> tuple[int, int, dict] | None:
    """Least transient and period, and what was delivered in a period, from a table of states."""
    seen: dict[tuple, tuple[int, dict]] = {}
    for tick in range(limit):
        if tick > 0:
            key = literal.key()
            if key in seen:
                first, before = seen[key]
                after = literal.delivered
                counts = {k: after[k] - before.get(k, 0) for k in after}
                return first, tick - first, counts
            seen[key] = tick, dict(literal.delivered)
        literal.tick()
    return None


@pytest.mark.parametrize("make", [random_layout, mutated_case, random_rings])
def test_states_follow_the_rules_tick_by_tick(make):
    for seed in range(40):
        layout = make(seed)
        literal = Literal(compile_layout(layout)[0], targets())
        for tick in range(1, 241):
            literal.tick()
            if tick % 12 == 0 or tick < 4:
                assert engine_key(layout, tick) == literal.key(), f"seed {seed}, tick {tick}"


@pytest.mark.parametrize("make", [random_layout, mutated_case, random_rings])
def test_transient_period_and_counts_are_the_least_ones(make):
    checked = 0
    for seed in range(1000, 1030):
        layout = make(seed)
        plan, _ = compile_layout(layout)
        expected = recurrence_by_hashing(Literal(plan, targets()), 900)
        if expected is None:
            continue
        found = Run(*run(plan, targets(), 2000, True))
        counts = {(s, i): n for (s, i), n in expected[2].items() if n}
        places = zip(*found.counts.nonzero(), strict=True)
        nonzero = {(int(s), int(i)): int(found.counts[s, i]) for s, i in places}
        assert (found.transient, found.period, nonzero) == (*expected[:2], counts), f"seed {seed}"
        checked += 1
    assert checked > 18
