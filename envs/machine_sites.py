"""Where the machines of a draft stand and from which cells their arms work, at random.

In: a draft and a grid. Out: machine cells, and for each group of arms its slots. Machines that
hand on directly stand one cell apart, with room for the arms between them. Jax-free.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from envs.arm_counts import ArmGroup
from envs.random_draw import below, chosen, shuffled
from envs.routing import Raster
from envs.task_draw import Draft

TOGETHER_CHANCE = 0.6
"""Share of groups whose arms stand on one side of the machine where there is room."""

SLOT_NOISE_CELLS = 2
"""Random cells added to a slot's distance from its goal before the nearest slots are taken."""

SITE_DRAWS = 12
"""Random places tried for a machine before the attempt is given up."""

APART_CELLS = 4
"""Distance of the centres of two machines with an arm between them."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A cell beside a machine for an arm.

    Attributes:
        cell: of the arm.
        side: direction that points away from the machine.
        outer: the cell on the arm's far side.
    """

    cell: int
    side: int
    outer: int


@dataclass(frozen=True)
class Sites:
    """Machines and arms of a draft.

    Attributes:
        centres: of each machine.
        slots: of each group of arms.
        owner: network of each cell that an arm picks from or drops on, ports included.
    """

    centres: tuple[int, ...]
    slots: tuple[tuple[Slot, ...], ...]
    owner: dict[int, int]


def draw_sites(
    rng: np.random.Generator, raster: Raster, draft: Draft, solid: bytearray, ports: list[int]
) -> Sites | None:
    """Random sites, or None where this attempt found no room.

    `solid` is 1 on ports and blocked cells; the machines and arms are added to it.
    """
    centres = _draw_centres(rng, raster, draft, solid)
    if centres is None:
        return None
    owner = _ports_and_fronts(raster, draft, ports)
    slots: dict[int, tuple[Slot, ...]] = {}
    # Direct arms first: they have the fewest cells to choose from.
    numbers = range(len(draft.groups))
    for number in sorted(numbers, key=lambda i: draft.groups[i].network is not None):
        group = draft.groups[number]
        options = _open_slots(raster, group, centres, solid, owner)
        found = _draw_group(rng, raster, draft, group, options, centres, ports)
        if found is None:
            return None
        slots[number] = found
        for slot in found:
            solid[slot.cell] = 1
            if group.network is not None:
                owner[slot.outer] = group.network
    return Sites(tuple(centres), tuple(slots[i] for i in range(len(slots))), owner)


def body(raster: Raster, centre: int) -> list[int]:
    """The nine cells of a machine, row-major."""
    right, down = raster.steps[1], raster.steps[2]
    return [centre + dy * down + dx * right for dy in (-1, 0, 1) for dx in (-1, 0, 1)]


def _draw_centres(
    rng: np.random.Generator, raster: Raster, draft: Draft, solid: bytearray
) -> list[int] | None:
    """Places of all machines, each beside one that it is joined to directly if there is one."""
    links = [
        (group.giver, group.taker, group.count)
        for group in draft.groups
        if group.giver is not None and group.taker is not None
    ]
    centres: dict[int, int] = {}
    for machine in _link_order(rng, len(draft.machines), links):
        beside = [
            (centres[other], count)
            for giver, taker, count in links
            for other in (giver, taker)
            if machine in (giver, taker) and other in centres
        ]
        found = _draw_centre(rng, raster, solid, beside)
        if found is None:
            return None
        centres[machine] = found
        for cell in body(raster, found):
            solid[cell] = 1
    return [centres[machine] for machine in range(len(draft.machines))]


def _link_order(
    rng: np.random.Generator, count: int, links: Sequence[tuple[int, int, int]]
) -> list[int]:
    """Machines so that each follows one that it is linked to, as far as there are links."""
    waiting = shuffled(rng, range(count))
    order: list[int] = []
    while waiting:
        linked = [
            machine
            for machine in waiting
            if any(machine in (a, b) and {a, b} & {*order} for a, b, _ in links)
        ]
        order.append((linked or waiting)[0])
        waiting.remove(order[-1])
    return order


def _draw_centre(
    rng: np.random.Generator, raster: Raster, solid: bytearray, beside: list[tuple[int, int]]
) -> int | None:
    """A free place, one cell apart from all of `beside` (centre, arms between)."""
    for _ in range(SITE_DRAWS):
        if beside:
            centre, arms = beside[0]
            side = below(rng, 4)
            shift = below(rng, 7 - 2 * arms) - (3 - arms)
            along = raster.steps[(side + 1) % 4]
            place = centre + APART_CELLS * raster.steps[side] + shift * along
            if not raster.holds(place):
                continue
        else:
            x, y = 1 + below(rng, raster.width - 2), 1 + below(rng, raster.height - 2)
            place = raster.index(x, y)
        fits = all(_are_joined(raster, place, other, arms) for other, arms in beside)
        if fits and not any(solid[cell] for cell in body(raster, place)):
            return place
    return None


def _are_joined(raster: Raster, place: int, other: int, arms: int) -> bool:
    """Whether so many arms fit between two machines."""
    (x, y), (other_x, other_y) = raster.position(place), raster.position(other)
    near, far = sorted((abs(x - other_x), abs(y - other_y)))
    return far == APART_CELLS and near <= 3 - arms


def _ports_and_fronts(raster: Raster, draft: Draft, ports: list[int]) -> dict[int, int]:
    """Network of each port's cell and of the cell that a source flows into."""
    owner = {cell: network for network, cell in enumerate(ports[:-1])}
    for network, (cell, port) in enumerate(zip(ports[:-1], draft.ports[:-1], strict=True)):
        owner[cell + raster.steps[port.direction]] = network
    owner[ports[-1]] = draft.num_networks - 1
    return owner


def _open_slots(
    raster: Raster,
    group: ArmGroup,
    centres: list[int],
    solid: bytearray,
    owner: dict[int, int],
) -> list[Slot]:
    """Slots that a group may use: between its two machines, or with a cell for its network."""
    machine = group.taker if group.giver is None else group.giver
    assert machine is not None
    slots = _slots(raster, centres[machine])
    if group.network is None:
        assert group.taker is not None
        far = set(body(raster, centres[group.taker]))
        return [slot for slot in slots if not solid[slot.cell] and slot.outer in far]
    return [
        slot
        for slot in slots
        if not solid[slot.cell]
        and slot.cell not in owner
        and owner.get(slot.outer, group.network) == group.network
        and (not solid[slot.outer] or slot.outer in owner)
    ]


def _slots(raster: Raster, centre: int) -> list[Slot]:
    """The twelve cells around a machine."""
    found = []
    for side, step in enumerate(raster.steps):
        across = raster.steps[(side + 1) % 4]
        for cell in (centre + 2 * step + shift * across for shift in (-1, 0, 1)):
            if raster.holds(cell) and raster.holds(cell + step):
                found.append(Slot(cell, side, cell + step))
    return found


def _draw_group(
    rng: np.random.Generator,
    raster: Raster,
    draft: Draft,
    group: ArmGroup,
    options: list[Slot],
    centres: list[int],
    ports: list[int],
) -> tuple[Slot, ...] | None:
    """As many slots as a group needs, the nearest to where its items come from or go."""
    if len(options) < group.count:
        return None
    if group.network is None:
        return tuple(shuffled(rng, options)[: group.count])
    goal = _goal(rng, draft, group, centres, ports)
    costs = {
        slot: raster.distance(slot.outer, goal) + SLOT_NOISE_CELLS * rng.random()
        for slot in options
    }
    options = sorted(options, key=costs.__getitem__)
    if rng.random() < TOGETHER_CHANCE:
        first = options[0].side
        options.sort(key=lambda slot: slot.side != first)
    return tuple(options[: group.count])


def _goal(
    rng: np.random.Generator,
    draft: Draft,
    group: ArmGroup,
    centres: list[int],
    ports: list[int],
) -> int:
    """The port of a group's network, or a machine at the other end of it."""
    if group.network == draft.num_networks - 1:
        return ports[-1]
    if group.network is not None and group.network < len(ports) - 1:
        return ports[group.network]
    others = [
        other.giver if other.giver is not None else other.taker
        for other in draft.groups
        if other.network == group.network and (other.giver is None) != (group.giver is None)
    ]
    return centres[chosen(rng, [other for other in others if other is not None])]
