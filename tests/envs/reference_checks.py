"""What a reference must be, in plain Python by the wording of the rules and of its family.

Each check returns a list of problems, empty where there is none. Jax-free, and independent of how
the generator builds and orders references.
"""

from collections.abc import Sequence

from envs.catalogue import RECIPES
from envs.families import FAMILIES, MAX_SOURCES, Family, Link
from envs.item_flow import item_flow
from envs.layout import DIRECTION_VECTORS
from envs.solved import Solved
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, TaskSpec, layout_of

Cell = tuple[int, int]


def arm_ends(arm: Placement) -> tuple[Cell, Cell]:
    """(pickup cell, drop cell) of an inserter."""
    dx, dy = DIRECTION_VECTORS[arm.rotation]
    return (arm.x - dx, arm.y - dy), (arm.x + dx, arm.y + dy)


def illegal_placements(spec: TaskSpec, placements: Sequence[Placement]) -> list[str]:
    """What breaks the rules of building when the placements are made in this order."""
    placed = {(port.x, port.y) for port in spec.ports}
    blocked = set(spec.blocked)
    problems = []

    def is_inside(cell: Cell) -> bool:
        return 0 <= cell[0] < spec.width and 0 <= cell[1] < spec.height

    for put in placements:
        cells = put.cells()
        if not all(map(is_inside, cells)):
            problems.append(f"{put} leaves the grid")
        if set(cells) & (placed | blocked):
            problems.append(f"{put} overlaps")
        around = {(x + dx, y + dy) for x, y in cells for dx, dy in DIRECTION_VECTORS}
        if not around & placed:
            problems.append(f"{put} touches nothing")
        if put.kind == INSERTER and not all(map(is_inside, arm_ends(put))):
            problems.append(f"{put} reaches outside")
        if put.kind == MACHINE and put.rotation >= len(spec.recipes):
            problems.append(f"{put} has no recipe")
        placed.update(cells)
    return problems


def unfed_placements(spec: TaskSpec, placements: Sequence[Placement]) -> list[str]:
    """Placements made before anything that hands items to them, and outputs before inputs."""
    entities = layout_of(spec, placements).entities
    flow = item_flow(entities)
    first = len(spec.ports)
    problems = []
    for number, put in enumerate(placements, start=first):
        if not any(giver < number for giver in flow.before[number]):
            problems.append(f"{put} comes before what feeds it")
        if put.kind != MACHINE:
            continue
        inputs, outputs = flow.before[number], flow.after[number]
        if outputs and inputs and max(inputs) > min(outputs):
            problems.append(f"{put} is emptied before all of its inputs stand")
    return problems


def wrong_structure(solved: Solved) -> list[str]:
    """How ports, machines and links differ from what the task's family says."""
    spec, placements = solved.spec, solved.placements
    family = FAMILIES[spec.family]
    slots = [put.rotation for put in placements if put.kind == MACHINE]
    per_stage = tuple(slots.count(stage) for stage in range(len(family.recipes)))
    problems = [*_wrong_ports(spec, family), *_wrong_links(spec, placements, family)]
    if per_stage not in family.machines:
        problems.append(f"{per_stage} machines per stage, not one of {family.machines}")
    if (spec.recipes, spec.target_item) != (family.recipes, family.product):
        problems.append(f"makes {spec.target_item} by {spec.recipes}")
    if not len(placements) <= spec.placement_limit <= family.placement_limit:
        problems.append(f"{len(placements)} placements, limit {spec.placement_limit}")
    return problems


def _wrong_ports(spec: TaskSpec, family: Family) -> list[str]:
    sources = [port for port in spec.ports if not port.is_sink]
    cells = [(port.x, port.y) for port in spec.ports]
    supplied = {item for port in sources for item in (port.left, port.right)} - {None}
    made = set(family.recipes)
    wanted = {item for name in made for item, _ in RECIPES[name].ingredients}
    on_border = [x in (0, spec.width - 1) or y in (0, spec.height - 1) for x, y in cells]
    problems = []
    if not 1 <= len(sources) <= MAX_SOURCES or len(spec.ports) != len(sources) + 1:
        problems.append(f"{len(sources)} sources of {len(spec.ports)} ports")
    if supplied != wanted - made:
        problems.append(f"ports supply {supplied}, not {wanted - made}")
    if any(on_border) if family.inner_ports else not all(on_border):
        problems.append(f"ports at {cells}")
    if len({*cells, *spec.blocked}) < len(cells) + len(spec.blocked):
        problems.append("a port or blocked cell twice")
    if list(spec.blocked) != sorted(spec.blocked):
        problems.append("blocked cells out of order")
    return problems


def _wrong_links(spec: TaskSpec, placements: Sequence[Placement], family: Family) -> list[str]:
    """Arms that hand on what the family hands on otherwise, or what the taker does not use."""
    ends: dict[Cell, str] = {(port.x, port.y): "belt" for port in spec.ports}
    for put in placements:
        if put.kind != INSERTER:
            name = "belt" if put.kind == BELT else spec.recipes[put.rotation]
            ends.update(dict.fromkeys(put.cells(), name))
    problems = []
    handed_on = set()
    for arm in placements:
        if arm.kind != INSERTER:
            continue
        giver, taker = (ends.get(cell) for cell in arm_ends(arm))
        is_direct = giver in family.recipes and taker in family.recipes
        if giver is None or taker is None or giver == taker:
            problems.append(f"{arm} joins {giver} to {taker}")
        elif is_direct and giver not in dict(RECIPES[taker].ingredients):
            problems.append(f"{arm} hands {giver} to {taker}, which does not use it")
        elif giver in family.recipes[:-1]:
            handed_on.add(giver)
            if is_direct != (family.link is Link.DIRECT):
                problems.append(f"{arm} hands {giver} to {taker} in a family of {family.link}")
    if handed_on != set(family.recipes[:-1]):
        problems.append(f"only {handed_on} are handed on")
    return problems


def without_machine(placements: Sequence[Placement], machine: Placement) -> list[Placement]:
    """The placements without one machine and the arms that work on it."""
    body = set(machine.cells())
    return [
        put
        for put in placements
        if put != machine and not (put.kind == INSERTER and body & {*arm_ends(put)})
    ]
