"""Why an output gets no more than it does, as far as the figures of a layout show it. Jax-free.

In: a layout and what its parts do. Out: a phrase. It follows the item from the output upstream to
the first thing that is busy all the time, blocked or missing.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache

from envs.item_flow import Tile, arm_ends, item_flow, machine_numbers, reached
from envs.layout import BELT_KINDS, MACHINE_KINDS, Entity, Layout
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
    if output.rate == 0 and trail.makes(output.item, place):
        return f"the {output.item} that is made does not get there"
    return trail.item(output.item, place)


def _taking_part(arms: Sequence[ArmUse]) -> list[ArmUse]:
    """Those inserters that have a pickup and a drop (R6)."""
    return [arm for arm in arms if TAKES_NO_PART not in arm.waits]


def _inert(arm: ArmUse) -> str:
    return f"the {arm.prototype} at ({arm.x}, {arm.y}) {TAKES_NO_PART}"


class _Trail:
    """Looks upstream for the reason why an item is scarce at a place."""

    def __init__(self, layout: Layout, diagnosis: Diagnosis) -> None:
        self._entities = layout.entities
        self._flow = item_flow(layout.entities)
        self._machines = set(machine_numbers(layout.entities))
        self._supply = cache(self._find_supply)
        self._makers: dict[str, list[MachineUse]] = {}
        for machine in diagnosis.machines:
            if machine.recipe is not None:
                self._makers.setdefault(machine.recipe, []).append(machine)
        self._arms = diagnosis.inserters
        self._lanes: dict[tuple[int, int], list[LaneLoad]] = {}
        for lane in diagnosis.lanes:
            self._lanes.setdefault((lane.x, lane.y), []).append(lane)
        self._givers = [one for one in layout.entities if one.kind in ("source", "chest_src")]

    def arms_at(self, place: Tile, side: int) -> list[ArmUse]:
        """Inserters that pick from (-1) or drop into (1) the entity that stands at a tile."""
        ends = ((arm, self._end(arm, side)) for arm in self._arms)
        return [arm for arm, end in ends if end is not None and (end.x, end.y) == place]

    def makes(self, item: str, place: Tile) -> bool:
        """Whether any machine goes on making an item for a place."""
        return any(machine.crafts_per_s > 0 for machine in self._makers_for(item, place))

    def item(self, item: str, place: Tile) -> str:
        """Why no more of an item gets to the entity that stands at a place."""
        makers = self._makers_for(item, place)
        if not makers:
            return self._raw(item, place)
        if all(machine.use >= BUSY for machine in makers):
            return f"every machine that makes {item} is busy all the time"
        machine = max(makers, key=lambda one: (1 - one.use, -one.y, -one.x))
        lacking = max(machine.missing, key=lambda name: machine.missing[name], default=None)
        name = f"the {item} machine at ({machine.x}, {machine.y})"
        if machine.reason.startswith("no ") and lacking is not None:
            return self._lacking(name, machine, lacking)
        takers = _taking_part(self.arms_at((machine.x, machine.y), -1))
        if all(arm.use >= BUSY for arm in takers):
            return f"the inserters that empty {name} are busy all the time"
        arm = min(takers, key=lambda one: one.use)
        return f"{name} waits ({machine.reason}): {self._arm(arm)}"

    def _makers_for(self, item: str, place: Tile) -> list[MachineUse]:
        """Machines that make an item and whose products can get to a place."""
        supply = self._supply(place)
        return [one for one in self._makers.get(item, ()) if (one.x, one.y) in supply]

    def _raw(self, item: str, place: Tile) -> str:
        """Why no more of an item comes that no machine makes for a place."""
        makers = self._makers.get(item, [])
        givers = [one for one in self._givers if item in (one.left, one.right, one.item)]
        origins = {(one.x, one.y) for one in (*makers, *givers)}
        if not origins:
            return f"no machine makes {item} and no input brings it"
        supply = self._supply(place)
        if not origins & supply:
            return self._cut_off(item, place, makers, givers)
        way = supply & self._tiles_of(origins & supply, self._flow.after)
        for lane in (lane for tile in self._lanes if tile in way for lane in self._lanes[tile]):
            if lane.load == 1:
                where = f"the {lane.lane} lane of the belt at ({lane.x}, {lane.y})"
                return f"{where} passes all that a lane can"
        return f"no more {item} gets through from the inputs"

    def _cut_off(
        self, item: str, place: Tile, makers: list[MachineUse], givers: list[Entity]
    ) -> str:
        """What is missing where nothing that has an item can hand it on to a place."""
        for machine in makers:
            takers = self.arms_at((machine.x, machine.y), -1)
            if not _taking_part(takers):
                inert = f": {_inert(takers[0])}" if takers else ""
                name = f"the {item} machine at ({machine.x}, {machine.y})"
                return f"no inserter takes {item} out of {name}{inert}"
        y, x = min((one.y, one.x) for one in (*makers, *givers))
        origin = self._entities[self._flow.at[x, y]]
        starts = [self._end(arm, 1) for arm in self.arms_at((x, y), -1)]
        if origin.kind == "source":
            starts = [self._entities[one] for one in self._flow.after[self._flow.at[x, y]]]
        ends = filter(None, map(self._belt_end, starts))
        where = next((f", for its belt ends at ({one.x}, {one.y})" for one in ends), "")
        return f"nothing leads {item} from ({x}, {y}) to ({place[0]}, {place[1]}){where}"

    def _lacking(self, name: str, machine: MachineUse, lacking: str) -> str:
        place = machine.x, machine.y
        bringers = self.arms_at(place, 1)
        if not _taking_part(bringers):
            inert = f": {_inert(bringers[0])}" if bringers else ""
            return f"no inserter brings {lacking} to {name}{inert}"
        for arm in bringers:
            bringer = f"{arm.prototype} at ({arm.x}, {arm.y})"
            if self._is_stuck(arm):
                return (
                    f"{name} waits for {lacking}: the belt before the {bringer} is stuck on "
                    f"{arm.unwanted}, which it does not want"
                )
            if arm.use >= BUSY and self._may_bring(arm, lacking):
                return f"{name} waits for {lacking}: its {bringer} is busy all the time"
        return f"{name} waits for {lacking}: {self.item(lacking, place)}"

    def _arm(self, arm: ArmUse) -> str:
        """What an inserter that empties a machine waits for, and where its belt ends in vain."""
        waits = f"the {arm.prototype} at ({arm.x}, {arm.y}) waits ({arm.reason})"
        end = self._belt_end(self._end(arm, 1))
        return waits if end is None else f"{waits}, for its belt ends at ({end.x}, {end.y})"

    def _belt_end(self, belt: Entity | None) -> Entity | None:
        """The last tile of the belt that goes on from one, None if it leads to a sink or round."""
        passed: dict[Entity, None] = {}
        while belt is not None and belt.kind == "belt" and belt not in passed:
            passed[belt] = None
            ahead = self._flow.after[self._flow.at[belt.x, belt.y]]
            onto = [self._entities[one] for one in ahead if self._entities[one].kind in BELT_KINDS]
            belt = onto[0] if onto else None
        return next(reversed(passed)) if passed and belt is None else None

    def _find_supply(self, place: Tile) -> frozenset[Tile]:
        """Tiles of what can hand items on to a place with no machine between."""
        return self._tiles_of({place}, self._flow.before)

    def _tiles_of(self, places: Iterable[Tile], edges: Sequence[Sequence[int]]) -> frozenset[Tile]:
        """Tiles of entities and of all that edges lead to from them, up to the next machine."""
        found = reached(edges, {self._flow.at[place] for place in places}, self._machines)
        return frozenset((self._entities[one].x, self._entities[one].y) for one in found)

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
        inserter = self._entities[self._flow.at[arm.x, arm.y]]
        number = self._flow.at.get(arm_ends(inserter)[0 if side < 0 else 1])
        return None if number is None else self._entities[number]
