"""What is wrong with a user's task: everything at once, each with what to do about it. Jax-free.

In: a task. Out: messages. What makes the task impossible, or more than the environment can hold,
is a problem; what only looks like a slip begins with `warning:`. Whether a task without problems
has a solution is not known: `task_room` and `task_bound` give bounds only.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction

from envs.catalogue import MACHINE_SIZE
from envs.labels import rate_text
from envs.task_bound import Demand, demand_of, fits, highest_rate, lanes_with, least_need
from envs.task_checks import WARNING, chain, lanes_of, name_of, naming, numbers, placing, sources_of
from envs.task_room import LANE_ITEMS_PER_S, Room, inlets, most_apart, outlets, room_of
from envs.task_spec import Port, TaskSpec


def problems(spec: TaskSpec) -> list[str]:
    """What is wrong with a task, worst first; empty where nothing is known to be."""
    placed, named = list(placing(spec)), list(naming(spec))
    found = [*placed, *named, *numbers(spec)]
    if not named:
        found += chain(spec)
    can_flow = not errors_of(found)
    if not errors_of(placed):
        room = room_of(spec)
        demand = demand_of(spec) if can_flow else None
        found += _access(spec, room, demand)
        if demand is not None and not errors_of(found):
            found += _amounts(spec, room, demand)
    return [*errors_of(found), *(entry for entry in found if entry.startswith(WARNING))]


def bound_of(spec: TaskSpec) -> Fraction | None:
    """Items per second that no layout of a task exceeds; None where something else is wrong.

    The task's own target rate is not looked at.
    """
    if errors_of([*placing(spec), *naming(spec)]) or errors_of(chain(spec)):
        return None
    return highest_rate(spec, room_of(spec), demand_of(spec)) or None


def errors_of(found: Iterable[str]) -> list[str]:
    """The messages that are no warnings."""
    return [entry for entry in found if not entry.startswith(WARNING)]


def _access(spec: TaskSpec, room: Room, demand: Demand | None) -> Iterator[str]:
    """Whether items can get from sources by a machine to the sink."""
    sink = name_of(spec.sink)
    if not inlets(spec, room):
        yield (
            f"nothing can reach the {sink}: no cell behind or beside it is free; move it, turn it "
            "or free a cell"
        )
        return
    useless = {port: _why_useless(spec, room, port) for port in sources_of(spec)}
    usable = {item for port, why in useless.items() if not why for item in lanes_of(port)}
    needed = set(demand.supplied) if demand else set().union(*map(lanes_of, useless))
    for port, why in useless.items():
        if why:
            mark = "" if needed & {*lanes_of(port)} - usable else WARNING
            yield f"{mark}{why}; move it, turn it or free cells"
        elif port.front == (spec.sink.x, spec.sink.y):
            yield f"{WARNING}the {name_of(port)} flows straight into the {sink}; turn one of them"
        elif port.front not in room.free:
            yield (
                f"{WARNING}the {name_of(port)} flows against {_standing(spec, *port.front)}: only "
                "inserters beside it can take from it"
            )
    wanted = len(demand.crafts) if demand else 1
    places = most_apart(room.sites, wanted)
    if places < wanted:
        yield (
            f"machines find {places} places on a way to the sink ({MACHINE_SIZE}x{MACHINE_SIZE} "
            f"free cells and two more beside them for inserters) and need {wanted} or more; block "
            "fewer cells, move ports or enlarge the grid"
        )


def _why_useless(spec: TaskSpec, room: Room, source: Port) -> str:
    """Why nothing from a source can get to the sink; empty where something can."""
    ways = outlets(spec, room, source)
    if not ways:
        return (
            f"nothing can take items from the {name_of(source)}: it flows against "
            f"{_standing(spec, *source.front)}, and no inserter has room beside it"
        )
    ends = {*room.joined, (spec.sink.x, spec.sink.y)}
    if not ends.intersection(ways):
        return f"no way leads from the {name_of(source)} to the {name_of(spec.sink)}"
    return ""


def _amounts(spec: TaskSpec, room: Room, demand: Demand) -> Iterator[str]:
    """Whether the target rate and the placement limit are within bounds."""
    rate = spec.target_rate
    for item, amount in demand.supplied.items():
        lanes = lanes_with(spec, item)
        if item not in spec.recipes and rate * amount > lanes * LANE_ITEMS_PER_S:
            yield (
                f"{rate_text(rate)} of {spec.target_item} take {float(rate * amount):g} {item} "
                f"per second, and sources give it on {lanes} of their lanes, at most "
                f"{float(LANE_ITEMS_PER_S)} on each: lower the rate to "
                f"{lanes * LANE_ITEMS_PER_S / amount} or give it on more lanes"
            )
    least = least_need(spec, room, demand, Fraction(0))
    if least.placements > spec.placement_limit:
        yield (
            f"the placement limit is {spec.placement_limit}; a layout has at least "
            f"{least.placements} placements ({least.machines} machines, inserters, the way to the "
            "sink): raise it, to twice as many or more"
        )
    elif least.cells > len(room.joined):
        yield (
            f"a layout takes at least {least.cells} cells, and {len(room.joined)} are free on a "
            "way to the sink; block fewer cells or enlarge the grid"
        )
    elif not fits(spec, room, least_need(spec, room, demand, rate)):
        highest = highest_rate(spec, room, demand)
        yield (
            f"the rate is {rate_text(rate)}; the machines and inserters that fit on "
            f"{len(room.joined)} free cells and into a placement limit of {spec.placement_limit} "
            f"deliver at most {rate_text(highest)} even if every one works all the time: lower it, "
            "enlarge the grid or raise the limit"
        )


def _standing(spec: TaskSpec, x: int, y: int) -> str:
    """What takes a cell that is not free."""
    for port in spec.ports:
        if (port.x, port.y) == (x, y):
            return f"the {name_of(port)}"
    return f"the blocked cell ({x}, {y})" if (x, y) in spec.blocked else "the border"
