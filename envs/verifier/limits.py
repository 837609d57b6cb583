"""Why an output gets no more than it does, as far as the figures of a layout show it. Jax-free.

In: a layout and what its parts do. Out: a phrase. It follows the item from the output upstream to
the first thing that is busy all the time, blocked or missing.
"""

from collections.abc import Sequence
from fractions import Fraction

from envs.layout import DIRECTION_VECTORS, MACHINE_KINDS, Entity, Layout
from envs.verifier.diagnosis import TAKES_NO_PART, ArmUse, Diagnosis, LaneLoad, MachineUse
from envs.verifier.report import SinkRate

BUSY = Fraction(97, 100)
"""Share of time from which on something counts as busy all the time."""


def explain(layout: Layout, diagnosis: Diagnosis, output: SinkRate) -> str:
    """What stands in the way of more at an output."""
    place = output.x, output.y
    others = [
        rate.item
        for rate in diagnosis.verified.rates
        if (rate.x, rate.y) == place and rate.item != output.item and rate.rate > 0
    ]
    if output.rate == 0 and others:
        return f"what arrives there is {' and '.join(others)}"
    lanes = [lane for lane in diagnosis.lanes if (lane.x, lane.y) == place]
    if lanes and all(lane.load == 1 for lane in lanes):
        return "both lanes of the belt pass all that a belt can"
    trail = _Trail(layout, diagnosis)
    fillers = trail.arms_at(place, 1)
    if fillers and not lanes and not _taking_part(fillers):
        return _inert(fillers[0])
    if fillers and all(arm.use >= BUSY for arm in fillers):
        return "the inserters that fill it are busy all the time"
    if output.rate == 0 and trail.makes(output.item):
        return f"the {output.item} that is made does not get there"
    return trail.item(output.item)


def _taking_part(arms: Sequence[ArmUse]) -> list[ArmUse]:
    """Those inserters that have a pickup and a drop (R6)."""
    return [arm for arm in arms if TAKES_NO_PART not in arm.waits]


def _inert(arm: ArmUse) -> str:
    return f"the {arm.prototype} at ({arm.x}, {arm.y}) {TAKES_NO_PART}"


class _Trail:
    """Looks upstream for the reason why an item is scarce."""

    def __init__(self, layout: Layout, diagnosis: Diagnosis) -> None:
        self._owner = {tile: entity for entity in layout.entities for tile in entity.tiles()}
        self._makers: dict[str, list[MachineUse]] = {}
        for machine in diagnosis.machines:
            if machine.recipe is not None:
                self._makers.setdefault(machine.recipe, []).append(machine)
        self._arms = diagnosis.inserters
        self._lanes: dict[tuple[int, int], list[LaneLoad]] = {}
        for lane in diagnosis.lanes:
            self._lanes.setdefault((lane.x, lane.y), []).append(lane)
        self._given = {
            item
            for entity in layout.entities
            if entity.kind in ("source", "chest_src")
            for item in (entity.left, entity.right, entity.item)
        }

    def arms_at(self, place: tuple[int, int], side: int) -> list[ArmUse]:
        """Inserters that pick from (-1) or drop into (1) the entity that stands at a tile."""
        ends = ((arm, self._end(arm, side)) for arm in self._arms)
        return [arm for arm, end in ends if end is not None and (end.x, end.y) == place]

    def makes(self, item: str) -> bool:
        """Whether any machine goes on making an item."""
        return any(machine.crafts_per_s > 0 for machine in self._makers.get(item, ()))

    def item(self, item: str) -> str:
        """Why there is no more of an item."""
        makers = self._makers.get(item, [])
        if not makers:
            return self._raw(item)
        if all(machine.use >= BUSY for machine in makers):
            return f"every machine that makes {item} is busy all the time"
        machine = max(makers, key=lambda one: (1 - one.use, -one.y, -one.x))
        lacking = max(machine.missing, key=lambda name: machine.missing[name], default=None)
        place = f"the {item} machine at ({machine.x}, {machine.y})"
        if machine.reason.startswith("no ") and lacking is not None:
            return self._lacking(place, machine, lacking)
        takers = self.arms_at((machine.x, machine.y), -1)
        if not takers:
            return f"no inserter takes {item} out of {place}"
        if not _taking_part(takers):
            return f"no inserter takes {item} out of {place}: {_inert(takers[0])}"
        if all(arm.use >= BUSY for arm in takers):
            return f"the inserters that empty {place} are busy all the time"
        arm = min(takers, key=lambda one: one.use)
        return f"{place} waits ({machine.reason}): {self._arm(arm)}"

    def _raw(self, item: str) -> str:
        if item in self._given:
            return f"no more {item} gets through from the inputs"
        return f"no machine makes {item} and no input brings it"

    def _lacking(self, place: str, machine: MachineUse, lacking: str) -> str:
        bringers = self.arms_at((machine.x, machine.y), 1)
        if not bringers:
            return f"no inserter brings {lacking} to {place}"
        if not _taking_part(bringers):
            return f"no inserter brings {lacking} to {place}: {_inert(bringers[0])}"
        for arm in bringers:
            name = f"{arm.prototype} at ({arm.x}, {arm.y})"
            if self._is_stuck(arm):
                return (
                    f"{place} waits for {lacking}: the belt before the {name} is stuck on "
                    f"{arm.unwanted}, which it does not want"
                )
            if arm.use >= BUSY and self._may_bring(arm, lacking):
                return f"{place} waits for {lacking}: its {name} is busy all the time"
        return f"{place} waits for {lacking}: {self.item(lacking)}"

    def _arm(self, arm: ArmUse) -> str:
        return f"the {arm.prototype} at ({arm.x}, {arm.y}) waits ({arm.reason or 'busy'})"

    def _is_stuck(self, arm: ArmUse) -> bool:
        """Whether the belt before an inserter stands still on what its target does not want."""
        belt = self._end(arm, -1)
        if belt is None or arm.unwanted is None:
            return False
        takers = self.arms_at((belt.x, belt.y), -1)
        lanes = self._lanes.get((belt.x, belt.y), [])
        return all(taker.items_per_s == 0 for taker in takers) and any(
            lane.stopped == 1 and lane.items_per_s == 0 for lane in lanes
        )

    def _may_bring(self, arm: ArmUse, item: str) -> bool:
        """Whether an inserter takes from a belt, or from something that gives this item."""
        giver = self._end(arm, -1)
        if giver is None:
            return False
        if giver.kind in MACHINE_KINDS:
            return giver.recipe == item
        return giver.kind != "chest_src" or giver.item == item

    def _end(self, arm: ArmUse, side: int) -> Entity | None:
        """What stands at an inserter's pickup (-1) or drop (1) tile."""
        inserter = self._owner[arm.x, arm.y]
        assert inserter.direction is not None
        dx, dy = DIRECTION_VECTORS[inserter.direction]
        reach = side * inserter.reach
        return self._owner.get((arm.x + reach * dx, arm.y + reach * dy))
