"""What `verify` answers about one layout: rates, use, bottleneck, and what stays unknown. Jax-free.

In: a loaded layout. Out: an `Answer`, its JSON form, and what a heat map shows. A figure that an
entity which is not simulated could change is unknown, never a number.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, TypeVar

from envs.catalogue import ITEMS
from envs.labels import rate_text, short_name
from envs.layout import ITEM_FIELDS, Layout
from envs.layout_input import Loaded
from envs.verifier.bottleneck import Bottleneck, find_bottleneck
from envs.verifier.diagnosis import ArmUse, Diagnosis, LaneLoad, MachineUse, diagnose
from envs.verifier.report import Verified, to_json

Tile = tuple[int, int]
Placed = TypeVar("Placed", bound=MachineUse | ArmUse | LaneLoad)

MAX_NOTES = 20
"""Most notes on one layout."""

_FIGURES = {"rate", "items_per_s", "lower", "upper"}
"""Fields of a rate that are None where it is unknown."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What there is to say about a layout."""

    loaded: Loaded
    diagnosis: Diagnosis
    bottleneck: Bottleneck

    @property
    def unknown(self) -> frozenset[Tile]:
        """Tiles of the entities whose work is not known, sinks among them."""
        return self.loaded.unknown

    def known(self, ones: Iterable[Placed]) -> list[Placed]:
        """Those at tiles where the figures are known."""
        return [one for one in ones if (one.x, one.y) not in self.unknown]


def answer(loaded: Loaded, tick_cap: int) -> Answer:
    """Verifies a layout and looks for what limits it."""
    diagnosis = diagnose(loaded.layout, tick_cap)
    bottleneck = find_bottleneck(loaded.layout, diagnosis, tick_cap, loaded.unknown)
    return Answer(loaded, diagnosis, bottleneck)


def rates_in_short(verified: Verified, unknown: frozenset[Tile]) -> str:
    """The rates at the outputs, for a picture."""
    rates = [
        f"{short_name(sink.item)} "
        f"{'unknown' if (sink.x, sink.y) in unknown else rate_text(sink.rate)}"
        for sink in verified.rates
    ]
    return ", ".join(rates) if verified.exact else f"not exact: {', '.join(rates)}"


def outputs_without_items(found: Answer) -> list[Tile]:
    """Outputs of which not even the items are known, in row-major order."""
    imported = found.loaded.imported
    rated = {(rate.x, rate.y) for rate in found.diagnosis.verified.rates}
    silent = imported.unknown_sinks - rated if imported else ()
    return sorted(silent, key=lambda tile: (tile[1], tile[0]))


def notes(layout: Layout) -> list[str]:
    """What looks like a slip: items that no recipe knows, chests and sources that give nothing."""
    found = []
    for entity in layout.entities:
        names = [getattr(entity, field) for field in ITEM_FIELDS.get(entity.kind, ())]
        for name in sorted({name for name in names if name is not None} - set(ITEMS)):
            near = get_close_matches(name, ITEMS, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            found.append(
                f"{entity.kind} at ({entity.x}, {entity.y}): no recipe has an item {name}{hint}"
            )
        if entity.kind in ("source", "chest_src") and not any(names):
            found.append(f"{entity.kind} at ({entity.x}, {entity.y}) gives nothing: it has no item")
    return found[:MAX_NOTES]


def uses(found: Answer) -> tuple[dict[Tile, float], dict[Tile, tuple[float, float]]]:
    """Share of time in use by machine and inserter, and the load of both lanes by belt tile."""
    diagnosis = found.diagnosis
    use = {
        (one.x, one.y): float(one.use)
        for one in found.known((*diagnosis.machines, *diagnosis.inserters))
    }
    loads: dict[Tile, dict[str, float]] = {}
    for lane in found.known(diagnosis.lanes):
        loads.setdefault((lane.x, lane.y), {})[lane.lane] = float(lane.load)
    return use, {tile: (both["left"], both["right"]) for tile, both in loads.items()}


def answer_to_json(found: Answer) -> dict[str, Any]:
    """The JSON form; shares and rates as numbers, exact rates also as fractions.

    With anything unknown the answer is not exact; the rates that are known have equal bounds.
    """
    diagnosis, imported = found.diagnosis, found.loaded.imported
    verified = replace(diagnosis.verified, exact=diagnosis.verified.exact and not found.unknown)
    result: dict[str, Any] = {"name": found.loaded.name, **to_json(verified)}
    for rate in result["rates"]:
        if (rate["x"], rate["y"]) in found.unknown:
            rate |= dict.fromkeys(rate.keys() & _FIGURES) | {"unknown": True}
    result["rates"] += [
        {"x": x, "y": y, "item": None, "rate": None, "items_per_s": None, "unknown": True}
        for x, y in outputs_without_items(found)
    ]
    if found.unknown:
        result |= {"transient_ticks": None, "period_ticks": None}
    result["machines"] = [_machine_json(one) for one in found.known(diagnosis.machines)]
    result["inserters"] = [_arm_json(one) for one in found.known(diagnosis.inserters)]
    result["lanes"] = [
        {
            "x": lane.x,
            "y": lane.y,
            "lane": lane.lane,
            "items_per_s": float(lane.items_per_s),
            "load": float(lane.load),
            "stopped": float(lane.stopped),
        }
        for lane in found.known(diagnosis.lanes)
    ]
    result["notes"] = notes(found.loaded.layout)
    result["bottleneck"] = found.bottleneck.sentence
    result["change"] = _change_json(found.bottleneck)
    if imported is not None:
        result["inferred"] = list(imported.inferred)
        result["ignored"] = list(imported.ignored)
        result["unsupported"] = [
            {"name": one.name, "x": one.x, "y": one.y, "reason": one.reason}
            for one in imported.unsupported
        ]
    return result


def _numbers(shares: Mapping[str, Fraction]) -> dict[str, float]:
    return {name: float(share) for name, share in shares.items()}


def _machine_json(one: MachineUse) -> dict[str, Any]:
    return {
        "x": one.x,
        "y": one.y,
        "type": one.prototype,
        "recipe": one.recipe,
        "use": float(one.use),
        "crafts_per_s": float(one.crafts_per_s),
        "waits": _numbers(one.waits),
        "missing": _numbers(one.missing),
    }


def _arm_json(one: ArmUse) -> dict[str, Any]:
    return {
        "x": one.x,
        "y": one.y,
        "type": one.prototype,
        "use": float(one.use),
        "items_per_s": float(one.items_per_s),
        "waits": _numbers(one.waits),
        "unwanted": one.unwanted,
    }


def _change_json(bottleneck: Bottleneck) -> dict[str, Any] | None:
    if bottleneck.change is None:
        return None
    return {
        "x": bottleneck.change_x,
        "y": bottleneck.change_y,
        "what": bottleneck.change,
        "item": bottleneck.item,
        "rate": str(bottleneck.rate),
        "lifted_rate": str(bottleneck.lifted_rate),
    }
