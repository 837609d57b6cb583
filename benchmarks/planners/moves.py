"""Random changes of a layout, as annealing and the genetic search make them. Jax-free.

In: a legal layout. Out: another legal one: what a change puts down takes the place of whatever
stood there, and what the growth rule can no longer reach is dropped.
"""

from collections.abc import Callable
from random import Random

from benchmarks.planners.site import Plan, Site, buildable
from envs.task_spec import BELT, INSERTER, MACHINE, Placement

LONGEST_RUN = 4
"""Most belts that one extension lays."""

Owner = dict[int, Placement]
"""What stands on each taken cell."""

Move = Callable[[Site, Owner, Random], None]


def mutate(site: Site, plan: Plan, rng: Random) -> Plan:
    """The layout after one change, or after several with falling chance."""
    owner = {cell: put for put in plan for cell in site.footprint(put)}
    while True:
        rng.choices(_MOVES, _WEIGHTS)[0](site, owner, rng)
        if rng.random() < 0.6:
            return buildable(site, dict.fromkeys(owner.values()))


def lay(site: Site, owner: Owner, put: Placement) -> bool:
    """Puts a placement down in place of what is there; False where it is not possible."""
    if not site.is_possible(put):
        return False
    footprint = site.footprint(put)
    for cell in footprint:
        if cell in owner:
            lift(site, owner, owner[cell])
    owner.update(dict.fromkeys(footprint, put))
    return True


def lift(site: Site, owner: Owner, put: Placement) -> None:
    """Takes a placement away."""
    for cell in site.footprint(put):
        del owner[cell]


def _standing(owner: Owner, rng: Random) -> Placement | None:
    """A random one of the placements."""
    puts = list(dict.fromkeys(owner.values()))
    return rng.choice(puts) if puts else None


def _frontier(site: Site, owner: Owner, rng: Random) -> int:
    """A random cell beside a port or something placed; it may be taken."""
    cells = [*site.ports, *owner]
    return rng.choice(cells) + rng.choice(site.steps)


def _add(site: Site, owner: Owner, rng: Random) -> None:
    """Something new beside what stands."""
    cell = _frontier(site, owner, rng)
    if site.bare[cell] or cell in owner:
        return
    x, y = site.position(cell)
    lay(site, owner, Placement(rng.choice((BELT, INSERTER)), x, y, rng.randrange(4)))


def _add_machine(site: Site, owner: Owner, rng: Random) -> None:
    """A machine anywhere near what stands, over whatever is in its way."""
    cell = _frontier(site, owner, rng)
    x, y = site.position(cell)
    slot = rng.randrange(len(site.spec.recipes))
    put = Placement(MACHINE, x + rng.randint(-2, 2), y + rng.randint(-2, 2), slot)
    if 0 < put.x < site.spec.width - 1 and 0 < put.y < site.spec.height - 1:
        lay(site, owner, put)


def _add_arm(site: Site, owner: Owner, rng: Random) -> None:
    """An arm at the edge of a machine, into it or out of it, from or to what stands beyond."""
    machines = [put for put in dict.fromkeys(owner.values()) if put.kind == MACHINE]
    if not machines:
        return
    put = rng.choice(machines)
    centre = site.cell(put.x, put.y)
    spots = [
        (centre + away, direction)
        for away, direction in site.beside_machine
        if (beyond := centre + away + site.steps[direction]) in owner or beyond in site.ports
    ]
    if spots:
        cell, direction = rng.choice(spots)
        x, y = site.position(cell)
        lay(site, owner, Placement(INSERTER, x, y, (direction + 2 * rng.randrange(2)) % 4))


def _remove(site: Site, owner: Owner, rng: Random) -> None:
    put = _standing(owner, rng)
    if put is not None:
        lift(site, owner, put)


def _turn(site: Site, owner: Owner, rng: Random) -> None:
    """Another direction, or another recipe of a machine."""
    put = _standing(owner, rng)
    if put is not None:
        lay(site, owner, Placement(put.kind, put.x, put.y, rng.randrange(4)))


def _shift(site: Site, owner: Owner, rng: Random) -> None:
    """One cell aside, over what stands there."""
    put = _standing(owner, rng)
    if put is None:
        return
    x, y = site.position(site.cell(put.x, put.y) + rng.choice(site.steps))
    moved = Placement(put.kind, x, y, put.rotation)
    if site.is_possible(moved):
        lift(site, owner, put)
        lay(site, owner, moved)


def _replace(site: Site, owner: Owner, rng: Random) -> None:
    """A belt becomes an arm or an arm a belt."""
    put = _standing(owner, rng)
    if put is not None and put.kind != MACHINE:
        kind = BELT + INSERTER - put.kind
        turn = rng.choice((put.rotation, rng.randrange(4)))
        lay(site, owner, Placement(kind, put.x, put.y, turn))


def _extend(site: Site, owner: Owner, rng: Random) -> None:
    """Belts on from the end of a belt, a source or an arm, mostly straight on, over free cells."""
    ends = [
        (site.cell(put.x, put.y), put.rotation)
        for put in dict.fromkeys(owner.values())
        if put.kind != MACHINE
    ]
    for port, cell in zip(site.spec.ports, site.ports, strict=True):
        if not port.is_sink:
            ends.append((cell, port.direction))
    cell, direction = rng.choice(ends)
    for _ in range(rng.randint(1, LONGEST_RUN)):
        cell += site.steps[direction]
        if site.bare[cell] or cell in owner:
            return
        direction = (direction + rng.choice((0, 0, 1, 3))) % 4
        x, y = site.position(cell)
        lay(site, owner, Placement(BELT, x, y, direction))


_WEIGHTED: tuple[tuple[Move, float], ...] = (
    (_add, 2.0),
    (_add_machine, 0.5),
    (_add_arm, 2.0),
    (_remove, 2.0),
    (_turn, 1.5),
    (_shift, 1.5),
    (_replace, 0.5),
    (_extend, 2.0),
)
_MOVES = [move for move, _ in _WEIGHTED]
_WEIGHTS = [weight for _, weight in _WEIGHTED]
