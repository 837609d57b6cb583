"""Tables of a design's page: use of everything, ports, materials. Jax-free.

In: what the verifier says of a layout. Out: HTML tables. Rows say which tiles they are about, so
that the page can point at them in the plan.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

from envs.blueprint.power import Power
from envs.catalogue import MACHINES
from envs.labels import rate_text
from envs.layout import DIRECTION_NAMES, Layout
from envs.task_spec import Port, TaskSpec
from envs.verifier.bottleneck import percent
from envs.verifier.diagnosis import ArmUse, Diagnosis, MachineUse
from factorio_rl.html_page import table

_SIDES = dict(zip(DIRECTION_NAMES, ("north", "east", "south", "west"), strict=True))


def machine_table(machines: Sequence[MachineUse]) -> str:
    """Every machine with its use and what it waits for."""
    rows = [
        (
            f"{one.prototype} at ({one.x}, {one.y})",
            one.recipe or "-",
            percent(one.use),
            f"{float(one.crafts_per_s):.4g}",
            waits_text(one.waits),
        )
        for one in machines
    ]
    places = [_place(one.x, one.y, MACHINES[one.prototype].size) for one in machines]
    columns = ("machine", "recipe", "use", "crafts/s", "waits for")
    return table(columns, rows, words=(0, 1, 4), attributes=places)


def inserter_table(inserters: Sequence[ArmUse]) -> str:
    """Every inserter with its use and what it waits for."""
    rows = [
        (
            f"{one.prototype} at ({one.x}, {one.y})",
            percent(one.use),
            f"{float(one.items_per_s):.4g}",
            waits_text(one.waits) + _unwanted(one),
        )
        for one in inserters
    ]
    places = [_place(one.x, one.y, 1) for one in inserters]
    columns = ("inserter", "use", "items/s", "waits for")
    return table(columns, rows, words=(0, 3), attributes=places)


def _unwanted(arm: ArmUse) -> str:
    if not arm.unwanted:
        return ""
    verb = "has enough of" if arm.items_per_s else "does not want"
    return f" (its target {verb} the {arm.unwanted})"


def waits_text(waits: Mapping[str, Fraction]) -> str:
    """Reasons with their shares of time, the longest first; a dash for none."""
    ordered = sorted(waits.items(), key=lambda wait: -wait[1])
    parts = [f"{reason} {percent(share)}" for reason, share in ordered if share > 0]
    return ", ".join(parts) or "-"


def port_table(spec: TaskSpec, diagnosis: Diagnosis) -> str:
    """Ports with the items on their lanes and how much goes over each."""
    flows = {(lane.x, lane.y, lane.lane): lane.items_per_s for lane in diagnosis.lanes}
    rows, places = [], []
    for port in sorted(spec.ports, key=lambda one: (one.is_sink, one.y, one.x)):
        rows += _port_rows(port, spec, flows, diagnosis)
        places += [_place(port.x, port.y, 1)] * (len(rows) - len(places))
    return table(("port", "lane", "item", "items/s"), rows, words=(0, 1, 2), attributes=places)


def _port_rows(
    port: Port,
    spec: TaskSpec,
    flows: Mapping[tuple[int, int, str], Fraction],
    diagnosis: Diagnosis,
) -> list[tuple[str, str, str, str]]:
    side = _SIDES[DIRECTION_NAMES[port.direction]]
    if port.is_sink:
        name = f"output at ({port.x}, {port.y}), flows {side}"
        rates = [one for one in diagnosis.verified.rates if (one.x, one.y) == (port.x, port.y)]
        return [(name, "both", one.item, _rate(one.rate, one.lower == one.upper)) for one in rates]
    name = f"input at ({port.x}, {port.y}), flows {side}"
    lanes = (("left", port.left), ("right", port.right))
    return [
        (name, lane, item, _rate(flows.get((port.x, port.y, lane), Fraction(0)), True))
        for lane, item in lanes
        if item is not None
    ]


def _rate(rate: Fraction, is_exact: bool) -> str:
    text = rate_text(rate).replace(" items/s", "")
    return text if is_exact else f"about {text}"


def material_table(layout: Layout, power: Power) -> str:
    """How many of each entity the blueprint needs, ports and poles included."""
    counts = Counter(one.prototype for one in layout.entities)
    counts += Counter(pole.kind.prototype for pole in power.poles)
    rows = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return table(("entity", "number"), rows)


def _place(x: int, y: int, size: int) -> dict[str, object]:
    return {"x": x, "y": y, "size": size}
