"""The engine's whole state as plain tuples, to compare with other states and other simulators.

In: a layout and a number of ticks. Out: the state of R44, in the form of `Literal.key`.
"""

from verifier_layouts import Stepped

from envs.layout import Layout

PHASES = ("RETURN", "WAITP", "CARRY", "WAITD")


def engine_key(layout: Layout, ticks: int) -> tuple:
    """The engine's state after some ticks, in the form of `Literal.key`."""
    stepped = Stepped(layout, ticks)
    plan, state, names = stepped.plan, stepped.state, stepped.rows.items
    chains, arms = [], []
    for chain in state.chains:
        part = slice(chain["first"], chain["first"] + chain["count"])
        items = zip(state.position[part], state.item[part], strict=True)
        chains.append(tuple((int(at), names[item]) for at, item in items))
    for info, arm in zip(plan.arms, state.arms, strict=True):
        chase = {0: None, 3: "gone"}.get(int(arm["chase"]))
        if arm["chase"] in (1, 2):
            spot = plan.lanes[info["from_lane"] + arm["chase"] - 1]
            chase = (int(arm["chase"]) - 1, state.position[arm["index"]] - spot["offset"])
        held = names[arm["held"]] if arm["held"] >= 0 else None
        arms.append((arm["angle"], arm["length"], PHASES[arm["phase"]], held, chase))
    machines = [
        (machine["remaining"], machine["made"], tuple(stock[: info["needs"]]))
        for info, machine, stock in zip(plan.machines, state.machines, state.stock, strict=True)
    ]
    feeds = tuple(state.chains["feed"]), tuple(state.chains["drained"])
    return tuple(chains), *feeds, tuple(arms), tuple(machines)
